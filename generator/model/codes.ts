import type { CodeTable } from '../../runtime/contract/index.js';
import type { ExpansionEntry, ValueSet } from '../load/fhir-json.js';
import type { Structure } from './model.js';
import { byCodePoint } from './names.js';

/** Marks an incomplete or empty expansion: the value set is too large, or cannot be enumerated. */
const TOO_COSTLY = 'http://hl7.org/fhir/StructureDefinition/valueset-toocostly';

/**
 * Code tables for the value sets of required bindings that have a complete expansion. Value sets without one, or omitted by
 * the errata, get no table: their codes are checked by syntax only.
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

/** Codes by system, in order of the expansion, without abstract codes: those only group others and must not be used. */
function codesOf(entries: readonly ExpansionEntry[], found = new Map<string, string[]>()): Map<string, string[]> {
  for (const entry of entries) {
    if (entry.abstract !== true && entry.system !== undefined && entry.code !== undefined) {
      found.set(entry.system, [...(found.get(entry.system) ?? []), entry.code]);
    }
    codesOf(entry.contains ?? [], found);
  }
  return found;
}
