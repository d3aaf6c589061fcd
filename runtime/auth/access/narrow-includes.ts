import type { IncludeDirective } from '../../store/store.js';
import type { Access } from '../scopes/access.js';
import type { Reach } from '../scopes/reach.js';

/**
 * Which resources of a type may come along: with `r` or `s` where a reference leads to them, with `s` where they refer,
 * because that is a search. https://hl7.org/fhir/R5/search.html#include
 */
export function includeReach(access: Access, type: string, isReverse: boolean): Reach {
  return isReverse ? access.on(type, 's') : access.onAny(type, ['r', 's']);
}

/**
 * Narrows what comes with a page. A type that may not come along is left out without a word, and a directive that can lead
 * to nothing else goes with it; one that need not be narrowed stays the same object.
 *
 * @param resourceTypes all there are, for directives that name no target
 */
export function narrowIncludes(
  directives: readonly IncludeDirective[],
  access: Access,
  resourceTypes: readonly string[],
): readonly IncludeDirective[] {
  return directives.flatMap((directive): readonly IncludeDirective[] => {
    if (directive.isReverse) {
      const reach = includeReach(access, directive.source, true);
      if (reach === 'nothing') return [];
      return typeof reach === 'string' ? [directive] : [{ ...directive, within: { [directive.source]: reach } }];
    }
    const types = directive.targets ?? resourceTypes;
    const reaches = types.map((type) => [type, includeReach(access, type, false)] as const);
    const targets = reaches.flatMap(([type, reach]) => (reach === 'nothing' ? [] : [type]));
    if (targets.length === 0) return [];
    const within = reaches.flatMap(([type, reach]) => (typeof reach === 'string' ? [] : [[type, reach] as const]));
    if (targets.length === types.length && within.length === 0) return [directive];
    return [
      {
        ...directive,
        ...(targets.length < types.length && { targets }),
        ...(within.length > 0 && { within: Object.fromEntries(within) }),
      },
    ];
  });
}
