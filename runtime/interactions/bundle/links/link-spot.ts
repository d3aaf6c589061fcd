import type { LinkPlace, LinkPlan } from './link-plan.js';
import { referenceTarget, targetOf, type LinkFinder, type LinkTarget } from './links.js';
import { isUrn } from './placeholders.js';

/**
 * An element that a patch names: its kind, if it can refer to a resource (`place`), and the plan of the extensions of a
 * primitive (`beside`). Empty if nothing in it can refer to a resource.
 */
export interface Spot {
  /** `unknown`: the patch does not determine the type, such as in a contained resource. */
  readonly place?: LinkPlace | 'unknown';
  readonly beside?: LinkPlan;
}

/** An element that cannot refer to a resource. */
export const NOTHING: Spot = {};
/** An element whose type the patch does not determine. */
export const UNKNOWN: Spot = { place: 'unknown' };

/** A resource of a type. References in a stored Bundle are to entries of that Bundle, so it has no links. */
export function rootSpot(type: string, { plans }: Pick<LinkFinder, 'plans'>): Spot {
  const plan = type === 'Bundle' ? undefined : plans(type);
  return plan === undefined ? NOTHING : { place: plan };
}

/**
 * The spot of a child element, by its name in FHIRPath or XML, or of a member, by its name in JSON.
 *
 * @param suffix type suffix of the name of a choice, such as `Uri`, if it is known
 */
export function childSpot({ place, beside }: Spot, name: string, suffix?: string): Spot {
  if (place === 'unknown' || place === 'resource') return UNKNOWN;
  const plan = typeof place === 'object' ? place : beside;
  if (plan === undefined) return NOTHING;
  const key = [name, `${name}${suffix ?? ''}`].find((each) => plan.places.has(each) || plan.places.has(`_${each}`));
  if (key === undefined) return suffix === undefined && isChoice(plan, name) ? UNKNOWN : NOTHING;
  const [own, other] = [plan.places.get(key), plan.places.get(`_${key}`)];
  return {
    ...(own === undefined ? {} : { place: own }),
    ...(typeof other === 'object' ? { beside: other } : {}),
  };
}

function isChoice({ places }: LinkPlan, name: string): boolean {
  return [...places.keys()].some((key) => {
    const own = key.startsWith('_') ? key.slice(1) : key;
    return own.startsWith(name) && /^[A-Z]/.test(own.slice(name.length));
  });
}

/**
 * The target of a text, if it is a link. If the type is unknown, an element named `reference` counts as a reference, `div` as
 * a narrative, and any other text is a link if all of it is a placeholder.
 *
 * @param holder has the text under `key`
 * @param name the name of the element
 */
export function spotTarget(
  holder: object,
  key: string | number,
  text: string,
  { place }: Spot,
  name: string,
  finder: LinkFinder,
): LinkTarget | undefined {
  if (place === undefined || place === 'resource' || typeof place === 'object') return undefined;
  if (place !== 'unknown') return targetOf(holder, key, text, place, finder);
  if (name === 'reference') return referenceTarget(holder, key, text, finder);
  if (name === 'div' && text.includes('<')) return targetOf(holder, key, text, 'xhtml', finder);
  const entry = isUrn(text) ? finder.find(text) : undefined;
  return entry === undefined ? undefined : { entry, rest: '' };
}
