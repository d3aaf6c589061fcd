import { FhirError } from '../../../fhir/errors.js';
import type { Call } from '../../../core/call.js';
import type { Services } from '../../../core/services.js';
import { criteriaOfReference } from '../links/conditional-reference.js';
import { callOf } from '../entry-call.js';
import { entryPath } from '../entry-error.js';
import { Phase, type Entry } from '../entry.js';
import { linkPlans } from '../links/link-plan.js';
import { findLinks, type Link, type LinkFinder } from '../links/links.js';
import { locateLink } from '../links/locate.js';
import { findPatchLinks } from '../links/patch-links.js';
import type { Placeholders } from '../links/placeholders.js';
import { takeVersionRequest } from '../links/version-request.js';
import { writeWellFormed } from '../links/well-formed.js';
import { quote } from '../../../fhir/quote.js';

/** An entry that writes, before any lookup. Its faults are reported together with those found later. */
export interface Draft {
  readonly entry: Entry;
  readonly call: Call | FhirError;
  readonly links: readonly Link[] | FhirError;
}

/** Reads the call of an entry and its links to other entries. */
export async function readDraft(
  entry: Entry,
  bundle: Call,
  placeholders: Placeholders,
  services: Services,
): Promise<Draft> {
  const call = await faultOr(() => callOf(entry, bundle));
  if (call instanceof FhirError) return { entry, call, links: [] };
  return { entry, call, links: await faultOr(() => linksOf(entry, call, placeholders, services)) };
}

async function faultOr<T>(work: () => T | Promise<T>): Promise<T | FhirError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FhirError && error.status < 500) return error;
    throw error;
  }
}

async function linksOf(
  entry: Entry,
  { patch, type }: Call,
  placeholders: Placeholders,
  { tables, own }: Services,
): Promise<readonly Link[]> {
  const { resource } = entry;
  if (resource === undefined || entry.phase === Phase.Delete) return [];
  const place = (holder: object, key: string | number): string =>
    `${entryPath(entry.index)}.resource${locateLink(resource, holder, key)}`;
  const finder: LinkFinder = {
    takeVersionRequest,
    plans: linkPlans(tables),
    find: (text) => placeholders.find(text, entry),
    criteriaOf: (text, holder, key) => criteriaOfReference(text, own, tables.resourceTypes, () => place(holder, key)),
    onUnknown: (text, holder, key) => {
      throw unknownPlaceholder(text, place(holder, key));
    },
    findStored(text) {
      const stored = placeholders.findStored(text, entry);
      if (stored === undefined || !tables.resourceTypes.includes(stored.type)) return undefined;
      // As a conditional reference: it is looked up within what the client may search.
      const { type, id, entry: writer } = stored;
      return writer === undefined ? { criteria: `${type}?_id=${id}` } : { entry: writer, rest: '' };
    },
  };
  if (patch !== undefined) return findPatchLinks(patch, type ?? '', finder);
  const links = findLinks(resource, finder);
  writeWellFormed(links);
  return links;
}

function unknownPlaceholder(text: string, expression: string): FhirError {
  const shown = quote(text);
  return new FhirError('bundle-placeholder', `No entry that writes has the fullUrl ${shown}`, { expression });
}
