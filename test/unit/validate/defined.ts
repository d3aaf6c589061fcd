import type { ProfileRow } from '../../../runtime/contract/index.js';
import { unversioned } from '../../../runtime/validate/profiles/definition/structure-definition.js';
import type {
  DefinedElement,
  StructureDefinition,
} from '../../../runtime/validate/profiles/definition/structure-definition.js';
import { profileRow } from '../../../runtime/validate/profiles/definition/profile-row.js';
import { makeSnapshot, type FindDefinition } from '../../../runtime/validate/snapshot/make-snapshot.js';
import { types } from './made.js';
import { packageDefinition } from './package-definitions.js';

export const CORE = 'http://hl7.org/fhir/StructureDefinition/';

/** An element of a differential; of the path only what follows the type: `name.given`. */
export type Said = Partial<DefinedElement> & { readonly path: string };

/** A profile with this differential, as a client sends it. */
export function profile(
  id: string,
  type: string,
  said: readonly Said[],
  more: Partial<StructureDefinition> = {},
): StructureDefinition {
  const element = said.map((each) => ({ ...each, path: each.path === '' ? type : `${type}.${each.path}` }));
  return {
    resourceType: 'StructureDefinition',
    url: `http://x.org/${id}`,
    ...{ type, derivation: 'constraint', baseDefinition: CORE + type },
    differential: { element },
    ...more,
  };
}

/** The definition of an extension; by default it may be there once. */
export function extension(id: string, said: readonly Said[], max = '1'): StructureDefinition {
  return profile(id, 'Extension', [{ path: '', max }, ...said, { path: 'url', fixedUri: `http://x.org/${id}` }]);
}

/** Finds these definitions, and those of the package. */
export function among(definitions: readonly StructureDefinition[]): FindDefinition {
  return (canonical) => definitions.find(({ url }) => url === unversioned(canonical)) ?? packageDefinition(canonical);
}

/** The snapshot of the first definition, by ids. */
export function snapshot(...definitions: StructureDefinition[]): ReadonlyMap<string, DefinedElement> {
  return new Map(makeSnapshot(definitions[0]!, among(definitions)).map((each) => [each.id ?? '', each]));
}

/** The rows of definitions, as the server makes them. */
export function rows(...definitions: StructureDefinition[]): ProfileRow[] {
  return definitions.map((each) =>
    profileRow({ ...each, snapshot: { element: makeSnapshot(each, among(definitions)) } }, types),
  );
}

/** A slice of extensions. */
export function slice(name: string, ...urls: string[]): Said {
  return { path: 'extension', sliceName: name, type: [{ code: 'Extension', profile: urls }] };
}
