import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { OWN } from '../../../toy/own.js';
import { tables } from '../../../../generated/tables.js';
import { createIntegrity } from '../../../../runtime/core/references/integrity.js';
import type { Definitions } from '../../../../runtime/core/definitions/definitions.js';
import type { Store } from '../../../../runtime/store/store.js';
import { openStore } from '../../../contract/open-store.js';
import { createRandom } from '../../../contract/random.js';
import type { Subject } from '../../../contract/subject.js';
import { requestMaker, type LeakRequest } from './leak-requests.js';
import { twinOn, type Asked, type Instants, type Twin } from './leak-server.js';
import { definitionsOn, settleIndex } from './leak-parameters.js';
import { makeTwin, makeWorld, POLICIES } from './leak-twins.js';
import { valuesOf } from './leak-values.js';
import type { Draft } from './leak-world.js';

/** References that clients write have to lead somewhere. */
const WRITTEN = createIntegrity({ mode: 'written', paths: {} }, { tables, own: OWN, isShipped: () => false });

/** For many requests on a machine that has other things to do, in milliseconds. */
const PATIENCE = 120_000;

/**
 * A client learns nothing of what it does not see: two servers that differ in that alone answer it alike, whatever it asks
 * and however it goes through the pages. For each policy; those that only read share one of the two servers.
 *
 * @param requests so many for each policy
 */
export function leaksNothing(subject: Place, seed: number, requests: number): void {
  const shared = useTwin(subject, makeWorld(seed, undefined), seed);

  describe.each(POLICIES.map((policy, n) => ({ ...policy, n })))('what $name does not show', ({ n: at, ...policy }) => {
    const { writes, scopes } = policy;
    const one = writes === undefined ? shared : useTwin(subject, makeWorld(seed, writes), seed);
    const other = useTwin(subject, makeTwin(policy, one.drafts, seed), seed, one.drafts);
    const twins = [one.twin, other.twin] as const;

    beforeAll(() => {
      const [names, others] = twins.map(({ instants }) => namesOf(instants)) as [Names, Names];
      const both = [...names].filter(([version]) => others.has(version)).map(([, name]) => name);
      for (const twin of twins) twin.share(both);
    });

    it(
      `answers it alike (seed ${seed})`,
      async () => {
        const next = requestMaker(policy, createRandom(seed + at), valuesOf([...one.drafts, ...other.drafts]));
        let good = 0;
        for (let n = 0; n < requests; n++) {
          const request = next();
          const [here, there] = await askBoth(twins, request, scopes);
          const asked = `${n}: ${request.method} ${request.path} ${request.body ?? ''}`;
          expect(difference(here.alike, there.alike), asked).toBeUndefined();
          if (here.status < 300) good++;
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
      const [here, there] = await askBoth(twins, all, 'system/*.rs');
      expect(here.status).toBe(200);
      expect(here.alike).not.toBe(there.alike);
    });
  });
}

/** Where empty stores are. */
type Place = Pick<Subject, 'url' | 'drop'>;

/** Names of versions. */
type Names = ReadonlyMap<object, string>;

function namesOf(instants: Instants): Names {
  return new Map([...instants].map(([version, { name }]) => [version, name]));
}

/**
 * A twin whose server runs, with these resources, while the tests of the suite run.
 *
 * @param told what events of Subscriptions are about; absent: its own resources, and there are jobs of another client
 */
function useTwin(
  subject: Place,
  drafts: readonly Draft[],
  seed: number,
  told?: readonly Draft[],
): { readonly twin: Twin; readonly drafts: readonly Draft[] } {
  const { store, definitions } = useStore(subject);
  // Where deletions are refused too, they tell that others refer, by intent.
  const twin = twinOn(store, drafts, definitions, told ?? drafts, seed % 3 === 2 ? WRITTEN : undefined);
  beforeAll(async () => {
    await twin.arrange();
    await settleIndex(store, definitions(), seed % 2 === 0 ? undefined : 'Encounter.x-when');
    await twin.startJobs(told === undefined);
  }, PATIENCE);
  return { twin, drafts };
}

/** A store that is open while the tests of the suite run, and its definitions. */
function useStore(subject: Place): { readonly store: Store; readonly definitions: () => Definitions } {
  let url: string;
  let definitions: Definitions | undefined;
  beforeAll(async () => {
    url = subject.url('');
    definitions = await definitionsOn(await openStore(url));
  });
  afterAll(async () => {
    await definitions?.store.close();
    await subject.drop?.(url);
  });
  return {
    store: late(() => definitions?.store),
    definitions: () => definitions!,
  };
}

/** An object that is there when it is used; before, parts of it may be taken that are used later. */
function late<T extends object>(find: () => T | undefined): T {
  const get = (_: unknown, name: string | symbol): unknown => {
    const found = find();
    return found === undefined ? late(() => partOf(find(), name)) : partOf(found, name);
  };
  return new Proxy<object>({}, { get }) as T;
}

function partOf(whole: object | undefined, name: string | symbol): object | undefined {
  return whole === undefined ? undefined : (Reflect.get(whole, name) as object | undefined);
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
