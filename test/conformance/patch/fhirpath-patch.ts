import type { JsonObject, JsonValue, Resource } from '../../../runtime/fhir/resource.js';
import type { Step } from './fhirpath-patch-cases.js';

/** A Parameters resource of operations. */
export function patchOf(...steps: readonly Step[]): Resource {
  if (steps.length === 0) return { resourceType: 'Parameters' };
  return { resourceType: 'Parameters', parameter: steps.map(operationOf) };
}

function operationOf(step: Step): JsonValue {
  return { name: 'operation', part: Object.entries(step).map(([name, value]) => ({ name, ...valueOf(name, value) })) };
}

function valueOf(name: string, value: Step[string]): JsonObject {
  if (typeof value === 'object') return value as JsonObject;
  if (typeof value === 'number') return { valueInteger: value };
  return name === 'type' ? { valueCode: value } : { valueString: value };
}
