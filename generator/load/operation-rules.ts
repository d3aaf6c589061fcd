import type { Level, Method } from '../../runtime/contract/index.js';
import type { FhirOperationParameter, OperationDefinition } from './fhir-json.js';

/**
 * Levels of an operation, widest first.
 *
 * FHIR has no level for an operation on one version (`[base]/T/id/_history/v/$x`). The extension
 * `operation-version-level` says so. A parameter whose `scope` names `instance` exists
 * on versions too.
 */
export function operationLevels(operation: OperationDefinition): readonly Level[] {
  const version = extensions(operation, 'operation-version-level').some((each) => each.valueBoolean === true);
  const held: Record<Level, boolean> = {
    system: operation.system,
    type: operation.type,
    instance: operation.instance,
    version,
  };
  return (['system', 'type', 'instance', 'version'] as const).filter((level) => held[level]);
}

/**
 * Methods that an operation may be called with.
 *
 * POST always. GET too when the operation does not affect state and every parameter that it requires is primitive, so
 * that it can be written into a query (https://hl7.org/fhir/R5/operationdefinition-definitions.html#OperationDefinition.affectsState).
 * An optional complex parameter does not exclude GET; the server rejects a GET request that has one. The extension
 * `operation-method` replaces the rule by a list for operations that differ.
 */
export function operationMethods(operation: OperationDefinition): readonly Method[] {
  const listed = extensions(operation, 'operation-method').flatMap(({ valueCode }) => valueCode ?? []);
  if (listed.length > 0) return listed as Method[];
  // The specification states no default for affectsState. Assume the safe one.
  const safe = operation.affectsState === false;
  const required = (operation.parameter ?? []).filter(({ use, min }) => use === 'in' && min > 0);
  return safe && required.every(isPrimitive) ? ['GET', 'POST'] : ['POST'];
}

/** Whether a type is primitive: only the names of primitive types begin with a small letter. */
function isPrimitive({ type }: FhirOperationParameter): boolean {
  return type !== undefined && /^[a-z]/.test(type);
}

/** Extensions that only the generator reads: no server shows them, so their names need no base. */
function extensions(operation: OperationDefinition, name: 'operation-method' | 'operation-version-level') {
  return (operation.extension ?? []).filter(({ url }) => url === name);
}
