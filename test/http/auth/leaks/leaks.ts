import { afterAll, beforeAll, expect, it } from 'vitest';

import type { Definitions } from '../../../../runtime/core/definitions/definitions.js';
import type { Store } from '../../../../runtime/store/store.js';
import { createRandom } from '../../../contract/random.js';
import { requestMaker, type LeakRequest } from './leak-requests.js';
import { twinOn, type Asked, type Instants, type Twin } from './leak-server.js';
import { definitionsOn, settleIndex } from './leak-parameters.js';
import { makeTwins, type Policy } from './leak-twins.js';
import { valuesOf } from './leak-values.js';

/** For many requests on a machine that has other things to do, in milliseconds. */
const PATIENCE = 120_000;

/**
 * A client learns nothing of what it does not see: two servers that differ in that alone answer it alike, whatever it asks
 * and however it goes through the pages.
 */
export function leaksNothing(policy: Policy, open: () => Promise<Store>, seed: number, requests: number): void {
  const drafts = makeTwins(policy, seed);
  const stores = [useStore(open), useStore(open)];
  const twins = drafts.map((each, i) => twinOn(stores[i]!.store, each, stores[i]!.definitions)) as [Twin, Twin];

  beforeAll(async () => {
    await Promise.all(twins.map((twin) => twin.arrange()));
    const stale = seed % 2 === 0 ? undefined : 'Encounter.x-when';
    for (const { store, definitions } of stores) await settleIndex(store, definitions(), stale);
    const instants = twins.map((twin) => twin.instants) as [Instants, Instants];
    const shared = [...instants[0]].filter(([version]) => instants[1].has(version)).map(([, { name }]) => name);
    for (const twin of twins) twin.share(shared);
  }, PATIENCE);

  it(
    `answers it alike (seed ${seed})`,
    async () => {
      const next = requestMaker(policy, createRandom(seed), valuesOf([...drafts[0], ...drafts[1]]));
      let good = 0;
      for (let n = 0; n < requests; n++) {
        const request = next();
        const [one, other] = await askBoth(twins, request, policy.scopes);
        const told = `${n}: ${request.method} ${request.path} ${request.body ?? ''}`;
        expect(difference(one.alike, other.alike), told).toBeUndefined();
        if (one.status < 300) good++;
        for (const twin of twins) await twin.tidy();
      }
      for (const twin of twins) expect(twin.server.defects).toEqual([]);
      // Else nothing was asked but what is refused.
      expect(good).toBeGreaterThan(0);
    },
    PATIENCE,
  );

  it('differs for who sees all', async () => {
    const all: LeakRequest = { method: 'GET', path: '/_history?_count=1000', headers: {} };
    const [one, other] = await askBoth(twins, all, 'system/*.rs');
    expect(one.status).toBe(200);
    expect(one.alike).not.toBe(other.alike);
  });
}

/** A store that is open while the tests of the suite run, and its definitions. */
function useStore(open: () => Promise<Store>): { readonly store: Store; readonly definitions: () => Definitions } {
  let definitions: Definitions | undefined;
  beforeAll(async () => void (definitions = await definitionsOn(await open())));
  afterAll(() => definitions?.store.close());
  return {
    store: new Proxy({} as Store, { get: (_, name) => Reflect.get(definitions!.store, name) as unknown }),
    definitions: () => definitions!,
  };
}

/** Asks both for up to four pages. */
async function askBoth(twins: readonly [Twin, Twin], request: LeakRequest, scopes: string): Promise<[Asked, Asked]> {
  const pages: [Asked[], Asked[]] = [[], []];
  let paths: (string | undefined)[] = [request.path, request.path];
  for (let n = 0; n < 4 && paths.every((path) => path !== undefined); n++) {
    const asked = await Promise.all(
      twins.map((twin, i) => twin.ask(n === 0 ? request : { method: 'GET', path: paths[i]!, headers: {} }, scopes)),
    );
    for (const i of [0, 1] as const) pages[i].push(asked[i]!);
    paths = asked.map(({ next }) => next);
  }
  return pages.map((all) =>
    joined(
      all,
      pages.some((each) => each.some(lacksTotal)),
    ),
  ) as [Asked, Asked];
}

/** Where two texts begin to differ. */
function difference(one: string, other: string): readonly string[] | undefined {
  if (one === other) return undefined;
  let at = 0;
  while (one[at] === other[at]) at++;
  return [one, other].map((text) => text.slice(Math.max(0, at - 200), at + 300));
}

const TOTAL = /"total":\d+,(?="link")/g;

/** Whether it was not counted how many match: the store does that where it is quick. */
function lacksTotal({ alike }: Asked): boolean {
  return (alike.match(TOTAL)?.length ?? 0) < (alike.match(/"link":/g)?.length ?? 0);
}

function joined(pages: readonly Asked[], leavesTotals: boolean): Asked {
  const alike = pages.map((page) => page.alike).join('\n');
  return { ...pages[0]!, alike: leavesTotals ? alike.replace(TOTAL, '') : alike };
}
