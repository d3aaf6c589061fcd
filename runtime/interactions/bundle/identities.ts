import { FhirError } from '../../fhir/errors.js';
import { entryPath } from './entry-error.js';

/**
 * Makes sure that no two entries write to one resource. https://hl7.org/fhir/R5/http.html#trules
 *
 * @param targets `Type/id` of each resource that an entry writes to, with the place of the entry
 * @throws FhirError `bundle-identity` naming both entries
 */
export function checkIdentities(targets: Iterable<readonly [name: string, index: number]>): void {
  const owners = new Map<string, number>();
  for (const [name, index] of targets) {
    const owner = owners.get(name);
    if (owner !== undefined && owner !== index) throw clash(name, Math.min(owner, index), Math.max(owner, index));
    owners.set(name, index);
  }
}

function clash(name: string, one: number, other: number): FhirError {
  const text = `entry[${one}] and entry[${other}] both write to ${name}; a transaction may do so once`;
  const at = (index: number) => ({
    code: 'bundle-identity' as const,
    text,
    expression: entryPath(index),
  });
  return FhirError.of([at(one), at(other)]);
}
