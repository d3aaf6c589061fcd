import { beforeEach, expect, it } from 'vitest';

import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import {
  expecting,
  type Amendment,
  type Change,
  type Store,
  type StoredVersion,
} from '../../../runtime/store/store.js';
import { of, query, token, walk } from '../search/behaviour-search-helpers.js';
import { deletion, put, useStore, type Subject } from '../subject.js';

/** That a version can get another content, and nothing else of it changes. */
export function amendBehaviour(on: Subject): void {
  const subject = useStore(on);
  let store: Store;
  beforeEach(() => {
    store = subject.store;
  });

  const tagged = (code: string): IndexEntry[] => [of('_tag', token(code))];
  const withTag = (code: string): Condition => ({ param: '_tag', any: [{ is: 'token', code }] });
  const found = (code: string): Promise<string[]> => walk(store, query('Patient', { where: withTag(code) }));
  const amendment = async (
    id: string,
    version: number,
    text: string,
    entries: IndexEntry[] = [],
  ): Promise<Amendment> => {
    const before = (await store.readVersion('Patient', id, version))?.json ?? '';
    const { body, content } = put(id, 0, text);
    return { type: 'Patient', id, version, before, body, content: content!, entries };
  };
  const textOf = async (id: string, version: number): Promise<unknown> =>
    (JSON.parse((await store.readVersion('Patient', id, version))?.json ?? '{}') as { text?: string }).text;

  it('the current version: content and index entries are the new ones, number and time those of before', async () => {
    const [written] = await store.write([put('a', 0, 'old', tagged('old'))]);
    expect(await store.amend(await amendment('a', 1, 'new', tagged('new')))).toBe(true);
    const now = await store.read('Patient', 'a');
    expect(now).toEqual({ ...written, amended: 1, json: written?.json?.replace('"old"', '"new"') });
    expect([await found('old'), await found('new')]).toEqual([[], ['a']]);
    const history = await store.history({ type: 'Patient', id: 'a', count: 10 });
    expect(history.versions).toMatchObject([{ version: 1, json: now?.json }]);
    expect(await store.counts()).toEqual(new Map([['Patient', 1]]));
    if (on.isShared) expect(await (await subject.reopen()).read('Patient', 'a')).toEqual(now);
  });

  it('a past version: only its content; the next write goes on as ever', async () => {
    await store.write([put('a', 0, 'one', tagged('one'))]);
    await store.write([put('a', 1, 'two', tagged('two'))]);
    expect(await store.amend(await amendment('a', 1, 'uno', tagged('uno')))).toBe(true);
    expect([await textOf('a', 1), await textOf('a', 2)]).toEqual(['uno', 'two']);
    expect([await found('one'), await found('uno'), await found('two')]).toEqual([[], [], ['a']]);
    const [third] = await store.write([put('a', 2, 'three')]);
    expect(third?.version).toBe(3);
    expect((await store.history({ type: 'Patient', id: 'a', count: 10 })).versions).toHaveLength(3);
  });

  it('nothing where the version is not there, is a deletion, or has another content by now', async () => {
    await store.write([put('a', 0, 'one')]);
    const stale = await amendment('a', 1, 'new');
    expect(await store.amend(await amendment('a', 1, 'other'))).toBe(true);
    expect(await store.amend(stale)).toBe(false);
    expect(await textOf('a', 1)).toBe('other');
    expect(await store.amend(await amendment('a', 2, 'new'))).toBe(false);
    expect(await store.amend(await amendment('none', 1, 'new'))).toBe(false);
    await store.write([{ ...deletion('a', 1), amended: 1 }]);
    expect(await store.amend(await amendment('a', 2, 'new'))).toBe(false);
    expect(await store.amend({ ...(await amendment('a', 1, 'late')) })).toBe(true);
    expect((await store.read('Patient', 'a'))?.json).toBeUndefined();
  });

  const read = async (): Promise<StoredVersion> => (await store.read('Patient', 'a'))!;
  const conflict = { name: 'VersionConflict', expected: 1, actual: 1 };

  it.each<[string, (of: StoredVersion | undefined) => readonly Change[]]>([
    ['an update', (of) => [{ ...put('a', 0, 'mine'), ...expecting(of) }]],
    ['a deletion', (of) => [{ ...deletion('a', 0), ...expecting(of) }]],
    ['one of several changes', (of) => [put('b', 0, 'mine'), { ...put('a', 0, 'mine'), ...expecting(of) }]],
    [
      'two changes of one resource',
      (of) => [{ ...put('a', 0, 'mine'), ...expecting(of) }, put('a', (of?.version ?? 0) + 1, 'and again')],
    ],
  ])('%s that was decided on what was there before is refused, and nothing of it is done', async (_name, changes) => {
    await store.write([put('a', 0, 'one')]);
    const others = on.isShared ? await subject.reopen() : store;
    for (const text of ['label', 'another', 'one']) {
      const before = await read();
      expect(await others.amend(await amendment('a', 1, text, tagged(text)))).toBe(true);
      await expect(store.write(changes(before))).rejects.toMatchObject(conflict);
      expect([await textOf('a', 1), await found(text)]).toEqual([text, ['a']]);
    }
    expect(await store.read('Patient', 'b')).toBeUndefined();
    const written = await store.write(changes(await read()));
    expect(written.at(-1)?.version).toBe(1 + written.filter(({ id }) => id === 'a').length);
    // The next version was never amended.
    if ((await read()).json !== undefined) await store.write([put('a', (await read()).version, 'next')]);
  });

  it('what searches and reads of several found is as good as what a read found', async () => {
    await store.write([put('a', 0, 'one')]);
    await store.amend(await amendment('a', 1, 'label', tagged('label')));
    const page = await store.find(query('Patient', { where: withTag('label') }));
    const all = await store.findMultiType({ parts: [{ type: 'Patient', where: withTag('label') }], sort: [], count: 9, total: 'none' }); // prettier-ignore
    const many = await store.readMany([{ type: 'Patient', id: 'a' }]);
    const one = await store.readVersion('Patient', 'a', 1);
    for (const each of [page.versions[0], all.versions[0], many[0], one]) expect(each).toEqual(await read());
    await store.write([{ ...put('a', 0, 'two'), ...expecting(page.versions[0]) }]);
    // A version keeps the number when another follows.
    expect((await store.readVersion('Patient', 'a', 1))?.amended).toBe(1);
    await store.amend(await amendment('a', 1, 'uno'));
    expect((await store.readVersion('Patient', 'a', 1))?.amended).toBe(2);
    await store.expunge({ type: 'Patient', id: 'a', current: true, limit: 9 });
    await store.write([put('a', 0, 'anew')]);
    expect(await store.write([put('a', 1, 'and on')])).toHaveLength(1);
  });

  it('index entries that were made of what was there before are left alone', async () => {
    await store.write([put('a', 0, 'one', tagged('one')), put('b', 0, 'one', tagged('one'))]);
    const [a, b] = await store.readMany(['a', 'b'].map((id) => ({ type: 'Patient', id })));
    await store.amend(await amendment('a', 1, 'label', tagged('label')));
    const again = [a!, b!].map(({ type, id, version }) => ({ type, id, version, entries: tagged('again') }));
    expect(await store.reindex(again)).toBe(1);
    expect([await found('label'), await found('again')]).toEqual([['a'], ['b']]);
    expect(await store.reindex([{ ...again[0]!, amended: 1 }])).toBe(1);
    expect([await found('label'), await found('again')]).toEqual([[], ['a', 'b']]);
  });

  it('of the current version alone, where that is asked for', async () => {
    await store.write([put('a', 0, 'one')]);
    const first = { ...(await amendment('a', 1, 'uno')), isCurrent: true as const };
    await store.write([put('a', 1, 'two')]);
    expect(await store.amend(first)).toBe(false);
    expect(await textOf('a', 1)).toBe('one');
    expect(await store.amend({ ...(await amendment('a', 2, 'due')), isCurrent: true })).toBe(true);
  });

  it('at once with others: every amendment and every write is there in the end', async () => {
    await store.write([put('a', 0, '', tagged('start'))]);
    const append = async (word: string): Promise<void> => {
      for (;;) {
        const { version = 0, json = '' } = (await store.read('Patient', 'a')) ?? {};
        const { text } = JSON.parse(json) as { text: string };
        const { body, content } = put('a', 0, `${text}${word}`);
        const amended = {
          type: 'Patient',
          id: 'a',
          version,
          isCurrent: true as const,
          before: json,
          body,
          content: content!,
          entries: tagged(word),
        };
        if (await store.amend(amended)) return;
      }
    };
    const update = async (word: string): Promise<void> => {
      for (;;) {
        const read = await store.read('Patient', 'a');
        const { text } = JSON.parse(read?.json ?? '') as { text: string };
        try {
          await store.write([{ ...put('a', 0, `${text}${word}`, tagged(word)), ...expecting(read) }]);
          return;
        } catch (error) {
          if ((error as Error).name !== 'VersionConflict') throw error;
        }
      }
    };
    const words = ['a', 'b', 'c', 'd', 'e', 'f'];
    await Promise.all(words.map((word, i) => (i % 2 === 0 ? append(word) : update(word))));
    const { version, json = '' } = (await store.read('Patient', 'a'))!;
    expect(version).toBe(4);
    expect([...(JSON.parse(json) as { text: string }).text].sort()).toEqual(words);
  });
}
