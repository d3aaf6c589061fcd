import { expect, it } from 'vitest';

import { compareText } from '../../../runtime/search/query/compare-text.js';
import { matches, type Neighbours } from '../../../runtime/search/query/match.js';
import { printCondition, printSort } from '../../../runtime/search/query/print.js';
import type { FindPage, IncludeDirective, IncludePlan, Store } from '../../../runtime/store/store.js';
import { compareAcross, settledAcross, walkAcross } from './behaviour-search-across.js';
import { createGenerator } from './behaviour-search-generator.js';
import { of, reference, sharedStore, walk } from './behaviour-search-helpers.js';
import { namesOf } from './behaviour-search-includes.js';
import { createNeighbourhood, naiveIncludes, type Neighbour, type Neighbourhood } from './neighbourhood.js';
import { createRandom, seedOfRun, type Random } from '../random.js';
import { deletion, put, type Subject } from '../subject.js';

/** Random queries with links, over one type and several, with includes; `test:long` has thousands. */
export function searchLinkRandomBehaviour(on: Subject, queries = 60): void {
  const subject = sharedStore(on);

  it.each([0, 1])(
    'find what matches says, with what its references lead to (%i)',
    async (n) => {
      await randomLinks(subject.store, `Link${n}`, seedOfRun() + n, queries);
    },
    60_000,
  );
}

/** Resources of each type that each seed has. */
export const RESOURCES = 40;

/**
 * Makes random resources of three types that refer to each other, created, updated, deleted and revived; then random queries
 * with links up to three deep. Each has to find what `matches` says, in order, on pages of a random size, with that total, and
 * with each page what follows from the references of its resources.
 *
 * @param hasCanonicals whether references may be URLs
 * @param prefix no other resources in the store may be of types that begin with it, or have URLs that contain it
 */
export async function randomLinks(
  store: Store,
  prefix: string,
  seed: number,
  queries: number,
  hasCanonicals = true,
): Promise<void> {
  const random = createRandom(seed);
  const types = ['A', 'B', 'C'].map((name) => prefix + name);
  const ids = Array.from({ length: RESOURCES }, (_, n) => `${random.pick(['a', 'B', '9'])}${n}`);
  const urls = ['', '/b', '/b/c', '/bc'].map((path) => `http://${prefix}${path}`);
  const generator = createGenerator(random, [...ids, 'none'], {
    types: [...types, `${prefix}None`],
    urls,
    hasCanonicals,
  });
  const neighbourhood = await settle(store, random, types, ids, () => generator.entries());
  let found = 0;
  for (let n = 0; n < queries; n++) {
    const parts = (random.chance(0.6) ? [random.pick(types)] : types.filter(() => random.chance(0.7))).map((type) => ({
      type,
      where: generator.condition(),
    }));
    const sort = generator.sort();
    const count = random.chance(0.5) ? types.length * RESOURCES : 1 + random.below(random.chance(0.1) ? 5 : 50);
    const total = random.pick(['accurate', 'cheap', 'none'] as const);
    const include = random.chance(0.5) ? drawPlan(random, [...types, `${prefix}None`]) : undefined;
    const asked = {
      sort,
      count,
      total,
      ...(include !== undefined && { include }),
    };
    const what = [
      `seed ${seed}, query ${n}:`,
      ...parts.map(({ type, where }) => `${type} ${printCondition(where)}`),
      `by ${printSort(sort)}, ${count} a page, ${total}, with ${JSON.stringify(include)}`,
    ].join('\n');
    const expected = expectedOf(neighbourhood, parts).sort(compareAcross(sort)).map(({ type, id }) => `${type}/${id}`); // prettier-ignore
    found += expected.length;
    const totals = new Set<number | undefined>();
    const onPage = (page: FindPage): void => {
      totals.add(page.total);
      checkIncluded(page, include, neighbourhood, what);
    };
    const [first, ...others] = parts;
    const isOne = first !== undefined && others.length === 0 && random.chance(0.8);
    const walked = isOne
      ? walk(store, { ...first, ...asked }, onPage).then((list) => list.map((id) => `${first.type}/${id}`))
      : walkAcross(store, { parts, ...asked }, onPage);
    const places = await walked.catch((error: unknown) => {
      throw new Error(what, { cause: error });
    });
    expect(settledAcross(places, [...neighbourhood.living.values()], sort), what).toEqual(expected);
    // A cheap one may be unknown, but on all pages alike.
    if (total === 'cheap' && !totals.has(expected.length)) expect([...totals], what).toEqual([undefined]);
    else expect([...totals], what).toEqual([total === 'none' ? undefined : expected.length]);
  }
  expect(found, `seed ${seed}: something is found`).toBeGreaterThan(queries);
}

/** Makes resources that name each other by places, and random links: small pages together are what `matches` says, once each. */
export async function randomLinkWalks(store: Store, prefix: string, seed: number, queries: number): Promise<void> {
  const random = createRandom(seed);
  const types = ['A', 'B'].map((name) => prefix + name);
  const ids = Array.from({ length: RESOURCES }, (_, n) => `${random.pick(['a', 'B', '9'])}${n}`);
  const generator = createGenerator(random, ids, { types, urls: [`http://${prefix}`], hasCanonicals: false });
  const neighbourhood = await settle(store, random, types, ids, () => [
    ...generator.entries(),
    ...random.some(3, () => of('subject', reference({ type: random.pick(types), id: random.pick(ids) }))),
  ]);
  for (let n = 0; n < queries; n++) {
    const type = random.pick(types);
    let where = generator.condition();
    while (!('chain' in where || 'has' in where)) where = generator.condition();
    if (random.chance(0.3)) where = { all: [where, generator.condition()] };
    const asked = { type, where, sort: [], count: 1 + random.below(5), total: 'none' } as const; // prettier-ignore
    const what = `seed ${seed}, query ${n}: ${type} ${printCondition(where)}, ${asked.count} a page`;
    const found = await walk(store, asked).catch((error: unknown) => {
      throw new Error(what, { cause: error });
    });
    const expected = expectedOf(neighbourhood, [{ type, where }]).map(({ id }) => id).sort(compareText); // prettier-ignore
    expect(found, what).toEqual(expected);
  }
}

/** Makes, updates, deletes and revives; what lives in the end. */
export async function settle(
  store: Store,
  random: Random,
  types: readonly string[],
  ids: readonly string[],
  entriesOf: () => Neighbour['entries'],
): Promise<Neighbourhood> {
  const neighbourhood = createNeighbourhood();
  const places = types.flatMap((type) => ids.filter(() => random.chance(0.8)).map((id) => ({ type, id })));
  const versions = new Map<object, number>();
  for (let round = 0; round < 3; round++) {
    const changes = places
      .filter(() => round === 0 || random.chance(0.25))
      .map((place) => {
        const { type, id } = place;
        const version = versions.get(place) ?? 0;
        versions.set(place, version + 1);
        const isGone = neighbourhood.living.has(`${type}/${id}`) && random.chance(0.4);
        if (isGone) neighbourhood.living.delete(`${type}/${id}`);
        else neighbourhood.living.set(`${type}/${id}`, { type, id, version: 0, lastUpdated: 0, entries: entriesOf() });
        const entries = neighbourhood.living.get(`${type}/${id}`)?.entries;
        return entries === undefined ? deletion(id, version, type) : put(id, version, 'x', entries, type);
      });
    for (let at = 0; at < changes.length; at += 20) {
      for (const { type, id, version, lastUpdated, json } of await store.write(changes.slice(at, at + 20))) {
        if (json === undefined) continue;
        neighbourhood.versions.add(`${type}/${id}/${version}`);
        const place = `${type}/${id}`;
        neighbourhood.living.set(place, { ...neighbourhood.living.get(place)!, version, lastUpdated });
      }
    }
  }
  return neighbourhood;
}

/** What `matches` says. */
export function expectedOf(
  { living, neighboursOf }: Neighbourhood,
  parts: readonly { readonly type: string; readonly where: Parameters<typeof matches>[0] }[],
): Neighbour[] {
  const all = [...living.values()];
  return parts.flatMap(({ type, where }) => {
    const neighbours: Neighbours = neighboursOf(type);
    return all.filter((each) => each.type === type && matches(where, each, neighbours));
  });
}

/** Some directives. */
export function drawPlan({ pick, chance, some, below }: Random, types: readonly string[]): IncludePlan {
  const directives = [undefined, ...some(3, () => undefined)].map((): IncludeDirective => {
    const targets = chance(0.3) ? [pick(types), pick(types)] : undefined;
    return {
      isReverse: chance(0.5),
      source: pick(types),
      params: chance(0.5) ? ['subject', 'related'] : [pick(['subject', 'related'])],
      iterates: chance(0.5),
      ...(targets !== undefined && { targets }),
    };
  });
  return { directives, most: chance(0.8) ? 1000 : below(20), rounds: below(5) };
}

/** That with a page comes what its references lead to, or as much as may. */
export function checkIncluded(page: FindPage, plan: IncludePlan | undefined, near: Neighbourhood, what: string): void {
  if (plan === undefined) {
    expect(page, what).not.toHaveProperty('included');
    return;
  }
  const { names, isOver } = naiveIncludes(near, plan, page.versions);
  const included = namesOf(page)!;
  if (names.length > plan.most) {
    expect([new Set(included).size, page.cut], what).toEqual([plan.most, 'most']);
    expect(included.filter((name) => !names.includes(name)), what).toEqual([]); // prettier-ignore
  } else {
    expect(included, what).toEqual(names);
    expect(page.cut, what).toBe(isOver ? 'rounds' : undefined);
  }
}
