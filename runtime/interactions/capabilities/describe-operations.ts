import type { OperationRow } from '../../contract/index.js';
import type { JsonObject } from '../../fhir/resource.js';

/**
 * Returns the part of the CapabilityStatement that names operations.
 * https://hl7.org/fhir/R5/capabilitystatement-definitions.html#CapabilityStatement.rest.resource.operation
 */
export function describeOperations(rows: readonly OperationRow[], base: string): JsonObject {
  if (rows.length === 0) return {};
  const canonical = (url: string): string => (url.includes(':') ? url : `${base}/${url}`);
  return { operation: rows.map(({ name, url }) => ({ name, definition: canonical(url) })) };
}

/** Whether an operation is called on a type, its resources or their versions. */
export function isOfType({ levels, types }: OperationRow, type: string): boolean {
  return levels.some((level) => level !== 'system') && (types === undefined || types.includes(type));
}
