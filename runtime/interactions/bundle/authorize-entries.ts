import { uniteNeeded, type NeededScopes } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { FhirError } from '../../fhir/errors.js';
import { missingScopes } from '../../search-execution/authorize/authorize.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { typeOfCriteria } from './links/conditional-reference.js';
import { inEntry, throwFaults } from './entry-error.js';
import type { Entry } from './entry.js';
import type { Link } from './links/links.js';

/** The links in the content of an entry. */
interface Referring {
  readonly entry: Entry;
  readonly links: readonly Link[] | FhirError;
}

/**
 * Checks the scopes of all entries of a transaction before anything is looked up or written. If one entry is not allowed,
 * the whole transaction fails.
 *
 * @throws FhirError `scope-missing` with an issue for each rejected entry, and the scopes that they need in the header
 */
export function judgeEntries(
  entries: readonly Entry[],
  referring: readonly Referring[],
  { principal: { access } }: Call,
  services: Services,
): void {
  if (access === OPEN_ACCESS) return;
  const references = new Map(referring.map(({ entry, links }) => [entry, searchedBy(links)]));
  const refused: { readonly index: number; readonly needed: NeededScopes }[] = [];
  for (const entry of entries) {
    const { route, conditions, index } = entry;
    const asked = { ...route, conditions, references: references.get(entry) ?? [] };
    const needed = missingScopes(asked, access, services);
    if (needed !== undefined) refused.push({ index, needed });
  }
  if (refused.length === 0) return;
  const all = scopeMissing(uniteNeeded(refused.map(({ needed }) => needed)), access);
  throwFaults(
    new Map(
      refused.map(({ index, needed }) => {
        const { code, message } = scopeMissing(needed, access);
        return [
          index,
          inEntry(
            index,
            new FhirError(code, message, { headers: all.headers, missingScopes: all.missingScopes ?? '' }),
          ),
        ];
      }),
    ),
  );
}

/** The types that the conditional references of an entry search. */
function searchedBy(links: Referring['links']): readonly string[] {
  if (links instanceof FhirError) return [];
  return [...new Set(links.flatMap(({ to }) => ('criteria' in to ? [typeOfCriteria(to.criteria)] : [])))];
}
