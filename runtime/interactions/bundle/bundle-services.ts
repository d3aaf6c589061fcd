import { FhirError } from '../../fhir/errors.js';
import type { EntryHandling, Services } from '../../core/services.js';

/** What Bundles are executed with. */
export type BundleServices = Services & { readonly entries: EntryHandling };

/** @throws FhirError where a server has no way to execute entries */
export function withEntries(services: Services): BundleServices {
  const { entries } = services;
  if (entries === undefined) throw new FhirError('not-wired', 'Bundles are not executed here');
  return { ...services, entries };
}
