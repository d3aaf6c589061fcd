import type { Filter } from 'mongodb';

import { append } from '../../../fhir/lists.js';
import type { Expunge, Expunged, StoredVersion } from '../../store.js';
import { answered } from '../read/answered.js';
import { fieldsOf, type Raw } from '../bson/bson.js';
import { keyOf, pastKeyOf, type PastDocument, type ResourceDocument } from '../bson/documents.js';
import { readHead, toStoredVersion, VERSION_ONLY } from '../bson/stored-version.js';
import type { CommandOptions } from './command-options.js';
import { PLAIN, replaceContained } from './contained-resources.js';
import { noteRemoval } from './removals.js';
import type { WriterParts } from './writer-parts.js';

/** Past versions that one command looks at or removes. */
const AT_ONCE = 500;

/** The head of a current version. */
type Head = Pick<ResourceDocument, '_id' | 'type' | 'id' | 'version' | 'within'>;
const HEAD = { type: 1, id: 1, version: 1, within: 1 } as const;

/**
 * Removes versions for good. Past versions never change, so they are removed as they are; a resource goes in a transaction that
 * finds it unchanged.
 *
 * @param time how long each command and transaction may take, in milliseconds
 */
export function openExpunge({
  collections: { resource, history, setting, change },
  causal,
  transactions,
  time,
}: Pick<WriterParts, 'collections' | 'causal' | 'transactions' | 'time'>): (expunge: Expunge) => Promise<Expunged> {
  /** Removes past versions. @returns how many there were */
  async function removePast(filter: Filter<PastDocument>, run: Run): Promise<number> {
    const found = await answered(
      time,
      causal.read((session) =>
        history
          .find<Raw>(filter, {
            session,
            maxTimeMS: time,
            raw: true,
            sort: { version: 1 },
            limit: Math.min(run.left, AT_ONCE),
          })
          .toArray(),
      ),
    );
    return removeFound(await pastOf(found), run);
  }

  /** Those that another followed: a pending copy may be of what is current. */
  async function pastOf(found: readonly Raw[]): Promise<readonly StoredVersion[]> {
    const versions = found.map((bytes) => ({
      stored: toStoredVersion(bytes),
      isPending: fieldsOf(bytes).has('pending'),
    }));
    const pending = versions.filter(({ isPending }) => isPending).map(({ stored }) => keyOf(stored));
    if (pending.length === 0) return versions.map(({ stored }) => stored);
    const filter = { _id: { $in: [...new Set(pending)] } };
    const current = await answered(
      time,
      causal.read((session) =>
        resource.find(filter, { session, maxTimeMS: time, projection: { version: 1 } }).toArray(),
      ),
    );
    const last = new Map(current.map(({ _id, version }) => [_id, version]));
    return versions.flatMap(({ stored, isPending }) =>
      isPending && (last.get(keyOf(stored)) ?? 0) <= stored.version ? [] : [stored],
    );
  }

  async function removeFound(versions: readonly StoredVersion[], run: Run): Promise<number> {
    if (versions.length === 0) return 0;
    const keys = versions.map((version) => pastKeyOf(keyOf(version), version.version));
    const { deletedCount } = await transactions.run(async (_session, given) => {
      await noteRemoval({ setting }, given);
      // The log must not name what is gone.
      await change.deleteMany({ $or: versions.map(({ type, id, version }) => ({ type, id, version })) }, given());
      return history.deleteMany({ _id: { $in: keys } }, given());
    }, performance.now() + time);
    run.take(versions, deletedCount);
    return versions.length;
  }

  /** Removes a resource with its versions, as far as the limit goes; its current version last. */
  async function removeWhole({ _id, type, id, version }: Head, run: Run): Promise<void> {
    while (run.left > 0 && (await removePast({ type, id }, run)) > 0);
    if (run.left === 0) return;
    const removed = await transactions.run(
      (_session, given) => removeCurrent({ _id, version }, given),
      performance.now() + time,
    );
    if (removed !== undefined) run.take([removed], 1);
  }

  /** Undefined: another process wrote it meanwhile, so that it stays. */
  async function removeCurrent(
    { _id, version }: Pick<Head, '_id' | 'version'>,
    given: CommandOptions,
  ): Promise<StoredVersion | undefined> {
    const options = { ...given(), raw: true, projection: VERSION_ONLY } as const;
    const found = await resource.findOne<Raw>({ _id, version }, options);
    if (found === null) return undefined;
    const head = await resource.findOne<Head>({ _id }, { ...given(), projection: HEAD });
    await noteRemoval({ setting }, given);
    await resource.deleteOne({ _id }, given());
    const { type, id } = readHead(found);
    await change.deleteMany({ type, id }, given());
    await history.deleteOne({ _id: pastKeyOf(_id, version), pending: true }, given());
    const { within = [] } = head ?? {};
    if (within.length > 0) await replaceContained(resource, [{ key: _id, within }], [], given);
    return toStoredVersion(found);
  }

  async function removeResources(isDeleted: boolean, { type, id }: Expunge, run: Run): Promise<void> {
    const filter: Filter<ResourceDocument> = {
      type: type ?? PLAIN,
      ...(id !== undefined && { id }),
      deleted: isDeleted ? true : { $exists: false },
    } as Filter<ResourceDocument>;
    const seen = new Set<string>();
    while (run.left > 0) {
      const heads = await answered(
        time,
        causal.read((session) =>
          resource
            .find<Head>(filter, { session, maxTimeMS: time, projection: HEAD, limit: run.left + seen.size })
            .toArray(),
        ),
      );
      // What a concurrent write keeps is not tried again.
      const fresh = heads.filter(({ _id }) => !seen.has(_id));
      if (fresh.length === 0) return;
      for (const head of fresh) {
        if (run.left === 0) return;
        seen.add(head._id);
        await removeWhole(head, run);
      }
    }
  }

  /** Past versions of what lives: a piece of them is read, and those of deleted resources are passed over. */
  async function removePrevious({ type, id }: Expunge, run: Run): Promise<void> {
    const filter = { ...(type !== undefined && { type }), ...(id !== undefined && { id }) };
    let above: string | undefined;
    while (run.left > 0) {
      const range: Filter<PastDocument> = above === undefined ? filter : { ...filter, _id: { $gt: above } };
      const found = await answered(
        time,
        causal.read((session) =>
          history.find<Raw>(range, { session, maxTimeMS: time, raw: true, sort: { _id: 1 }, limit: AT_ONCE }).toArray(),
        ),
      );
      const end = found.at(-1);
      if (end === undefined) return;
      const last = readHead(end);
      above = pastKeyOf(keyOf(last), last.version);
      const versions = await pastOf(found);
      const dead = id === undefined ? await deletedOf([...new Set(versions.map(keyOf))]) : new Set<string>();
      await removeFound(versions.filter((version) => !dead.has(keyOf(version))).slice(0, run.left), run);
    }
  }

  async function deletedOf(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const filter = { _id: { $in: [...keys] }, deleted: true } as const;
    const found = await answered(
      time,
      causal.read((session) => resource.find(filter, { session, maxTimeMS: time, projection: { _id: 1 } }).toArray()),
    );
    return new Set(found.map(({ _id }) => _id));
  }

  return async (asked) => {
    const run = new Run(asked.limit, asked.report);
    const { type, id, version } = asked;
    if (type !== undefined && id !== undefined && version !== undefined) {
      await removePast({ _id: pastKeyOf(keyOf({ type, id }), version) }, run);
    } else {
      if (asked.deleted === true) await removeResources(true, asked, run);
      if (asked.previous === true && run.left > 0) await removePrevious(asked, run);
      if (asked.current === true && run.left > 0) await removeResources(false, asked, run);
    }
    return run;
  };
}

/** How much is left to remove, and what was removed. */
class Run implements Expunged {
  count = 0;
  readonly reported: StoredVersion[] = [];

  constructor(
    private readonly limit: number,
    private readonly report: string | undefined,
  ) {}

  get left(): number {
    return this.limit - this.count;
  }

  /** @param removed how many of them this process removed; another may have been at the same */
  take(versions: readonly StoredVersion[], removed: number): void {
    this.count += removed;
    append(
      this.reported,
      versions.filter(({ type }) => type === this.report),
    );
  }
}
