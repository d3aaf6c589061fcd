import type { ElementNode } from '../profiles/definition/element-tree.js';
import { ProfileFault, type DefinedElement } from '../profiles/definition/structure-definition.js';
import { checkChange, checkRoot, checkSupport } from './check-change.js';
import { isChoice, isExtension, typeNamed, withoutShortcuts } from './choices.js';
import { mergeElement } from './merge-element.js';
import { settleSlices } from './settle-slices.js';
import { unfold } from './unfold.js';
import { greatestNumber, type Work } from './work.js';

/**
 * Changes the elements of the base as a differential says.
 *
 * @throws ProfileFault where the differential constrains a missing element, or breaks a rule
 */
export function changeTree(root: ElementNode, changed: ElementNode, work: Work): void {
  checkRoot(changed, work);
  change(root, changed, work);
}

function change(target: ElementNode, changed: ElementNode, work: Work, isNew = false): void {
  const { element: said, children, slices } = changed;
  const before = target.element;
  if (said !== undefined) {
    target.element = mergeElement(before, said, work.url);
    checkChange(before, said, target.element, work);
    if (!isNew) checkSupport(before, said, work);
  }
  if (children.length > 0) {
    if (target.children.length === 0) unfold(target, work);
    for (const child of withoutShortcuts(target, children)) changeChild(target, child, work);
  }
  if (slices.length > 0) changeSlices(target, changed, work);
}

function changeSlices(target: ElementNode, changed: ElementNode, work: Work): void {
  const { slices } = changed;
  const contentReference = target.element?.contentReference;
  // Slices of an element that is like another one begin as that one is; the sliced element itself goes on to say that it is like it.
  const isWalked = contentReference !== undefined && slices.some(({ children }) => children.length > 0);
  if (isWalked && target.children.length === 0) unfold(target, work);
  const known = new Map<string | undefined, ElementNode>();
  for (const slice of target.slices)
    if (!known.has(slice.element?.sliceName)) known.set(slice.element?.sliceName, slice);
  for (const slice of slices) changeSlice(target, slice, known, work);
  if (isWalked && target.element !== undefined) {
    const { type: _type, ...rest } = target.element;
    target.element = { ...rest, contentReference };
  }
  settleSlices(target, changed, work);
}

function changeChild(target: ElementNode, changed: ElementNode, work: Work): void {
  const own = target.children.find(({ name }) => name === changed.name);
  if (own !== undefined) {
    change(own, changed, work);
    return;
  }
  if (!work.isType) throw notThere(target, changed, work);
  const added: ElementNode = { name: changed.name, element: undefined, children: [], slices: [] };
  target.children.push(added);
  change(added, changed, work);
}

/** What is constrained does not exist; the text says why. */
function notThere(target: ElementNode, changed: ElementNode, { url, unknown }: Work): ProfileFault {
  const { type = [], path = target.name } = target.element ?? {};
  const types = type.length > 1 ? `; it may be of ${type.length} types, and has to be constrained to one first` : '';
  const profiles = unknown.size > 0 ? `; these profiles are not known here: ${[...unknown].join(', ')}` : '';
  const reason = types + profiles;
  return new ProfileFault(`${url} constrains ${changed.element?.path ?? changed.name}, which ${path} has not${reason}`);
}

/** @param slices those that the target has, by their names */
function changeSlice(
  target: ElementNode,
  changed: ElementNode,
  slices: Map<string | undefined, ElementNode>,
  work: Work,
): void {
  const { element: { sliceName: name = '', ...said } = { path: '' } } = changed;
  const known = slices.get(name);
  const own = known ?? beginSlice(target, name, said, work);
  if (known === undefined) {
    target.slices.push(own);
    slices.set(name, own);
  }
  change(own, { ...changed, element: { ...said, sliceName: name } }, work, known === undefined);
  if (isExtension(target)) narrowByDefinition(own, work);
}

/** A new slice: as the element is, but not required. */
function beginSlice(target: ElementNode, name: string, said: DefinedElement, work: Work): ElementNode {
  const own = work.copy({ ...target, slices: [] });
  const { slicing: _slicing, ...rest } = target.element ?? { path: '' };
  const type = isChoice(target) && said.type === undefined ? typeNamed(target, name) : undefined;
  // The only type that a value may have is as much required as the value.
  const min = isChoice(target) && rest.type?.length === 1 ? (rest.min ?? 0) : 0;
  own.element = { ...rest, sliceName: name, min, ...(type !== undefined && { type: [type] }) };
  // What is below it is as its own profile has it.
  if (said.type?.some(({ profile = [] }) => profile.length > 0) === true) own.children.splice(0);
  return own;
}

/** An extension may be there as often as its definition says. https://hl7.org/fhir/R5/defining-extensions.html#cardinality */
function narrowByDefinition(slice: ElementNode, work: Work): void {
  const { element } = slice;
  const [profile, another] = element?.type?.[0]?.profile ?? [];
  if (element === undefined || profile === undefined || another !== undefined) return;
  const max = greatestNumber(profile, work);
  if (max === undefined || max === '*' || (element.max ?? '*') === '0') return;
  if (element.max === undefined || element.max === '*' || Number(max) < Number(element.max)) {
    slice.element = { ...element, max };
  }
}
