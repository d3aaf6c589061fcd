import { FhirError } from '../../fhir/errors.js';
import type { EntryHandling, Services } from '../../core/services.js';

/** The services needed to execute Bundles. */
export type BundleServices = Services & { readonly entries: EntryHandling };

/** Checks that the server can execute entries. @throws FhirError `not-wired` */
export function withEntries(services: Services): BundleServices {
  const { entries } = services;
  if (entries === undefined) throw new FhirError('not-wired', 'Bundles are not executed here');
  return { ...services, entries };
}
