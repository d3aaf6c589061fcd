import type { CodeTable } from '../../runtime/contract/index.js';
import type { ExpansionEntry, ValueSet } from '../load/fhir-json.js';
import type { Structure } from './model.js';
import { byCodePoint } from './names.js';

/** Marks an expansion that holds an excerpt, or nothing: the whole is too large, or no list at all. */
const TOO_COSTLY = 'http://hl7.org/fhir/StructureDefinition/valueset-toocostly';

/**
 * Code tables for the value sets that a required binding names, as far as an expansion tells: those without one (or
 * with one that calls itself an excerpt, or that the errata leave out) have no table, and are checked by syntax only.
 *
 * @param expansion the expanded value set of a canonical
 */
export function buildCodes(
  structures: readonly Structure[],
  expansion: (url: string) => ValueSet | undefined,
): CodeTable[] {
  const urls = structures
    .flatMap((structure) => structure.elements)
    .filter((element) => element.binding?.strength === 'required')
    .map((element) => element.binding?.valueSet ?? '');
  return [...new Set(urls)].sort(byCodePoint).flatMap((url) => {
    const { expansion: found } = expansion(url) ?? {};
    const excerpt = found?.extension?.some(
      (extension) => extension.url === TOO_COSTLY && extension.valueBoolean === true,
    );
    const codes = codesOf(excerpt === true ? [] : (found?.contains ?? []));
    return codes.size === 0
      ? []
      : [{ url, codes: Object.fromEntries([...codes].sort(([a], [b]) => byCodePoint(a, b))) }];
  });
}

/** Codes by system, in order of the expansion. Abstract ones only group others: nobody may use them. */
function codesOf(entries: readonly ExpansionEntry[], found = new Map<string, string[]>()): Map<string, string[]> {
  for (const entry of entries) {
    if (entry.abstract !== true && entry.system !== undefined && entry.code !== undefined) {
      found.set(entry.system, [...(found.get(entry.system) ?? []), entry.code]);
    }
    codesOf(entry.contains ?? [], found);
  }
  return found;
}
