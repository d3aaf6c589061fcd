import type { IndexEntry } from '../../../../runtime/indexing/entry.js';
import type { Condition, SortKey, Target } from '../../../../runtime/search/query/query.js';
import type { IncludeDirective } from '../../../../runtime/store/store.js';
import { of, reference, token, uri } from '../../../contract/search/behaviour-search-helpers.js';
import type { Random } from '../../../contract/random.js';

/** Types of resources that refer to each other by every parameter of `LINKS`. */
export const TYPES = ['Ant', 'Bee', 'Cow'] as const;

/** Parameters of references. */
const LINKS = ['next', 'home'];
const CODES = ['x', 'y', 'z', 'rare'];
/** The base of some references. */
export const BASE = 'http://own';
const URLS = ['http://x/a', 'http://x/b'];

/** Random resources and conditions on them. */
export function createGraph(random: Random, perType: number) {
  const { pick, chance, below, some } = random;
  const ids = Array.from({ length: perType }, (_, n) => `${pick(['a', 'B', '9'])}${n}`);
  const idOf = (): string => (chance(0.9) ? pick(ids) : 'none');
  const codeOf = (): string => (chance(0.03) ? 'rare' : pick(['x', 'y', 'z']));

  function link(): IndexEntry {
    const param = pick(LINKS);
    const version = chance(0.2) ? { version: pick(['1', '2']) } : {};
    const form = random.next();
    if (form < 0.15) {
      const type = chance(0.3) ? { type: pick(TYPES) } : {};
      return of(param, reference({ url: pick(URLS), ...type, ...version }));
    }
    const base = chance(0.3) ? { base: chance(0.8) ? BASE : 'http://elsewhere' } : {};
    return of(param, reference({ type: pick(TYPES), id: idOf(), ...base, ...version }));
  }

  function entries(): IndexEntry[] {
    return [
      of('code', token(codeOf(), pick([undefined, 's']))),
      ...some(2, () => of('code', token(codeOf()))),
      ...some(4, link),
      ...(chance(0.15) ? [of('url', uri(pick(URLS))), ...some(3, () => of('version', token(pick(['1', '2']))))] : []),
    ];
  }

  function leaf(): Condition {
    if (chance(0.15)) return { ids: Array.from({ length: 1 + below(3) }, idOf) };
    if (chance(0.1)) return { param: pick(LINKS), present: 'reference' };
    return { param: 'code', any: Array.from({ length: 1 + below(2) }, () => ({ is: 'token', code: pick(CODES) })) };
  }

  function condition(depth: number): Condition {
    const form = depth === 0 ? 9 : below(10);
    if (form < 3) return { param: pick(LINKS), chain: targets(depth - 1) };
    if (form < 6) return { has: { type: pick(TYPES), param: pick(LINKS), where: condition(depth - 1) } };
    if (form === 6) return { not: condition(depth - 1) };
    if (form === 7) return { all: some(4, () => condition(depth - 1)) };
    if (form === 8) return { some: some(3, () => condition(depth - 1)) };
    return leaf();
  }

  function targets(depth: number): Target[] {
    const types = TYPES.filter(() => chance(0.4));
    const named = types.length === 0 ? [pick([...TYPES, 'Never'])] : types;
    return named.map((type) => ({ type, where: condition(depth) }));
  }

  function sort(): SortKey[] {
    const keys: readonly SortKey[] = [
      { param: '_id', by: 'id', isDescending: chance(0.5) },
      { param: '_lastUpdated', by: 'updated', isDescending: chance(0.5) },
      { param: 'code', by: 'token', isDescending: chance(0.5) },
      { param: 'url', by: 'uri', isDescending: chance(0.5) },
    ];
    const drawn = some(3, () => pick(keys));
    if (drawn.length > 0) drawn.push({ param: '_id', by: 'id', isDescending: chance(0.5) });
    return drawn.filter(({ param }, i, all) => all.findIndex((each) => each.param === param) === i);
  }

  function directive(): IncludeDirective {
    const wanted = TYPES.filter(() => chance(0.5));
    return {
      isReverse: chance(0.5),
      source: pick(TYPES),
      params: LINKS.filter(() => chance(0.7)),
      ...(wanted.length > 0 && { targets: wanted }),
      iterates: chance(0.5),
    };
  }

  return { ids, entries, condition, sort, directive };
}
