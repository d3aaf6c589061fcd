import { append } from '../../fhir/lists.js';
import type { ElementNode } from '../profiles/definition/element-tree.js';
import type { DefinedElement, DefinedType } from '../profiles/definition/structure-definition.js';

/** Whether an element may be of several types, by its name: `value[x]`. */
export function isChoice({ name }: Pick<ElementNode, 'name'>): boolean {
  return name.endsWith('[x]');
}

/** Whether an element is an extension, or the definition of one. */
export function isExtension({ name }: Pick<ElementNode, 'name'>): boolean {
  return name === 'extension' || name === 'modifierExtension' || name === 'Extension';
}

/** The type of a choice that a name is for: `valueQuantity` is for Quantity. */
export function typeNamed({ name, element }: ElementNode, key: string): DefinedType | undefined {
  if (!isChoice({ name }) || !key.startsWith(name.slice(0, -3))) return undefined;
  return element?.type?.find(({ code }) => choiceName(name, code) === key);
}

function choiceName(choice: string, code: string): string {
  return choice.slice(0, -3) + code.charAt(0).toUpperCase() + code.slice(1);
}

/**
 * Returns the children of an element in a differential, with choices under their own names. `valueQuantity` is short for the
 * slice of that name of `value[x]`; where `value[x]` has been of this type only, it means `value[x]` itself. In an extension it
 * says that the value is of this type. https://hl7.org/fhir/R5/profiling.html#slicing
 */
export function withoutShortcuts(target: ElementNode, changed: readonly ElementNode[]): readonly ElementNode[] {
  const result: ElementNode[] = [];
  const types = new Map<ElementNode, Set<DefinedType>>();
  for (const child of changed) {
    const choice = target.children.some(({ name }) => name === child.name)
      ? undefined
      : target.children.find((each) => typeNamed(each, child.name) !== undefined);
    const type = choice === undefined ? undefined : typeNamed(choice, child.name);
    if (choice === undefined || type === undefined) {
      result.push(child);
      continue;
    }
    const isNamed = changed.some(({ name }) => name === choice.name) || child.slices.length > 0;
    if (!isNamed && choice.element?.type?.length === 1 && choice.slices.length === 0) {
      result.push({ ...child, name: choice.name });
      continue;
    }
    let whole = result.find(({ name }) => name === choice.name);
    if (whole === undefined) result.push((whole = { name: choice.name, element: undefined, children: [], slices: [] }));
    append(whole.slices, slicesOf(child, type));
    types.set(whole, (types.get(whole) ?? new Set()).add(type));
  }
  return isExtension(target) ? result.map((node) => ofTypes(node, types.get(node))) : result;
}

/** The slices that a short name means: the slice of that name, or those that the differential names. */
function slicesOf(child: ElementNode, type: DefinedType): ElementNode[] {
  const { name, element, children, slices } = child;
  const isOne = element !== undefined || children.length > 0 || slices.length === 0;
  const own = isOne ? [{ ...child, element: { path: name, ...element, sliceName: name }, slices: [] }] : [];
  return [...own, ...slices].map((slice) => ({
    ...slice,
    element: { type: [type], ...slice.element } as DefinedElement,
  }));
}

function ofTypes(node: ElementNode, types: ReadonlySet<DefinedType> | undefined): ElementNode {
  if (types === undefined || node.element?.type !== undefined) return node;
  return { ...node, element: { path: node.name, ...node.element, type: [...types] } };
}
