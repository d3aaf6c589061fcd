import type { ProfileElementRow, ProfileRow } from '../../runtime/contract/index.js';
import { createFhirTypes, type FhirTypes } from '../../runtime/validate/profiles/fhir-types.js';
import { profileRow } from '../../runtime/validate/profiles/definition/profile-row.js';
import {
  ProfileFault,
  type StructureDefinition as Definition,
} from '../../runtime/validate/profiles/definition/structure-definition.js';
import { makeSnapshot } from '../../runtime/validate/snapshot/make-snapshot.js';
import type { StructureDefinition } from '../load/fhir-json.js';
import type { Model } from './model.js';
import { byCodePoint, unversioned } from './names.js';

/**
 * Rows of the profiles that the server claims to support, as far as the package has them, and of those that they name for their values.
 *
 * @param tellFault takes a profile that cannot be read; absent: that is thrown
 */
export function buildProfiles(
  definitions: readonly StructureDefinition[],
  claimed: readonly string[],
  model: Pick<Model, 'structures' | 'primitives' | 'invariants'>,
  tellFault?: (fault: string) => void,
): ProfileRow[] {
  const byUrl = new Map(definitions.map((definition) => [definition.url, definition as unknown as Definition]));
  const types = typesOf(model);
  const rows = new Map<string, ProfileRow>();
  const take = (url: string): void => {
    const definition = byUrl.get(url);
    if (definition?.derivation !== 'constraint' || rows.has(url)) return;
    try {
      const row = profileRow(withSnapshot(definition, byUrl), types);
      rows.set(url, row);
      profilesIn(row.root).forEach(take);
    } catch (error) {
      if (tellFault === undefined || !(error instanceof ProfileFault)) throw error;
      tellFault(`StructureDefinition ${url}: ${error.message}`);
    }
  };
  // Another package, such as that of an older release, may lack some.
  claimed.forEach(take);
  return [...rows.values()].sort((a, b) => byCodePoint(a.url, b.url));
}

/** Two of the package have none. */
function withSnapshot(definition: Definition, byUrl: ReadonlyMap<string, Definition>): Definition {
  if (definition.snapshot !== undefined) return definition;
  const element = makeSnapshot(definition, (url) => byUrl.get(unversioned(url)));
  return { ...definition, snapshot: { element } };
}

function typesOf({
  structures,
  primitives,
  invariants,
}: Pick<Model, 'structures' | 'primitives' | 'invariants'>): FhirTypes {
  const types = structures.map((structure) => ({
    ...structure,
    elements: structure.elements.slice(structure.inherited),
  }));
  return createFhirTypes({ types, primitives, invariants });
}

function profilesIn({ types = [], children = [], slices = [] }: ProfileElementRow): string[] {
  return [
    ...types
      .flatMap((type) => [...(type.profiles ?? []), ...(type.targets ?? [])])
      .map((url) => url.split('#')[0] ?? url),
    ...[...children, ...slices].flatMap(profilesIn),
  ];
}
