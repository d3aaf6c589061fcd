import { expect, it } from 'vitest';

import { narrowIncludes } from '../../../runtime/auth/access/narrow-includes.js';
import { narrowMultiType } from '../../../runtime/auth/access/narrow-search.js';
import type { Access } from '../../../runtime/auth/scopes/access.js';
import { commonReach, eitherReach, type Reach } from '../../../runtime/auth/scopes/reach.js';
import { matches } from '../../../runtime/search/query/match.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import type { FindPage, IncludePlan, Store } from '../../../runtime/store/store.js';
import { compareAcross, settledAcross, walkAcross } from './behaviour-search-across.js';
import { createGenerator, type Generator } from './behaviour-search-generator.js';
import { sharedStore, walk } from './behaviour-search-helpers.js';
import { checkIncluded, drawPlan, expectedOf, RESOURCES, settle } from './behaviour-search-link-random.js';
import { createNeighbourhood, type Neighbourhood } from './neighbourhood.js';
import { createRandom, seedOfRun, type Random } from '../random.js';
import type { Subject } from '../subject.js';

/** Random searches of clients with random scopes; `test:long` has thousands. */
export function searchScopesRandomBehaviour(on: Subject, queries = 20): void {
  const subject = sharedStore(on);

  it('within scopes find what they would find if the rest did not exist', async () => {
    await randomScopes(subject.store, 'Scope', seedOfRun(), queries, 12);
  }, 60_000);
}

/**
 * Random searches with links and includes, narrowed to random scopes. Each has to show what it would show, with that total, if all
 * that lies outside of the scopes had been taken away before.
 *
 * @param prefix as in `randomLinks`
 */
export async function randomScopes(
  store: Store,
  prefix: string,
  seed: number,
  queries: number,
  resources = RESOURCES,
): Promise<void> {
  const random = createRandom(seed);
  const types = ['A', 'B', 'C'].map((name) => prefix + name);
  const ids = Array.from({ length: resources }, (_, n) => `${random.pick(['a', 'B', '9'])}${n}`);
  const urls = ['', '/b', '/b/c', '/bc'].map((path) => `http://${prefix}${path}`);
  const generator = createGenerator(random, [...ids, 'none'], { types, urls });
  const all = await settle(store, random, types, ids, () => generator.entries());
  let found = 0;
  for (let n = 0; n < queries; n++) {
    const access = drawAccess(random, types, generator, ids);
    const where = {
      parts: types.filter(() => random.chance(0.6)).map((type) => ({ type, where: generator.condition() })),
    };
    const narrowed = narrowMultiType(where.parts, access);
    if (narrowed.is === 'refused') continue;
    const seen = visible(all, access);
    const sort = generator.sort();
    const total = random.pick(['accurate', 'cheap'] as const);
    const count = random.chance(0.5) ? types.length * resources : 1 + random.below(20);
    const plan = random.chance(0.7) ? drawPlan(random, types) : undefined;
    const include: IncludePlan | undefined = plan && {
      ...plan,
      directives: narrowIncludes(plan.directives, access, types),
    };
    const what = [
      `seed ${seed}, query ${n}, ${JSON.stringify({ sort, count, total, plan, include })}`,
      ...narrowed.parts.map((part) => `${part.type} ${printCondition(part.where)}`),
    ].join('\n');
    const searched = where.parts.filter(({ type }) => access.on(type, 's') !== 'nothing');
    const expected = expectedOf(seen, searched).sort(compareAcross(sort)).map(({ type, id }) => `${type}/${id}`); // prettier-ignore
    found += expected.length;
    const totals = new Set<number | undefined>();
    const onPage = (page: FindPage): void => {
      totals.add(page.total);
      checkIncluded(page, plan, seen, what);
    };
    const [first, ...others] = narrowed.parts;
    const asked = { sort, count, total, ...(include !== undefined && { include }) };
    const places =
      first !== undefined && others.length === 0
        ? (await walk(store, { ...first, ...asked }, onPage)).map((id) => `${first.type}/${id}`)
        : await walkAcross(store, { ...narrowed, ...asked }, onPage);
    expect(settledAcross(places, [...all.living.values()], sort), what).toEqual(expected);
    if (total === 'accurate' || totals.has(expected.length)) expect([...totals], what).toEqual([expected.length]);
    else expect([...totals], what).toEqual([undefined]);
  }
  expect(found, `seed ${seed}: something is found`).toBeGreaterThan(queries / 2);
}

/** Of each type everything, nothing, or what fulfils a condition without links, whatever the letter. */
function drawAccess(
  { chance, pick }: Random,
  types: readonly string[],
  generator: Generator,
  ids: readonly string[],
): Access {
  const draw = (): Reach => {
    if (chance(0.4)) return 'everything';
    if (chance(0.2)) return 'nothing';
    if (chance(0.4)) return { ids: ids.filter(() => chance(0.5)) };
    // Without depth there are no links.
    const [one, other] = [generator.condition(0), generator.condition(0)];
    return pick([one, { not: one }, { some: [one, { not: other }] }]);
  };
  const reaches = new Map(types.map((type) => [type, draw()]));
  const on = (type: string): Reach => reaches.get(type) ?? 'nothing';
  return {
    on: (type, letters) => commonReach([...letters].map(() => on(type))),
    onAny: (type, anyOf) => eitherReach(anyOf.map(() => on(type))),
    isWhole: (type) => on(type) === 'everything',
    holds: () => false,
  };
}

/** What is left of a neighbourhood. Of what a condition decides on, the current versions alone can be told. */
function visible({ living, versions }: Neighbourhood, access: Access): Neighbourhood {
  const seen = createNeighbourhood();
  for (const [name, each] of living) {
    const reach = access.on(each.type, 's');
    if (reach === 'nothing' || (reach !== 'everything' && !matches(reach, each))) continue;
    seen.living.set(name, each);
    seen.versions.add(`${name}/${each.version}`);
  }
  for (const version of versions) if (access.isWhole(version.split('/')[0]!, 's')) seen.versions.add(version);
  return seen;
}
