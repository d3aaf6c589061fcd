// What child processes of the tests of guards do.
import { FhirError } from '../../../runtime/fhir/errors.js';
import { commit, type Decision } from '../../../runtime/core/write/commit.js';
import { PreconditionConflict, type Change, type Precondition, type Store } from '../../../runtime/store/store.js';

/** A guard: those who have this identifier are these. */
export function identified(code: string, found: readonly string[] = []): Precondition {
  return { type: 'Patient', where: { param: 'identifier', any: [{ is: 'token', system: 'urn:s', code }] }, found };
}

/** A resource with this identifier. */
export function holder(id: string, code: string, expected = 0): Change {
  const head = `{"resourceType":"Patient","id":"${id}","meta":{`;
  const content = { resourceType: 'Patient', id, text: code };
  const entries = [{ kind: 'token' as const, param: 'identifier', system: 'urn:s', code }];
  return { type: 'Patient', id, expected, body: { head, tail: `},"text":"${code}"}` }, content, entries };
}

/** Changes of the write that is killed. */
export const LARGE = 50;

/** An update, a deletion and many creations, all of them with guards. */
export function largeWrite(): { readonly changes: readonly Change[]; readonly guards: readonly Precondition[] } {
  const created = Array.from({ length: LARGE - 2 }, (_, n) => `n${n}`);
  return {
    changes: [
      holder('a', 'moved', 1),
      { type: 'Patient', id: 'gone', expected: 1 },
      ...created.map((id) => holder(id, id)),
    ],
    guards: [identified('a', ['a']), identified('gone', ['gone']), ...created.map((id) => identified(id))],
  };
}

async function idsOf(store: Store, guard: Precondition): Promise<readonly string[]> {
  const { versions } = await store.find({ ...guard, sort: [], count: 9, total: 'none' });
  return versions.map(({ id }) => id);
}

/** What a client does that is told to try again: on a slow machine too many stand before it. */
async function persistent<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof FhirError) || error.code !== 'store-busy') throw error;
    }
  }
}

/** Roles of processes called `name`, that do something `count` times. */
export function guardRoles(store: Store, name: string, count: number) {
  const each = Array.from({ length: count }, (_, n) => n);

  /** Conditional creations of one criterion, all at once. */
  async function createOnce() {
    const decide = async (n: number): Promise<Decision<string>> => {
      const [id] = await idsOf(store, identified('one'));
      if (id !== undefined) return { changes: [], result: id };
      const own = `${name}-${n}`;
      return { changes: [holder(own, 'one')], preconditions: [identified('one')], result: own };
    };
    const done = await Promise.all(each.map((n) => persistent(() => commit(store, ['Patient?one'], () => decide(n)))));
    return { ids: [...new Set(done.map(({ result }) => result))] };
  }

  /** Conditional updates of one criterion, all at once. */
  async function updateOne() {
    const decide = async (n: number): Promise<Decision<string>> => {
      const guard = identified('one');
      const [id] = await idsOf(store, guard);
      if (id === undefined)
        return { changes: [holder(`${name}-${n}`, 'one')], preconditions: [guard], result: 'created' };
      const before = await store.read('Patient', id);
      return {
        changes: [holder(id, 'one', before!.version)],
        preconditions: [identified('one', [id])],
        result: 'updated',
      };
    };
    const done = await Promise.all(each.map((n) => persistent(() => commit(store, ['Patient?one'], () => decide(n)))));
    return { results: done.map(({ result }) => result) };
  }

  /** Writes that all expect that nobody wrote before, all at once, without taking turns above the store. */
  async function writeOnce() {
    const write = (n: number) => persistent(() => store.write([holder(`${name}-${n}`, 'one')], [identified('one')]));
    const all = await Promise.allSettled(each.map(write));
    const failed = all.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    const other = failed.find((error) => !(error instanceof PreconditionConflict));
    if (other !== undefined) throw other as Error;
    return { won: count - failed.length };
  }

  /** Writes that forbid those of another process, whose names are the same but for the first letter. */
  async function cross() {
    const other = name === 'x' ? 'y' : 'x';
    let won = 0;
    for (const n of each) {
      const [mine, theirs] = [`${name}${n}`, `${other}${n}`];
      const changes = Array.from({ length: 5 }, (_, i) => holder(`${mine}-${i}`, mine));
      // Each begins with its own.
      const written = store.write(changes, [identified(mine), identified(theirs)]);
      won += await written.then(
        () => 1,
        (error: unknown) => {
          if (error instanceof PreconditionConflict) return 0;
          throw error;
        },
      );
    }
    return { won };
  }

  /** One write, at a step of which the process is killed. */
  async function largeFault() {
    const { changes, guards } = largeWrite();
    await store.write(changes, guards);
    return { acknowledged: true };
  }

  return { createOnce, updateOne, writeOnce, cross, largeFault };
}
