import {
  unversioned,
  type DefinedElement,
  type StructureDefinition,
} from '../../validate/profiles/definition/structure-definition.js';
import { shippedId, shippedJson } from '../shipped/shipped-pack.js';

const TYPE = 'StructureDefinition';

/** What snapshots are not made of. */
const UNUSED = ['text', 'extension', 'mapping'];

/** A StructureDefinition of the FHIR package with its snapshot, without narrative and mappings. */
export function shippedStructure(canonical: string): StructureDefinition | undefined {
  const id = shippedId(TYPE, unversioned(canonical));
  const json = id === undefined ? undefined : shippedJson(TYPE, id);
  if (json === undefined) return undefined;
  const definition = JSON.parse(json) as Record<string, unknown> & StructureDefinition;
  for (const name of UNUSED) delete definition[name];
  if (definition.snapshot === undefined) return definition;
  const { differential: _differential, ...rest } = definition;
  return { ...rest, snapshot: { element: definition.snapshot.element.map(withoutMapping) } };
}

function withoutMapping({ mapping: _mapping, ...element }: DefinedElement): DefinedElement {
  return element;
}
