import type { OperationDefinition } from './fhir-json.js';
import { operationLevels } from './operation-rules.js';

/** A custom operation and its file; without a value if the file is invalid. */
export interface OperationFile {
  readonly file: string;
  readonly value: OperationDefinition | undefined;
}

/**
 * Checks the custom operations for faults that a schema cannot detect: a duplicate id or canonical, two operations for one
 * call, a duplicate parameter at one level.
 *
 * @returns faults, each with its file, beginning with a JSON pointer
 */
export function operationFaults(
  operations: readonly OperationFile[],
): readonly { readonly file: string; readonly fault: string }[] {
  const faults: { file: string; fault: string }[] = [];
  const taken = new Map<string, string>();
  for (const { file, value } of operations) {
    if (value === undefined) continue;
    const claim = (pointer: string, key: string): void => {
      const other = taken.get(key);
      if (other === undefined) taken.set(key, file);
      else faults.push({ file, fault: `${pointer}: ${key} is defined a second time; the first is in ${other}` });
    };
    const expected = `OperationDefinition/${value.id ?? ''}`;
    if (value.url !== expected) faults.push({ file, fault: `/url: is "${value.url}"; expected "${expected}"` });
    claim('/id', `id ${value.id ?? ''}`);
    for (const level of operationLevels(value)) {
      const types = level === 'system' ? [''] : (value.resource ?? []);
      for (const type of types) claim('/code', `${type} $${value.code} on level ${level}`.trim());
    }
    const parameters = new Set<string>();
    (value.parameter ?? []).forEach(({ name, use, scope = ['system', 'type', 'instance'] }, index) => {
      for (const level of scope) {
        const key = `${use} ${name} on level ${level}`;
        if (parameters.has(key)) faults.push({ file, fault: `/parameter/${index}/name: ${key} is a duplicate` });
        parameters.add(key);
      }
    });
  }
  return faults;
}
