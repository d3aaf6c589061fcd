import { treeOf, type ElementNode } from '../profiles/definition/element-tree.js';
import {
  ProfileFault,
  type DefinedElement,
  type StructureDefinition,
} from '../profiles/definition/structure-definition.js';
import { changeTree } from './change-tree.js';
import { copyTree, elementsOf } from './snapshot-tree.js';

/** Finds a definition with its snapshot. @throws MissingDefinition where it has to be fetched first */
export type FindDefinition = (canonical: string) => StructureDefinition | undefined;

/** How many definitions may be made of each other. */
const MOST_BASES = 20;

/** Elements that a differential may change: a large profile changes some hundreds. */
const MOST_CHANGES = 1000;

/** Elements that a snapshot may take over from other definitions: those of a large profile are some thousands. */
const MOST_ELEMENTS = 100_000;

/**
 * Makes the snapshot of a definition: what it derives from, changed as its differential says. A logical model, or another type, has its
 * own elements after those of its base. https://hl7.org/fhir/R5/profiling.html#snapshot
 *
 * @throws ProfileFault where something that it derives from or constrains does not exist, or where it breaks a rule of profiles
 */
export function makeSnapshot(definition: StructureDefinition, find: FindDefinition): readonly DefinedElement[] {
  const trees = new Map<string, ElementNode | undefined>();
  /** Canonicals of the definitions whose snapshots are being made, each for the one before it. */
  const open: string[] = [];
  let left = MOST_ELEMENTS;

  function tree(canonical: string): ElementNode | undefined {
    if (trees.has(canonical)) return trees.get(canonical);
    const found = find(canonical);
    const made = found === undefined ? undefined : treeOf(elementsFrom(found, make));
    trees.set(canonical, made);
    return made;
  }

  function copy(node: ElementNode): ElementNode {
    left -= sizeOf(node);
    if (left < 0) {
      throw new ProfileFault(
        `${definition.url} needs more than ${MOST_ELEMENTS.toLocaleString('en')} elements of other definitions`,
      );
    }
    return copyTree(node);
  }

  function make(from: StructureDefinition): readonly DefinedElement[] {
    const { url, baseDefinition, differential, derivation } = from;
    if (open.includes(url)) throw new ProfileFault(`${url} is made of itself: ${[...open, url].join(', then ')}`);
    if (open.length > MOST_BASES) {
      throw new ProfileFault(`${definition.url} is made of more than ${MOST_BASES} definitions in a row`);
    }
    if (baseDefinition === undefined) throw new ProfileFault(`${url} names no baseDefinition`);
    open.push(url);
    const base = tree(baseDefinition);
    if (base === undefined) throw new ProfileFault(`${url} derives from ${baseDefinition}, which is not known here`);
    const changes = differential?.element ?? [];
    if (changes.length > MOST_CHANGES) {
      throw new ProfileFault(`the differential of ${url} has ${changes.length} elements, and may have ${MOST_CHANGES}`);
    }
    const changed = changes.length === 0 ? undefined : treeOf(changes);
    const isType = derivation === 'specialization';
    if (changed !== undefined && changed.name !== base.name && !isType) {
      throw new ProfileFault(`the differential of ${url} begins with ${changed.name}; its base is of ${base.name}`);
    }
    const root = { ...copy(base), ...(isType && { name: changed?.name ?? tailOf(from.type) }) };
    if (changed !== undefined) changeTree(root, changed, { url, root, find, tree, copy, isType, unknown: new Set() });
    open.pop();
    return elementsOf(root);
  }

  return make(definition);
}

/** The elements of a definition, as other definitions take them over: a reference to an element of it gets its canonical. */
function elementsFrom(
  definition: StructureDefinition,
  make: (definition: StructureDefinition) => readonly DefinedElement[],
): readonly DefinedElement[] {
  const elements = definition.snapshot?.element ?? make(definition);
  if (definition.derivation === 'constraint') return elements;
  return elements.map((element) =>
    element.contentReference?.startsWith('#') === true
      ? { ...element, contentReference: definition.url + element.contentReference }
      : element,
  );
}

function tailOf(type: string): string {
  return type.slice(type.lastIndexOf('/') + 1);
}

function sizeOf({ children, slices }: ElementNode): number {
  return [...children, ...slices].reduce((sum, node) => sum + sizeOf(node), 1);
}
