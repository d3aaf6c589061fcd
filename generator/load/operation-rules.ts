import type { Level, Method } from '../../runtime/contract/index.js';
import type { FhirOperationParameter, OperationDefinition } from './fhir-json.js';

/**
 * Levels of an operation, widest first.
 *
 * FHIR has no word for an operation on one version (`[base]/T/id/_history/v/$x`): our extension
 * `{canonical}/StructureDefinition/operation-version-level` says it. A parameter whose `scope` names `instance` exists
 * on versions too.
 *
 * @param canonical base of our own canonicals: `settings.canonical`
 */
export function operationLevels(operation: OperationDefinition, canonical: string): readonly Level[] {
  const version = extensions(operation, canonical, 'operation-version-level').some(
    (each) => each.valueBoolean === true,
  );
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
 * A complex parameter that is optional does not forbid GET; a GET that carries one is refused when it comes. Our
 * extension `{canonical}/StructureDefinition/operation-method` replaces the rule by a list where an operation differs.
 */
export function operationMethods(operation: OperationDefinition, canonical: string): readonly Method[] {
  const listed = extensions(operation, canonical, 'operation-method').flatMap(({ valueCode }) => valueCode ?? []);
  if (listed.length > 0) return listed as Method[];
  // The specification's default for an absent affectsState is not stated: take the careful one.
  const safe = operation.affectsState === false;
  const required = (operation.parameter ?? []).filter(({ use, min }) => use === 'in' && min > 0);
  return safe && required.every(isPrimitive) ? ['GET', 'POST'] : ['POST'];
}

/** FHIR writes the names of primitive types, and of these alone, with a small initial. */
function isPrimitive({ type }: FhirOperationParameter): boolean {
  return type !== undefined && /^[a-z]/.test(type);
}

function extensions(operation: OperationDefinition, canonical: string, name: string) {
  const url = `${canonical}/StructureDefinition/${name}`;
  return (operation.extension ?? []).filter((extension) => extension.url === url);
}
