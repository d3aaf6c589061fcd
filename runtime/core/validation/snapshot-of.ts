import {
  ofRightForm,
  ProfileFault,
  type DefinedElement,
  type StructureDefinition,
} from '../../validate/profiles/definition/structure-definition.js';
import { makeSnapshot } from '../../validate/snapshot/make-snapshot.js';
import { shippedStructure } from './shipped-structures.js';

/** Definitions besides the shipped ones that one snapshot may need: a large profile names some dozens of extensions. */
const MOST_DEFINITIONS = 500;

class MissingDefinition extends Error {
  constructor(readonly canonical: string) {
    super(canonical);
  }
}

/**
 * The elements of a definition's snapshot, made of shipped definitions and others.
 *
 * @param fetch finds those that are not shipped
 * @throws ProfileFault where one is missing, or cannot be used
 */
export async function snapshotOf(
  definition: StructureDefinition,
  fetch: (canonical: string) => Promise<StructureDefinition | undefined>,
): Promise<readonly DefinedElement[]> {
  const known = new Map<string, StructureDefinition | undefined>();
  let fetched = 0;

  function find(canonical: string): StructureDefinition | undefined {
    // A stored definition may have anything there.
    if (typeof canonical !== 'string') throw new ProfileFault(`${definition.url} names another definition by no URL`);
    if (known.has(canonical)) return known.get(canonical);
    const shipped = shippedStructure(canonical);
    if (shipped === undefined) throw new MissingDefinition(canonical);
    known.set(canonical, shipped);
    return shipped;
  }

  async function take(canonical: string): Promise<StructureDefinition | undefined> {
    if (++fetched > MOST_DEFINITIONS) {
      throw new ProfileFault(`${definition.url} needs more than ${MOST_DEFINITIONS} other definitions`);
    }
    const found = await fetch(canonical);
    known.set(canonical, found);
    return found;
  }

  /** Takes what a definition names, all together: each that is missing later begins the snapshot anew. */
  async function takeNamed(by: StructureDefinition): Promise<void> {
    for (const canonical of profilesOf(by)) {
      if (!known.has(canonical) && shippedStructure(canonical) === undefined) await take(canonical);
    }
  }

  await takeNamed(definition);
  for (;;) {
    try {
      return ofRightForm(definition, () => makeSnapshot(definition, find));
    } catch (error) {
      if (!(error instanceof MissingDefinition)) throw error;
      const found = await take(error.canonical);
      if (found !== undefined && found.snapshot === undefined) await takeNamed(found);
    }
  }
}

/** The profiles that a differential names for values. */
function profilesOf(definition: StructureDefinition): ReadonlySet<string> {
  const profiles = ofRightForm(definition, () =>
    (definition.differential?.element ?? []).flatMap(({ type = [] }) => type.flatMap(({ profile = [] }) => profile)),
  );
  return new Set(profiles.filter((each) => typeof each === 'string'));
}
