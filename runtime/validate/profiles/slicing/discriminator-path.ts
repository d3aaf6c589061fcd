import { isObject } from '../../../fhir/resource.js';
import { targetOf, isType } from '../check-types.js';
import { childrenOf, type ElementValue } from '../item.js';
import type { ProfileRun } from '../profile-run.js';

/** A step of the path of a discriminator. https://hl7.org/fhir/R5/profiling.html#discriminator */
export type PathPart =
  | { readonly kind: 'child'; readonly name: string }
  | { readonly kind: 'extension'; readonly url: string }
  | { readonly kind: 'ofType'; readonly type: string }
  | { readonly kind: 'resolve' };

const PART =
  /\s*(?:extension\(\s*(['"])(.*?)\1\s*\)|ofType\(\s*(?:FHIR\.)?(\w+)\s*\)|(resolve)\(\)|(\$this)|(\w+)(?:\[x\])?)\s*(?:\.|$)/y;

/** Reads a path. @returns undefined: it is none that a discriminator may have */
export function parsePath(path: string): readonly PathPart[] | undefined {
  const parts: PathPart[] = [];
  PART.lastIndex = 0;
  for (let at = 0; at < path.length; at = PART.lastIndex) {
    PART.lastIndex = at;
    const found = PART.exec(path);
    if (found === null) return undefined;
    const [, , url, type, resolve, self, name] = found;
    if (url !== undefined) parts.push({ kind: 'extension', url });
    else if (type !== undefined) parts.push({ kind: 'ofType', type });
    else if (resolve !== undefined) parts.push({ kind: 'resolve' });
    else if (self === undefined && name !== undefined) parts.push({ kind: 'child', name });
  }
  return parts;
}

/** The values that a part of a path leads to. */
export function follow(item: ElementValue, part: PathPart, run: ProfileRun): readonly ElementValue[] {
  const { types } = run.deps;
  switch (part.kind) {
    case 'child':
      return childrenOf(item, part.name, types);
    case 'extension':
      return childrenOf(item, 'extension', types).filter(({ value }) => isObject(value) && value['url'] === part.url);
    case 'ofType':
      return isType(item.type, part.type, types) ? [item] : [];
    case 'resolve':
      return followReference(item, run, 'resource');
  }
}

/**
 * Returns the resource that a reference leads to, or only its type; an empty list: neither is known.
 *
 * @param how as for `targetOf`
 */
export function followReference(
  item: ElementValue,
  run: ProfileRun,
  how: 'type' | 'resource',
): readonly ElementValue[] {
  const { resource, type } = targetOf(item, run, how);
  if (resource !== undefined) return [{ value: resource, beside: undefined, type: resource.resourceType }];
  run.hasUnresolved = true;
  // Elsewhere, but what it is the reference may tell.
  return type === undefined ? [] : [{ value: undefined, beside: undefined, type }];
}

/** The values at the end of a path. */
export function followAll(
  items: readonly ElementValue[],
  parts: readonly PathPart[],
  run: ProfileRun,
): readonly ElementValue[] {
  return parts.reduce((at, part) => at.flatMap((item) => follow(item, part, run)), items);
}
