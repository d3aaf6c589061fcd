import { FhirError } from '../../fhir/errors.js';
import { entryPath } from './entry-error.js';

/** Tracks which entry writes to which resource. */
export interface Identities {
  /**
   * Registers that an entry writes to a resource.
   *
   * @param name `Type/id`
   * @throws FhirError `bundle-identity` naming both entries if another one writes to it too
   */
  claim(name: string, index: number): void;
}

/** Detects entries that write to the same resource. https://hl7.org/fhir/R5/http.html#trules */
export function openIdentities(): Identities {
  const owners = new Map<string, number>();
  return {
    claim(name, index) {
      const owner = owners.get(name);
      if (owner !== undefined && owner !== index) throw clash(name, Math.min(owner, index), Math.max(owner, index));
      owners.set(name, index);
    },
  };
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
