import type { ElementNode } from '../profiles/definition/element-tree.js';
import { ProfileFault, type DefinedElement } from '../profiles/definition/structure-definition.js';
import { isChoice, isExtension } from './choices.js';
import type { Work } from './work.js';

const BY_TYPE = [{ type: 'type', path: '$this' }];
const BY_URL = [{ type: 'value', path: 'url' }];

/**
 * Draws from the slices of an element what they say about the element as a whole: how its values are distinguished where that goes without
 * saying, how many values there have to be, and which types they may have. https://hl7.org/fhir/R5/profiling.html#slicing
 *
 * @param changed what the differential says. Where it says something about the element itself, its cardinality is meant as it is
 * @throws ProfileFault where they contradict each other
 */
export function settleSlices(target: ElementNode, changed: ElementNode, work: Work): void {
  if (target.element === undefined) return;
  let element: DefinedElement = { ...target.element, ...slicingOf(target) };
  if (isChoice(target) && isByType(element)) element = withTypes(element, target.slices, namesOf(changed.slices), work);
  const least = target.slices.reduce((sum, slice) => sum + (slice.element?.min ?? 0), 0);
  const { min = 0, max } = element;
  if (max !== undefined && max !== '*' && least > Number(max)) {
    throw new ProfileFault(
      `${work.url}: the slices of ${element.path} require ${least} values; there may be no more than ${max}`,
    );
  }
  target.element = least > min && changed.element === undefined ? { ...element, min: least } : element;
}

function slicingOf(target: ElementNode): Partial<DefinedElement> {
  const { slicing } = target.element ?? {};
  const discriminator = isChoice(target) ? BY_TYPE : isExtension(target) ? BY_URL : undefined;
  // A slice that is sliced again need not say how.
  if (discriminator === undefined || target.element?.sliceName !== undefined) return {};
  if (slicing === undefined) return { slicing: { discriminator, ordered: false, rules: 'open' } };
  const isSaid = (slicing.discriminator ?? []).length > 0;
  return isSaid || !isChoice(target) ? {} : { slicing: { discriminator, ...slicing } };
}

function isByType({ slicing }: DefinedElement): boolean {
  const [first, another] = slicing?.discriminator ?? [];
  return first?.type === 'type' && first.path === '$this' && another === undefined;
}

/** A choice that is required as one type is of that type; where each type that it may have has its slice, no other can be. */
function withTypes(
  element: DefinedElement,
  slices: readonly ElementNode[],
  changed: readonly string[],
  { url }: Work,
): DefinedElement {
  const { type = [], path } = element;
  const possible = slices.filter((slice) => slice.element?.max !== '0');
  const [required] = possible.filter((slice) => (slice.element?.min ?? 0) > 0);
  // A slice of the base just finds nothing any more.
  const others = namesOf(possible.filter((slice) => slice !== required)).filter((name) => changed.includes(name));
  if (required !== undefined && others.length > 0) {
    throw new ProfileFault(
      `${url}: ${path} has to be there as ${required.element?.sliceName ?? ''}, so that there can be no slice ${others.join(', ')}`,
    );
  }
  const codes = codesOf(required === undefined ? slices : [required]);
  const left = required === undefined ? type : type.filter(({ code }) => codes.has(code));
  const isClosed = left.length > 0 && left.every(({ code }) => codes.has(code));
  const isRequired = required !== undefined && { min: Math.max(element.min ?? 0, 1) };
  return {
    ...element,
    type: left,
    ...isRequired,
    ...(isClosed && { slicing: { ...element.slicing, rules: 'closed' } }),
  };
}

function namesOf(slices: readonly ElementNode[]): readonly string[] {
  return slices.map(({ element }) => element?.sliceName ?? '');
}

function codesOf(slices: readonly ElementNode[]): ReadonlySet<string> {
  return new Set(slices.flatMap(({ element }) => element?.type ?? []).map(({ code }) => code));
}
