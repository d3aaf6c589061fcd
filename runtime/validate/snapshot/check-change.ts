import type { ElementNode } from '../profiles/definition/element-tree.js';
import { ProfileFault, type DefinedElement, type DefinedType } from '../profiles/definition/structure-definition.js';
import { isKindOf, isSystemType, type Work } from './work.js';

/** The whole of a resource or datatype cannot be sliced, and a definition cannot be of the type that it defines. @throws ProfileFault */
export function checkRoot({ name, element }: ElementNode, { url }: Work): void {
  if (element?.slicing !== undefined || element?.sliceName !== undefined) {
    throw new ProfileFault(`${url} slices ${name} itself; slices are of elements that may be there several times`);
  }
  const isCircle = element?.type?.some(({ profile = [] }) => profile.some((each) => each.split('|')[0] === url));
  if (isCircle === true)
    throw new ProfileFault(`${url} says of ${name} that it conforms to ${url}: it is made of itself`);
}

/**
 * Checks what a differential says about an element against the element as its base has it.
 * https://hl7.org/fhir/R5/elementdefinition.html#interpretation
 *
 * @throws ProfileFault
 */
export function checkChange(
  base: DefinedElement | undefined,
  said: DefinedElement,
  merged: DefinedElement,
  work: Work,
): void {
  const place = `${work.url}: ${said.id ?? said.path}`;
  checkTypes(base?.type ?? [], said.type ?? [], place, work);
  checkValue('fixed', said, merged, place, work);
  checkValue('pattern', said, merged, place, work);
}

/**
 * Checks that an element that the base marks as `mustSupport` is not marked otherwise by a profile derived from it.
 *
 * @throws ProfileFault
 */
export function checkSupport(base: DefinedElement | undefined, said: DefinedElement, { url }: Work): void {
  if (base?.mustSupport !== true || said.mustSupport !== false) return;
  throw new ProfileFault(`${url}: ${said.id ?? said.path} has mustSupport false; its base has mustSupport true`);
}

/** A profile may admit less types than its base, or types that specialize those; never others. */
function checkTypes(base: readonly DefinedType[], said: readonly DefinedType[], place: string, work: Work): void {
  if (base.length === 0 || base.some(({ code }) => isSystemType(code))) return;
  for (const { code } of said) {
    if (code === undefined || isSystemType(code)) continue;
    if (base.some((each) => each.code === code) || base.some((each) => isKindOf(code, each.code, work))) continue;
    throw new ProfileFault(`${place} is of type ${code}; its base admits ${base.map((each) => each.code).join(', ')}`);
  }
}

/** `fixed[x]` and `pattern[x]` are of a type that the element may have. */
function checkValue(
  stem: 'fixed' | 'pattern',
  said: DefinedElement,
  { type = [] }: DefinedElement,
  place: string,
  work: Work,
): void {
  const key = Object.keys(said).find((each) => each.startsWith(stem) && /^[A-Z]/.test(each.slice(stem.length)));
  const name = key?.slice(stem.length);
  if (name === undefined || type.length === 0 || type.some(({ code }) => isSystemType(code))) return;
  const own = type.some(({ code }) => code.charAt(0).toUpperCase() + code.slice(1) === name);
  if (own || [name, name.charAt(0).toLowerCase() + name.slice(1)].some((each) => isRelated(each, type, work))) return;
  throw new ProfileFault(`${place} has ${key ?? ''}; it is of type ${type.map(({ code }) => code).join(' or ')}`);
}

/** Values of a type and of those that specialize it look alike: a quantity and a duration, a string and a code. */
function isRelated(name: string, types: readonly DefinedType[], work: Work): boolean {
  return types.some(({ code }) => isKindOf(code, name, work) || isKindOf(name, code, work));
}
