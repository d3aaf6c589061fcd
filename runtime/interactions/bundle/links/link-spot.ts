import type { LinkPlace, LinkPlan } from './link-plan.js';
import { referenceTarget, targetOf, type LinkFinder, type LinkTarget } from './links.js';
import { isUrn } from './placeholders.js';

/**
 * A place that a patch names: what can stand there as far as it can refer, and in which object the extensions of a
 * primitive are. Empty: nothing refers there.
 */
export interface Spot {
  /** `unknown`: the patch does not say of what type it is, such as within a contained resource. */
  readonly place?: LinkPlace | 'unknown';
  readonly beside?: LinkPlan;
}

/** Nothing refers there. */
export const NOTHING: Spot = {};
/** The patch does not tell what is there. */
export const UNKNOWN: Spot = { place: 'unknown' };

/** A resource of a type; what is in a Bundle refers to the entries of that one. */
export function rootSpot(type: string, { plans }: Pick<LinkFinder, 'plans'>): Spot {
  const plan = type === 'Bundle' ? undefined : plans(type);
  return plan === undefined ? NOTHING : { place: plan };
}

/**
 * Where an element is, by its name in FHIRPath or XML, or a member, by its name in JSON.
 *
 * @param suffix what the type of its value adds to the name of a choice, such as `Uri`, where that is known
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
 * What a text leads to, if it refers. Where types are not known, what is called `reference` is a reference, `div` a
 * narrative, and any other text refers if the whole of it is a placeholder.
 *
 * @param holder what has the text under `key`
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
