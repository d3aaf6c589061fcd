import type { OperationParameterRow } from '../contract/index.js';
import type { Call, Reply } from '../core/call.js';
import type { Services } from '../core/services.js';
import { shippedStructure } from '../core/validation/shipped-structures.js';
import { snapshotOf } from '../core/validation/snapshot-of.js';
import { FhirError } from '../fhir/errors.js';
import type { JsonValue, Resource } from '../fhir/resource.js';
import { ProfileFault, type StructureDefinition } from '../validate/profiles/definition/structure-definition.js';
import { readArguments, rowOf, valueOf } from './common/arguments.js';
import { findCanonical } from './find-canonical.js';
import { readNamed } from './common/read-argument.js';

const TYPE = 'StructureDefinition';

/**
 * `StructureDefinition/$snapshot`: a definition with the snapshot made from its differential. What it derives from is looked for
 * among the stored definitions that the client may read, then among those of FHIR. Nothing is stored.
 * https://hl7.org/fhir/R5/structuredefinition-operation-snapshot.html
 *
 * @throws FhirError `parameter-invalid` unless exactly one of `definition` and `url` is given, `not-found`, `snapshot-impossible`
 */
export async function snapshot(call: Call, services: Services): Promise<Reply> {
  const definition = await definitionOf(call, services);
  const element = await elementsOf(definition as unknown as StructureDefinition, call, services);
  return { status: 200, resource: { ...definition, snapshot: { element: element as unknown as JsonValue } } };
}

async function definitionOf(call: Call, services: Services): Promise<Resource> {
  const { id } = call;
  // Of an instance parameters are ignored, and those that only a type takes are no mistake.
  const found = readArguments(call, services, id === undefined ? [] : everywhere(rowOf(call, services).parameters));
  if (id !== undefined) return (await readNamed({ type: TYPE, id }, call, services)).resource;
  const [definition, url] = [valueOf(found, 'definition'), valueOf(found, 'url')];
  if ((definition === undefined) === (url === undefined)) {
    throw new FhirError('parameter-invalid', 'Give either "definition" or "url"');
  }
  if (definition !== undefined) return definition as Resource;
  const shipped = shippedStructure(String(url));
  return shipped === undefined ? findCanonical(TYPE, String(url), call, services) : (shipped as unknown as Resource);
}

/** Parameters without the levels that their definition gives them for. */
function everywhere(parameters: readonly OperationParameterRow[]): readonly OperationParameterRow[] {
  return parameters.map(({ scope: _scope, ...row }) => row);
}

async function elementsOf(definition: StructureDefinition, call: Call, services: Services): Promise<readonly object[]> {
  // A definition of a type derives by other rules than a profile: its own snapshot is all there is.
  const own = definition.snapshot?.element;
  if (definition.derivation !== 'constraint' && Array.isArray(own)) return own;
  try {
    return await snapshotOf(definition, (canonical) => fetch(canonical, call, services));
  } catch (error) {
    if (!(error instanceof ProfileFault)) throw error;
    throw new FhirError('snapshot-impossible', error.message, { expression: TYPE });
  }
}

async function fetch(canonical: string, call: Call, services: Services): Promise<StructureDefinition | undefined> {
  try {
    return (await findCanonical(TYPE, canonical, call, services)) as unknown as StructureDefinition;
  } catch (error) {
    if (error instanceof FhirError && error.code === 'not-found') return undefined;
    throw error;
  }
}
