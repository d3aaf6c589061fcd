import { treeOf, type ElementNode } from '../profiles/definition/element-tree.js';
import {
  CORE,
  ProfileFault,
  type DefinedElement,
  type StructureDefinition,
} from '../profiles/definition/structure-definition.js';
import { mergeElement } from './merge-element.js';
import { copyTree, elementsOf } from './snapshot-tree.js';

/** Finds a definition with its snapshot. @throws MissingDefinition where it has to be fetched first */
export type FindDefinition = (canonical: string) => StructureDefinition | undefined;

/** How many definitions may be derived from each other. */
const MOST_BASES = 20;

/**
 * Makes the snapshot of a definition: what it derives from, changed as its differential says. https://hl7.org/fhir/R5/profiling.html#snapshot
 *
 * @throws ProfileFault where something that it derives from or constrains does not exist
 */
export function makeSnapshot(
  definition: StructureDefinition,
  find: FindDefinition,
  depth = 0,
): readonly DefinedElement[] {
  const { url, baseDefinition, differential } = definition;
  const changes = differential?.element ?? [];
  if (depth > MOST_BASES)
    throw new ProfileFault(`${url} derives from more than ${MOST_BASES} definitions, or from itself`);
  if (baseDefinition === undefined) throw new ProfileFault(`${url} names no baseDefinition`);
  const base = find(baseDefinition);
  if (base === undefined) throw new ProfileFault(`${url} derives from ${baseDefinition}, which is not known here`);
  const tree = copyTree(treeOf(elementsFrom(base, find, depth)));
  if (changes.length > 0) {
    const changed = treeOf(changes);
    if (changed.name !== tree.name) {
      throw new ProfileFault(`the differential of ${url} begins with ${changed.name}; its base is of ${tree.name}`);
    }
    change(tree, changed, { url, root: tree, find, depth });
  }
  return elementsOf(tree);
}

/** The elements of a definition, as other definitions take them over: a reference to an element of it gets its canonical. */
function elementsFrom(definition: StructureDefinition, find: FindDefinition, depth: number): readonly DefinedElement[] {
  const elements = definition.snapshot?.element ?? makeSnapshot(definition, find, depth + 1);
  if (definition.derivation === 'constraint') return elements;
  return elements.map((element) =>
    element.contentReference?.startsWith('#') === true
      ? { ...element, contentReference: definition.url + element.contentReference }
      : element,
  );
}

interface Work {
  readonly url: string;
  /** The snapshot in the making. */
  readonly root: ElementNode;
  readonly find: FindDefinition;
  readonly depth: number;
}

function change(target: ElementNode, changed: ElementNode, work: Work): void {
  if (changed.element !== undefined) {
    target.element = mergeElement(target.element, changed.element, work.url);
  }
  if (changed.children.length > 0 && target.children.length === 0) unfold(target, work);
  for (const child of changed.children) changeChild(target, child, work);
  for (const slice of changed.slices) changeSlice(target, slice, work);
}

function changeChild(target: ElementNode, changed: ElementNode, work: Work): void {
  const own = target.children.find(({ name }) => name === changed.name);
  if (own !== undefined) {
    change(own, changed, work);
    return;
  }
  // `valueQuantity` is short for the slice of that name of `value[x]`, which is sliced by type.
  const choice = target.children.find(({ name, element }) => isTypeOf(changed.name, name, element));
  if (choice?.element === undefined) {
    throw new ProfileFault(
      `${work.url} constrains ${pathOf(changed)}, which ${target.element?.path ?? target.name} has not`,
    );
  }
  const type = typeNamed(choice, changed.name);
  if (choice.element.slicing === undefined) {
    const slicing = { discriminator: [{ type: 'type', path: '$this' }], ordered: false, rules: 'open' };
    choice.element = { ...choice.element, slicing };
  }
  const { type: named = [{ code: type }], ...said } = changed.element ?? { path: '' };
  // Required as this type it can be of no other.
  if ((said.min ?? 0) > 0) {
    const only = (choice.element.type ?? []).filter(({ code }) => code === type);
    const slicing = { ...choice.element.slicing, rules: 'closed' };
    choice.element = { ...choice.element, min: 1, type: only, slicing };
  }
  const element: DefinedElement = { ...said, sliceName: changed.name, type: named };
  changeSlice(choice, { ...changed, element, slices: [] }, work);
  const slice = choice.slices.find((each) => each.element?.sliceName === changed.name);
  for (const inner of changed.slices) if (slice !== undefined) changeSlice(slice, inner, work);
}

function changeSlice(target: ElementNode, changed: ElementNode, work: Work): void {
  const name = changed.element?.sliceName ?? '';
  let own = target.slices.find(({ element }) => element?.sliceName === name);
  if (own === undefined) {
    if (target.element !== undefined && target.element.slicing === undefined && target.name.endsWith('xtension')) {
      const slicing = { discriminator: [{ type: 'value', path: 'url' }], ordered: false, rules: 'open' };
      target.element = { ...target.element, slicing };
    }
    own = copyTree({ ...target, slices: [] });
    if (own.element !== undefined) {
      const { slicing: _slicing, ...said } = own.element;
      own.element = { ...said, sliceName: name, min: 0 };
    }
    target.slices.push(own);
  }
  change(own, changed, work);
}

/** Takes in the elements of the type, or of the element that is referred to. */
function unfold(target: ElementNode, work: Work): void {
  const { element } = target;
  if (element === undefined) return;
  const { contentReference, type = [] } = element;
  if (contentReference !== undefined) {
    const [, id = ''] = contentReference.split('#');
    const like = nodeAt(work.root, id);
    if (like === undefined) throw new ProfileFault(`${work.url}: there is no element ${contentReference}`);
    target.children.push(...like.children.map(copyTree));
    const { contentReference: _contentReference, ...said } = element;
    target.element = { ...said, ...(like.element?.type !== undefined && { type: like.element.type }) };
    return;
  }
  const [first] = type;
  if (first === undefined) throw new ProfileFault(`${work.url}: ${element.path} has no type`);
  const url = type.length > 1 ? `${CORE}Element` : (first.profile?.[0] ?? typeUrl(first.code));
  const definition = work.find(url) ?? (first.profile === undefined ? undefined : work.find(typeUrl(first.code)));
  if (definition === undefined)
    throw new ProfileFault(`${work.url} constrains ${element.path}; its type ${url} is not known here`);
  target.children.push(...copyTree(treeOf(elementsFrom(definition, work.find, work.depth))).children);
}

function typeUrl(code: string): string {
  return code.includes('/') ? `${CORE}string` : CORE + code;
}

function nodeAt(root: ElementNode, path: string): ElementNode | undefined {
  const [, ...names] = path.split('.');
  return names.reduce<ElementNode | undefined>((at, name) => at?.children.find((child) => child.name === name), root);
}

function isTypeOf(name: string, choice: string, element: DefinedElement | undefined): boolean {
  if (!choice.endsWith('[x]') || !name.startsWith(choice.slice(0, -3))) return false;
  return element?.type?.some(({ code }) => choiceName(choice, code) === name) ?? false;
}

function typeNamed({ name, element }: ElementNode, key: string): string {
  return element?.type?.find(({ code }) => choiceName(name, code) === key)?.code ?? '';
}

function choiceName(choice: string, code: string): string {
  return choice.slice(0, -3) + code.charAt(0).toUpperCase() + code.slice(1);
}

function pathOf({ name, element }: ElementNode): string {
  return element?.path ?? name;
}
