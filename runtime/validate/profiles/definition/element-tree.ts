import { ProfileFault, type DefinedElement } from './structure-definition.js';

/** An element of a definition with what belongs to it. */
export interface ElementNode {
  /** Last segment of the path, as defined: `value[x]`; for the root the type. */
  readonly name: string;
  /** Undefined: a differential names only what is below it. */
  element: DefinedElement | undefined;
  readonly children: ElementNode[];
  /** Slices of the element, and reslices of a slice. */
  readonly slices: ElementNode[];
}

/**
 * Makes a tree of the elements of a snapshot or differential. It goes by paths, names of slices and order, not by ids, which are
 * optional and often wrong.
 *
 * @throws ProfileFault where an element is at no place
 */
export function treeOf(elements: readonly DefinedElement[]): ElementNode {
  const [first] = elements;
  if (first === undefined) throw new ProfileFault('there are no elements');
  const root: ElementNode = node(first.path.split('.')[0] ?? '');
  for (const element of elements) place(root, element);
  return root;
}

function node(name: string, element?: DefinedElement): ElementNode {
  return { name, element, children: [], slices: [] };
}

function place(root: ElementNode, element: DefinedElement): void {
  const [top, ...names] = element.path.split('.');
  if (top !== root.name) throw new ProfileFault(`${element.path} is not below ${root.name}`);
  const last = names.pop();
  if (last === undefined) {
    root.element = element;
    return;
  }
  let parent = root;
  for (const name of names) parent = latest(member(parent, name));
  const own = member(parent, last);
  if (element.sliceName === undefined) own.element = element;
  else placeSlice(own, element.sliceName, element);
}

/** The child of this name, made where there is none. */
function member(parent: ElementNode, name: string): ElementNode {
  let found = parent.children.find((child) => child.name === name);
  if (found === undefined) parent.children.push((found = node(name)));
  return found;
}

/** What the elements that follow are about: the last slice, where there is one. */
function latest(at: ElementNode): ElementNode {
  const slice = at.slices.at(-1);
  return slice === undefined ? at : latest(slice);
}

function placeSlice(at: ElementNode, name: string, element: DefinedElement): void {
  // A name without a slash is of no slice of another: to go through all of thousands for each took seconds.
  const outer = !name.includes('/')
    ? undefined
    : at.slices.find(({ element: slice }) => name.startsWith(`${slice?.sliceName ?? ''}/`));
  if (outer === undefined) at.slices.push(node(at.name, element));
  else placeSlice(outer, name, element);
}
