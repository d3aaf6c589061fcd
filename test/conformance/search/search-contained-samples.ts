import { expect } from 'vitest';

import type { Tables } from '../../../runtime/contract/index.js';
import {
  containerTypes,
  intoContainers,
  type ContainedSearch,
} from '../../../runtime/search-execution/contained/contained-search.js';
import { placeOfContained } from '../../../runtime/store/contained-resources.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import type { FindMultiTypeQuery, FindQuery, Store, StoredVersion } from '../../../runtime/store/store.js';
import { put } from '../../contract/subject.js';
import type { Sample } from './search-matrix-data.js';
import type { FindSamples } from './search-oracle-trials.js';

type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Samples within one container, and types that containers are of by turns. */
const TOGETHER = 3;
const CONTAINERS = ['Basic', 'List'] as const;

/** The container of the nth sample of a type. */
function containerOf(type: string, n: number): { readonly type: string; readonly id: string } {
  const at = Math.floor(n / TOGETHER);
  return { type: CONTAINERS[at % CONTAINERS.length]!, id: `${type.toLowerCase()}-${at}` };
}

/** How they are asked for: in any order, on pages that several are needed of. */
const PAGES: Readonly<Record<ContainedSearch['shows'], Pick<FindQuery, 'sort' | 'count'>>> = {
  container: { sort: [{ param: '_id', by: 'id', isDescending: true }], count: 40 },
  contained: { sort: [{ param: '_lastUpdated', by: 'updated', isDescending: false }], count: 60 },
};

/** All pages, of which the first says how many there are. */
async function walk(store: Store, query: FindMultiTypeQuery): Promise<readonly StoredVersion[]> {
  let page = await store.findMultiType(query);
  const { total } = page;
  const found = [...page.versions];
  while (page.next !== undefined) {
    page = await store.findMultiType({ ...query, total: 'none', after: page.next });
    found.push(...page.versions);
  }
  expect(found).toHaveLength(total!);
  return found;
}

/** Puts samples into a store, each within another resource. */
export async function writeWithin(store: Store, samples: Samples): Promise<void> {
  const changes = [...samples].flatMap(([type, all]) =>
    Array.from({ length: Math.ceil(all.length / TOGETHER) }, (_, at) => {
      const first = at * TOGETHER;
      const container = containerOf(type, first);
      const contained = all.slice(first, first + TOGETHER).map(({ id, entries }) => ({ type, id, entries }));
      return { ...put(container.id, 0, 'x', [], container.type), contained };
    }),
  );
  for (let at = 0; at < changes.length; at += 20) await store.write(changes.slice(at, at + 20));
}

/** Finds samples that are within others; their containers, each once, are found by the same. */
export function findWithin(tables: Tables, samples: Samples): FindSamples {
  const whole = containerTypes(tables).map((type) => ({ type, reach: 'everything' }) as const);
  return async (store, type, where) => {
    const look = async (shows: ContainedSearch['shows']) => {
      const parts = intoContainers({ isBoth: false, shows }, { type, where: where satisfies Condition }, whole);
      return walk(store, { parts, ...PAGES[shows], total: 'accurate' });
    };
    const ids = (await look('contained')).map(({ id }) => placeOfContained(id).fragment);
    const all = samples.get(type)!;
    const containers = ids.map((id) => containerOf(type, all.findIndex((each) => each.id === id))); // prettier-ignore
    const names = new Set(containers.map((each) => `${each.type}/${each.id}`));
    const found = (await look('container')).map((each) => `${each.type}/${each.id}`);
    expect(found.toSorted()).toEqual([...names].sort());
    return ids;
  };
}
