import type { Filter } from 'mongodb';
import { randomUUID } from 'node:crypto';

import { answered } from '../../read/answered.js';
import { keyOf, type Collections, type PastDocument } from '../../bson/documents.js';
import { PENDING } from '../../indexes.js';

/** How long marks of finished copies are collected before one command removes them, in milliseconds. */
const PAUSE = 100;

/** Copies that one command finishes or looks at. */
const AT_ONCE = 500;

/** More marks than this stay, for `clean`: the server does not answer. */
const MOST = 20_000;

/** How old a pending copy is that no write can need any more, in milliseconds: several times as old as a write may be. */
const ABANDONED = 120_000;

/**
 * Copies of versions in `history` that are marked as pending: made before the version was replaced. Nothing depends on when a mark
 * goes: readers compare each pending copy with the current version.
 */
export interface Copies {
  /** What copies of this store have while they are pending: no other store removes their mark within the time of a write. */
  readonly mark: Mark;
  /** Has the mark removed, soon: the version was replaced, and a majority knows it. */
  finish(copy: Copy): void;
  /** Finishes what processes left that died: removes marks of what was replaced, and copies of what was expunged. */
  clean(): Promise<void>;
  /** Removes the marks that are left. */
  close(): Promise<void>;
}

type Copy = Pick<PastDocument, '_id' | 'until'>;
type Mark = Required<Pick<PastDocument, 'pending' | 'by'>>;

/** @param now the server's time @param time how long each command may take, in milliseconds */
export function openCopies(
  { resource, history }: Pick<Collections, 'resource' | 'history'>,
  now: () => number,
  time: number,
): Copies {
  const mark: Mark = { pending: true, by: randomUUID() };
  let finished: Copy[] = [];
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  /** @param of what else they have, which later copies of the same versions do not have */
  async function unmark(copies: readonly Copy[], of: Filter<PastDocument> = {}): Promise<void> {
    const [keys, times] = [copies.map(({ _id }) => _id), copies.map(({ until }) => until)];
    const filter: Filter<PastDocument> = { ...of, _id: { $in: keys }, until: { $in: times } };
    const update = { $unset: { pending: true, by: true } } as const;
    const done = history.updateMany(filter, update, { hint: { _id: 1 }, maxTimeMS: time });
    await answered(time, done);
  }

  function flush(): void {
    timer = undefined;
    running = running.then(async () => {
      while (finished.length > 0) {
        const some = finished.slice(0, AT_ONCE);
        finished = finished.slice(AT_ONCE);
        // What is not done is left to `clean`.
        await unmark(some, { by: mark.by }).catch(() => {});
      }
    });
  }

  async function cleanSome(after: Date, before: Date): Promise<Date | undefined> {
    const found = await history
      .find(
        { pending: true, until: { $gt: after, $lt: before } },
        { hint: PENDING, sort: { until: 1 }, limit: AT_ONCE },
      )
      .project<Pick<PastDocument, '_id' | 'type' | 'id' | 'version' | 'until'>>({
        type: 1,
        id: 1,
        version: 1,
        until: 1,
      })
      .toArray();
    const current = await resource
      .find({ _id: { $in: found.map(keyOf) } }, { projection: { version: 1 } })
      .map(({ _id, version }) => [_id, version] as const)
      .toArray();
    const versions = new Map(current);
    const versionOf = (copy: (typeof found)[number]): number => versions.get(keyOf(copy)) ?? 0;
    const replaced = found.filter((copy) => versionOf(copy) > copy.version);
    const orphans = found.filter((copy) => versionOf(copy) < copy.version).map(({ _id }) => _id);
    if (replaced.length > 0) await unmark(replaced);
    if (orphans.length > 0) await history.deleteMany({ _id: { $in: orphans }, pending: true, until: { $lt: before } });
    return found.length < AT_ONCE ? undefined : found.at(-1)!.until;
  }

  return {
    mark,
    finish(copy) {
      if (finished.length >= MOST) return;
      finished.push(copy);
      timer ??= setTimeout(flush, PAUSE).unref();
    },
    async clean() {
      const before = new Date(now() - ABANDONED);
      let after: Date | undefined = new Date(0);
      while (after !== undefined) after = await cleanSome(after, before);
    },
    async close() {
      clearTimeout(timer);
      flush();
      await running;
    },
  };
}
