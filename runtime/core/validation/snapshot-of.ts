import {
  ofRightForm,
  ProfileFault,
  type DefinedElement,
  type StructureDefinition,
} from '../../validate/profiles/definition/structure-definition.js';
import { makeSnapshot } from '../../validate/snapshot/make-snapshot.js';
import { shippedStructure } from './shipped-structures.js';

/** Definitions besides the shipped ones that one snapshot may need. */
const MOST_DEFINITIONS = 50;

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
  const fetched = new Map<string, StructureDefinition | undefined>();
  const find = (canonical: string): StructureDefinition | undefined => {
    // A stored definition may have anything there.
    if (typeof canonical !== 'string') throw new ProfileFault(`${definition.url} names another definition by no URL`);
    if (fetched.has(canonical)) return fetched.get(canonical);
    const shipped = shippedStructure(canonical);
    if (shipped === undefined) throw new MissingDefinition(canonical);
    return shipped;
  };
  for (;;) {
    try {
      return ofRightForm(definition, () => makeSnapshot(definition, find));
    } catch (error) {
      if (!(error instanceof MissingDefinition)) throw error;
      if (fetched.size >= MOST_DEFINITIONS) {
        throw new ProfileFault(`${definition.url} needs more than ${MOST_DEFINITIONS} other definitions`);
      }
      fetched.set(error.canonical, await fetch(error.canonical));
    }
  }
}
