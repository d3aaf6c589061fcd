import { describe, expect, it } from 'vitest';

import type { IndexEntry } from '../../runtime/indexing/entry.js';
import { localParam } from '../../runtime/indexing/parameter-kinds.js';
import type { Condition } from '../../runtime/search/query/query.js';
import { containedType } from '../../runtime/store/contained-resources.js';
import { LINK_LIMITS } from '../../runtime/store/mongo/query/links/limits.js';
import { withoutAbsent } from '../../runtime/store/mongo/query/links/contained-types.js';
import { referenceParam } from '../../runtime/store/mongo/bson/index-rows.js';
import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import type { Snapshot } from '../../runtime/store/mongo/read/snapshot.js';
import { describeOnMongod } from '../mongod/for-tests.js';
import { of, query, reference, token, uri, walk } from './search/behaviour-search-helpers.js';
import { onEmptiedMongo } from './on-mongo.js';
import { put, useStore } from './subject.js';

const urgent: Condition = { param: 'code', any: [{ is: 'token', code: 'urgent' }] };

/** As `intoContained` makes them: on each level two ways to the same. */
function chain(links: number, where: Condition = urgent): Condition {
  if (links === 0) return where;
  const inner = chain(links - 1, where);
  const plain = { param: 'next', chain: [{ type: 'Task', where: inner }] };
  return { some: [plain, { param: localParam('next'), chain: [{ type: containedType('Task'), where: inner }] }] };
}

describeOnMongod('chains into what is within resources in MongoDB', () => {
  const subject = useStore(onEmptiedMongo);
  const TASKS = 150;
  const few = { ...LINK_LIMITS, few: 5, sorted: 5 };

  it.each([
    ['where all sides are long', few, urgent, TASKS],
    ['where the last side is short', LINK_LIMITS, { ids: ['t100', 't101'] }, 2],
    ['where nothing is there', LINK_LIMITS, { param: 'code', any: [{ is: 'token', code: 'none' }] } as const, 0],
  ])('take commands by their links, not by the ways through them: %s', async (_when, linkLimits, where, found) => {
    const own = { type: 'Task', id: 'm', entries: [of('code', token('urgent'))] };
    const tasks = Array.from({ length: TASKS }, (_, n) => {
      const next = of('next', reference({ type: 'Task', id: `t${(n + 1) % TASKS}` }));
      return put(`t${n}`, 0, 'x', [of('code', token('urgent')), next], 'Task');
    });
    await subject.store.write([...tasks, { ...put('b', 0, 'x', [], 'Basic'), contained: [own] }]);
    const commandsOf = async (links: number): Promise<number> => {
      let commands = 0;
      const store = subject.keep(await openMongoStore(subject.url, { linkLimits, onCommand: () => commands++ }));
      // What types of members there are is known from now on.
      await walk(store, query('Task', { where: chain(1) }));
      commands = 0;
      expect(await walk(store, query('Task', { where: chain(links, where) }))).toHaveLength(found);
      return commands;
    };
    const [two, four, eight] = [await commandsOf(2), await commandsOf(4), await commandsOf(8)];
    expect(four).toBeLessThanOrEqual(2.5 * two);
    expect(eight).toBeLessThanOrEqual(5 * two);
  });

  it('find by URLs, which one command looks for in all parameters of a chain', async () => {
    const tasks = [
      put('t0', 0, 'x', [of('code', token('urgent')), of('url', uri('urn:t0'))], 'Task'),
      put('t1', 0, 'x', [of('next', reference({ url: 'urn:t0' }))], 'Task'),
      put('t2', 0, 'x', [of('next', reference({ type: 'Task', id: 't1' }))], 'Task'),
      put('t3', 0, 'x', [of('next', reference({ type: 'Task', id: 't2' }))], 'Task'),
    ];
    await subject.store.write(tasks);
    const onward = (links: number): Condition =>
      links === 0 ? urgent : { param: 'next', chain: [{ type: 'Task', where: onward(links - 1) }] };
    const named = { param: 'next', chain: [{ type: 'Task', where: { ids: ['t0'] } }] };
    let others = 0;
    const search = async (isNameable: boolean, where: Condition): Promise<[string[], number]> => {
      let commands = 0;
      const options = { isNameable: () => isNameable, onCommand: () => commands++ };
      const store = subject.keep(await openMongoStore(subject.url, options));
      const one = query('Task', { where });
      await walk(store, one);
      // What was answered is of another moment then.
      await subject.store.write([put(`other${others++}`, 0, 'x', [], 'Basic')]);
      commands = 0;
      const found = await walk(store, one);
      return [found, commands];
    };
    expect((await search(true, onward(1)))[0]).toEqual(['t1']);
    expect((await search(true, onward(2)))[0]).toEqual(['t2']);
    // Where canonicals name nothing of a type, they lead to nothing of it.
    expect((await search(false, onward(1)))[0]).toEqual([]);

    await subject.store.write([{ ...put('t1', 1, 'x', [of('next', reference({ type: 'Task', id: 't0' }))], 'Task') }]);
    await subject.store.write([{ ...put('t2', 1, 'x', [of('next', reference({ type: 'Task', id: 't1' }))], 'Task') }]);
    const [found, least] = await search(false, onward(3));
    expect(found).toEqual(['t3']);
    expect(await search(true, onward(3))).toEqual([['t3'], least + 1]);
    expect((await search(true, named))[0]).toEqual(['t1']);
  });

  it('what leads to the other side is looked for first, and URLs where there is something', async () => {
    const link = (id: string): readonly IndexEntry[] => [of('next', reference({ type: 'Task', id }))];
    await subject.store.write([
      put('t0', 0, 'x', [of('code', token('urgent'))], 'Task'),
      put('t1', 0, 'x', link('t0'), 'Task'),
      put('t2', 0, 'x', link('t1'), 'Task'),
    ]);
    let others = 0;
    const looks: boolean[] = [];
    const onCommand = (_name: string, command: object): void => void looks.push(JSON.stringify(command).includes(referenceParam('next', 'url'))); // prettier-ignore
    const store = subject.keep(await openMongoStore(subject.url, { isNameable: () => true, onCommand }));
    const behind = (where: Condition): Condition => ({ param: 'next', chain: [{ type: 'Task', where }] });
    const search = async (where: Condition): Promise<readonly string[]> => {
      // What was answered is of another moment then.
      await subject.store.write([put(`other${others++}`, 0, 'x', [], 'Basic')]);
      looks.length = 0;
      return walk(store, query('Task', { where: behind(behind(where)) }));
    };
    expect(await search(urgent)).toEqual(['t2']);
    // So that it is known of which moment it is: what was found out of that is not asked again.
    expect(looks.indexOf(true)).toBeGreaterThan(0);
    expect(await search({ param: 'code', any: [{ is: 'token', code: 'none' }] })).toEqual([]);
    expect(looks).not.toContain(true);
  });
});

describe('the types of members that there are', () => {
  const holding = (...types: readonly string[]): Snapshot => {
    const rows = types.map((_id) => ({ _id }));
    const answer = { aggregate: () => Promise.resolve(rows), find: () => Promise.resolve({ documents: rows, isCut: false }) }; // prettier-ignore
    return answer as unknown as Snapshot;
  };
  const [there, none] = [holding(containedType('Task')), holding()];

  it('of which there are none are not asked for', async () => {
    expect(JSON.stringify(await withoutAbsent(there, chain(1)))).toContain(containedType('Task'));
    expect(JSON.stringify(await withoutAbsent(none, chain(1)))).not.toContain(containedType('Task'));
  });
});
