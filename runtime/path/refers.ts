import { readReference } from './reference-text.js';
import { isObject, type Focus, type Visit } from './visit.js';
import { memoizeWeak } from '../fhir/memory/memoize.js';

const DEFINITIONS = 'http://hl7.org/fhir/StructureDefinition/';

/** `where(resolve() is T)`, decided from the reference itself: nothing is fetched. */
export function refersStep<F extends Focus>(type: string, next: Visit<F>): Visit<F> {
  return (value, focus) => {
    if (targetType(value, focus.root) === type) next(value, focus);
  };
}

/**
 * Type of the resource that a Reference (or the bare text of one) points to: what its text says; for `#id` the
 * contained resource's, for `#` the root's; where neither says, `Reference.type`. Undefined: it is unknown.
 * https://hl7.org/fhir/R5/references.html#Reference
 */
export function targetType(value: unknown, root: object): string | undefined {
  if (typeof value === 'string') return typeOfText(value, root);
  if (!isObject(value)) return undefined;
  const text = value['reference'];
  const told = typeof text === 'string' ? typeOfText(text, root) : undefined;
  if (told !== undefined) return told;
  const declared = value['type'];
  if (typeof declared !== 'string') return undefined;
  return declared.startsWith(DEFINITIONS) ? declared.slice(DEFINITIONS.length) : declared;
}

function typeOfText(text: string, root: object): string | undefined {
  if (!text.startsWith('#')) return readReference(text)?.type;
  const target = text.length === 1 ? root : containedResource(root, text.slice(1));
  const type = isObject(target) ? target['resourceType'] : undefined;
  return typeof type === 'string' ? type : undefined;
}

/** Returns the resource that is contained in another under an id; undefined: there is none. */
export function containedResource(root: object, id: string): unknown {
  const contained = isObject(root) ? root['contained'] : undefined;
  if (!Array.isArray(contained)) return undefined;
  return indexOf(contained as readonly unknown[]).get(id);
}

/** Contained resources by id, so that many references to many of them take no longer than reading both. */
const indexOf = memoizeWeak((contained: readonly unknown[]): ReadonlyMap<unknown, unknown> => {
  // Of two with one id the first counts: it is set last.
  return new Map(
    contained
      .filter(isObject)
      .map((resource) => [resource['id'], resource] as const)
      .reverse(),
  );
});
