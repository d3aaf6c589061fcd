import { beforeEach, expect, it } from 'vitest';

import type { IndexEntry } from '../../../runtime/search/entry.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import type { Amendment, Store } from '../../../runtime/store/store.js';
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
    expect(now).toEqual({ ...written, json: written?.json?.replace('"old"', '"new"') });
    expect([await found('old'), await found('new')]).toEqual([[], ['a']]);
    const history = await store.history({ type: 'Patient', id: 'a', count: 10 });
    expect(history.versions).toEqual([now]);
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
    await store.write([deletion('a', 1)]);
    expect(await store.amend(await amendment('a', 2, 'new'))).toBe(false);
    expect(await store.amend({ ...(await amendment('a', 1, 'late')) })).toBe(true);
    expect((await store.read('Patient', 'a'))?.json).toBeUndefined();
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
        const { version = 0, json = '' } = (await store.read('Patient', 'a')) ?? {};
        const { text } = JSON.parse(json) as { text: string };
        try {
          await store.write([put('a', version, `${text}${word}`, tagged(word))]);
          return;
        } catch (error) {
          if ((error as Error).name !== 'VersionConflict') throw error;
        }
      }
    };
    const words = ['a', 'b', 'c', 'd', 'e', 'f'];
    await Promise.all(words.map((word, i) => (i % 2 === 0 ? append(word) : update(word))));
    const { version, json = '' } = (await store.read('Patient', 'a'))!;
    // A write that read before an amendment replaces what that said, as any later version does; nothing is half there.
    expect(version).toBe(4);
    expect((JSON.parse(json) as { text: string }).text.length).toBeGreaterThanOrEqual(3);
  });
}
