import type { OwnChainsRow } from '../../contract/rest.js';
import { isLink, targetsOf } from '../../search/query/criterion.js';
import type { Criterion } from '../../search/query/query.js';
import type { Access } from '../scopes/access.js';
import type { Content } from './content.js';

/** The types that criteria reach into, and those that they ask membership of, as `decide` takes them. */
export type SearchLinks = Required<Pick<Content, 'chain' | 'untyped-chain' | 'list' | 'in'>>;

/**
 * Collects the types that criteria reach into: by chains that can lead to one type only, by `_has` and up or down a
 * hierarchy (`chain`), and by chains that can lead to several (`untyped-chain`). A chain that names its type leads to
 * one. Of several types those without `s` are not looked behind, since the chain does not go there.
 */
export function linksOf(criteria: readonly Criterion[], access: Access): SearchLinks {
  const types = new Set<string>();
  const asked = { _list: new Set<string>(), _in: new Set<string>() };
  const groups = new Map<string, readonly string[]>();
  // Types may share what is asked of them, on every step of a chain again.
  const seen = new Set<Criterion>();
  const walk = (criterion: Criterion): void => {
    if (seen.has(criterion)) return;
    seen.add(criterion);
    if ('all' in criterion) criterion.all.forEach(walk);
    else if ('some' in criterion) criterion.some.forEach(walk);
    else if ('not' in criterion) walk(criterion.not);
    else if ('members' in criterion) for (const { type } of criterion.of) asked[criterion.members].add(type);
    else if ('hierarchies' in criterion) for (const { type } of criterion.hierarchies) types.add(type);
    else if (isLink(criterion)) {
      const targets = targetsOf(criterion);
      const names = targets.map(({ type }) => type);
      if (names.length === 1) types.add(names[0]!);
      else groups.set(names.join(' '), names);
      for (const { type, where } of targets) if (names.length === 1 || access.on(type, 's') !== 'nothing') walk(where);
    }
  };
  criteria.forEach(walk);
  const sorted = (some: ReadonlySet<string>) => some.size > 0 && [...some].sort();
  return {
    chain: sorted(types),
    list: sorted(asked._list),
    in: sorted(asked._in),
    'untyped-chain': groups.size > 0 && [...groups.values()],
  };
}

/**
 * Whether a parameter with a chain counts as one of the type itself: exactly the names of the table, without types and
 * modifiers. What it is about is neither judged nor narrowed. ITI-67 needs some.
 */
export function isOwnChain(ownChains: readonly OwnChainsRow[], type: string, name: string): boolean {
  return ownChains.some((row) => row.type === type && row.parameters.includes(name));
}
