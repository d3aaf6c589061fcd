import { expect, it } from 'vitest';

import type { FhirError } from '../../../runtime/fhir/errors.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { StillReferred } from '../../../runtime/store/references.js';
import type { Change, Deletion, Put, Referrer, RequiredTarget } from '../../../runtime/store/store.js';
import { deletion, put, useStore, type Subject } from '../subject.js';

/** A resource that refers to others, and needs them. */
function referring(id: string, expected: number, ...to: readonly (Partial<RequiredTarget> & { id: string })[]): Put {
  const targets = to.map((each, n): RequiredTarget => ({ type: 'Patient', expression: `Basic.x[${n}]`, ...each }));
  const entries = targets
    .filter(({ version }) => version === undefined)
    .map(({ type, id: target }): IndexEntry => ({ kind: 'reference', param: 'subject', type, id: target }));
  return { ...put(id, expected, 'x', entries, 'Basic'), targets };
}

/** A deletion of what nobody may refer to, but for these. */
function unreferred(id: string, expected: number, ...except: readonly Referrer[]): Deletion {
  return {
    ...deletion(id, expected),
    unreferred: { types: ['Basic', 'Patient'], params: ['.refers', 'subject'], except },
  };
}

/** Writes whose references have to lead somewhere, and deletions of what nobody refers to. */
export function referenceBehaviour(on: Subject): void {
  const subject = useStore(on);
  const refusal = async (changes: readonly Change[]): Promise<readonly string[]> => {
    const before = await subject.store.history({ count: 50 });
    const error: unknown = await subject.store.write(changes).catch((thrown: unknown) => thrown);
    const after = await subject.store.history({ count: 50 });
    expect(after.versions).toEqual(before.versions);
    if (error instanceof StillReferred) return [`${error.deletion.type}/${error.deletion.id}`];
    const { code, issues } = error as FhirError;
    expect(code).toBe('reference-dangling');
    return issues.map(({ expression = '' }) => expression);
  };

  it('targets are there, or nothing is written and all that are missing are named', async () => {
    const { store } = subject;
    await store.write([put('a', 0), put('gone', 0)]);
    await store.write([deletion('gone', 1)]);
    await store.write([referring('r1', 0, { id: 'a' })]);
    const many = referring('r2', 0, { id: 'a' }, { id: 'gone' }, { id: 'none' }, { id: 'a', type: 'Basic' });
    expect(await refusal([many])).toEqual(['Basic.x[1]', 'Basic.x[2]', 'Basic.x[3]']);
    expect(await refusal([referring('r1', 1, { id: 'none' })])).toEqual(['Basic.x[0]']);
    expect(await refusal([put('b', 0), many])).toHaveLength(3);
    await store.write([referring('r1', 1, { id: 'a' })]);
    expect((await store.read('Basic', 'r1'))?.version).toBe(2);
  });

  it('versions are there, current and past, but not deletions', async () => {
    const { store } = subject;
    await store.write([put('a', 0)]);
    await store.write([put('a', 1, 'y')]);
    await store.write([deletion('a', 2)]);
    await store.write([put('a', 3, 'z')]);
    const versions = [1, 2, 4].map((version) => ({ id: 'a', version }));
    await store.write([referring('r', 0, ...versions)]);
    expect(await refusal([referring('r', 1, { id: 'a', version: 3 })])).toHaveLength(1);
    expect(await refusal([referring('r', 1, { id: 'a', version: 5 }, { id: 'a', version: 0 })])).toHaveLength(2);
  });

  it('what a write puts is there for all of it, what it deletes is not', async () => {
    const { store } = subject;
    await store.write([referring('r', 0, { id: 'new' }, { id: 'r', type: 'Basic' }), put('new', 0)]);
    expect(await refusal([deletion('new', 1), referring('s', 0, { id: 'new' })])).toEqual(['Basic.x[0]']);
    await store.write([deletion('new', 1)]);
    await store.write([referring('s', 0, { id: 'new', version: 3 }), put('new', 2), put('other', 0)]);
  });

  it('what is hidden is missing, unless the same write puts it', async () => {
    const { store } = subject;
    await store.write([put('a', 0)]);
    const hidden = { id: 'a', isHidden: true } as const;
    expect(await refusal([referring('r', 0, hidden)])).toHaveLength(1);
    expect(await refusal([referring('r', 0, hidden), put('b', 0)])).toHaveLength(1);
    await store.write([referring('r', 0, hidden), put('a', 1, 'y')]);
  });

  it('deletions that nobody may refer to wait for those who do, but for exceptions of this version', async () => {
    const { store } = subject;
    await store.write([put('a', 0), put('b', 0), referring('r', 0, { id: 'a' }), referring('v', 0, { id: 'b' })]);
    await store.write([referring('v', 1, { id: 'b', version: 1 })]);
    expect(await refusal([unreferred('a', 1)])).toEqual(['Patient/a']);
    expect(await refusal([unreferred('b', 1), unreferred('a', 1)])).toEqual(['Patient/a']);
    const exception = { type: 'Basic', id: 'r', version: 1 };
    expect(await refusal([unreferred('a', 1, { ...exception, version: 2 })])).toEqual(['Patient/a']);
    await store.write([unreferred('b', 1)]);
    await store.write([unreferred('a', 1, exception)]);
    expect((await store.read('Patient', 'a'))?.json).toBeUndefined();
  });

  it('who refers no more once a write is done hinders none of its deletions', async () => {
    const { store } = subject;
    const self = { ...referring('s', 0, { id: 's', type: 'Basic' }) };
    await store.write([put('a', 0), referring('r', 0, { id: 'a' }), referring('q', 0, { id: 'a' }), self]);
    await store.write([{ ...unreferred('s', 1), type: 'Basic' }]);
    expect(await refusal([unreferred('a', 1), deletion('r', 1, 'Basic')])).toEqual(['Patient/a']);
    expect(await refusal([unreferred('a', 1), deletion('r', 1, 'Basic'), referring('q', 1, { id: 'a' })])).toEqual([
      'Basic.x[0]',
    ]);
    await store.write([unreferred('a', 1), deletion('r', 1, 'Basic'), put('q', 1, 'y', [], 'Basic')]);
  });

  it('of a deletion and a write that needs what it deletes one is done', async () => {
    const { store } = subject;
    const others = on.isShared ? [store, await subject.reopen()] : [store, store];
    for (let n = 0; n < 20; n++) {
      await store.write([put(`t${n}`, 0)]);
      const [one, other] = n % 2 === 0 ? others : [...others].reverse();
      const results = await Promise.allSettled([
        one!.write([unreferred(`t${n}`, 1)]),
        other!.write([referring(`r${n}`, 0, { id: `t${n}`, isHeld: true })]),
      ]);
      const isThere = (await store.read('Patient', `t${n}`))?.json !== undefined;
      const refers = (await store.read('Basic', `r${n}`)) !== undefined;
      expect([results.filter(({ status }) => status === 'fulfilled').length, isThere]).toEqual([1, refers]);
    }
  });
}
