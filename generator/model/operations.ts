import type { OperationParameterRow } from '../../runtime/contract/index.js';
import type { FhirOperationParameter, OperationDefinition } from '../load/fhir-json.js';
import { operationLevels, operationMethods } from '../load/operation-rules.js';
import type { OperationModel } from './model.js';
import { byCodePoint, tail, unversioned } from './names.js';

/**
 * The operations, those of the package and our own, in order of ids. https://hl7.org/fhir/R5/operationdefinition.html
 *
 * @param concrete the concrete types of a type name: itself, or for an abstract one those that specialise or implement it
 */
export function buildOperations(
  published: readonly OperationDefinition[],
  own: readonly OperationDefinition[],
  concrete: (type: string) => readonly string[],
): OperationModel[] {
  return [
    ...published.map((definition) => buildOperation(definition, false, concrete)),
    ...own.map((definition) => buildOperation(definition, true, concrete)),
  ].sort((a, b) => byCodePoint(a.id, b.id));
}

function buildOperation(
  definition: OperationDefinition,
  own: boolean,
  concrete: (type: string) => readonly string[],
): OperationModel {
  const parameters = (definition.parameter ?? []).map((parameter) => buildParameter(parameter));
  const everywhere = definition.resource === undefined || definition.resource.includes('Resource');
  const types = [...new Set((definition.resource ?? []).flatMap(concrete))].sort(byCodePoint);
  return {
    id: definition.id ?? '',
    name: definition.code,
    url: definition.url,
    title: definition.title ?? definition.name ?? definition.code,
    levels: operationLevels(definition),
    methods: operationMethods(definition),
    ...(everywhere ? {} : { types }),
    affectsState: definition.affectsState ?? false,
    parameters,
    description: definition.description ?? '',
    own,
  };
}

function buildParameter(parameter: FhirOperationParameter): OperationParameterRow {
  const { binding } = parameter;
  return {
    name: parameter.name,
    use: parameter.use,
    ...(parameter.scope === undefined ? {} : { scope: parameter.scope }),
    min: parameter.min,
    max: parameter.max === '*' ? '*' : Number(parameter.max),
    ...(parameter.type === undefined ? {} : { type: parameter.type }),
    ...(parameter.allowedType === undefined ? {} : { allowedTypes: parameter.allowedType }),
    ...(parameter.searchType === undefined ? {} : { searchType: parameter.searchType }),
    ...(parameter.targetProfile === undefined ? {} : { targets: parameter.targetProfile.map(tail) }),
    ...(binding === undefined
      ? {}
      : { binding: { strength: binding.strength, valueSet: unversioned(binding.valueSet) } }),
    ...(parameter.documentation === undefined ? {} : { documentation: parameter.documentation }),
    ...(parameter.part === undefined ? {} : { parts: parameter.part.map((part) => buildParameter(part)) }),
  };
}
