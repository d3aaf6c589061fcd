import { formatInstant } from '../../fhir/instant.js';
import type { ScannedVersion, Store } from '../../store/store.js';
import { digestOf, HashSum } from './tally.js';

const PIECE = 500;

/** How many resources of a type live, and how many versions they and the deleted ones have. */
export interface TypeCount {
  living: number;
  versions: number;
}

/** Counts and hash of the versions of one store. */
export interface VersionTally {
  readonly types: ReadonlyMap<string, TypeCount>;
  /** Of type, id, number, time and text of all versions. */
  readonly hash: HashSum;
}

/** Result of comparing the versions of two stores. */
export interface VersionComparison {
  readonly source: VersionTally;
  readonly target: VersionTally;
  /** How many versions are on one side only, or not the same; the first of them in words. */
  readonly differences: number;
  readonly first?: string;
}

/** What is compared of a version. */
interface Digested {
  readonly time: number;
  readonly name: string;
  readonly digest: string;
}

/** All versions of one time: their digests by their names. */
interface Moment {
  readonly time: number;
  readonly digests: ReadonlyMap<string, string>;
}

/**
 * Reads all versions of both stores and compares them, side by side in the order of their times: no more is in memory
 * than what is of one time. Among versions of one time the stores may differ in their order.
 *
 * @param onStep called with versions that were read of the source
 * @throws the signal's reason where it was stopped
 */
export async function compareVersions(
  source: Store,
  target: Store,
  signal: AbortSignal,
  onStep: (versions: number) => void,
): Promise<VersionComparison> {
  const [left, right] = [new Side(source, signal, onStep), new Side(target, signal, () => {})];
  let differences = 0;
  let first: string | undefined;
  const differ = (name: string, time: number, how: string): void => {
    differences++;
    first ??= `${name} of ${formatInstant(time)} ${how}`;
  };

  let [a, b] = await Promise.all([left.next(), right.next()]);
  while (a !== undefined || b !== undefined) {
    const time = Math.min(a?.time ?? Infinity, b?.time ?? Infinity);
    const mine = a?.time === time ? a.digests : new Map<string, string>();
    const theirs = b?.time === time ? b.digests : new Map<string, string>();
    for (const [name, digest] of mine) {
      const other = theirs.get(name);
      if (other === undefined) differ(name, time, 'is not in the target');
      else if (other !== digest) differ(name, time, 'has another text in the target');
    }
    for (const name of theirs.keys()) if (!mine.has(name)) differ(name, time, 'is not in the source');
    [a, b] = await Promise.all([a?.time === time ? left.next() : a, b?.time === time ? right.next() : b]);
  }
  const found = { source: left.tally, target: right.tally, differences };
  return first === undefined ? found : { ...found, first };
}

/** Adds versions up that are read. */
export class VersionSum implements VersionTally {
  readonly types = new Map<string, TypeCount>();
  readonly hash = new HashSum();

  /** @returns the digest of the version */
  add({ type, id, version, lastUpdated, json, isCurrent }: ScannedVersion): string {
    const digest = digestOf(type, id, version, lastUpdated, json);
    const count = this.types.get(type) ?? { living: 0, versions: 0 };
    this.types.set(type, count);
    count.versions++;
    if (isCurrent && json !== undefined) count.living++;
    this.hash.add(digest);
    return digest;
  }
}

/** Reads all versions of a store. @throws the signal's reason where it was stopped */
export async function sumVersions(
  store: Pick<Store, 'scan'>,
  signal: AbortSignal,
  onStep: (versions: number) => void,
): Promise<VersionTally> {
  const side = new Side(store, signal, onStep);
  while ((await side.next()) !== undefined);
  return side.tally;
}

/** One store, read moment by moment. */
class Side {
  readonly tally = new VersionSum();
  private readonly versions: AsyncIterator<Digested, undefined>;
  private ahead: IteratorResult<Digested, undefined> | undefined;

  constructor(
    private readonly store: Pick<Store, 'scan'>,
    private readonly signal: AbortSignal,
    private readonly onStep: (versions: number) => void,
  ) {
    this.versions = this.read();
  }

  /** The next time at which there are versions; undefined: there is none. */
  async next(): Promise<Moment | undefined> {
    this.ahead ??= await this.versions.next();
    if (this.ahead.done === true) return undefined;
    const { time } = this.ahead.value;
    const digests = new Map<string, string>();
    for (; this.ahead.done !== true && this.ahead.value.time === time; this.ahead = await this.versions.next()) {
      digests.set(this.ahead.value.name, this.ahead.value.digest);
    }
    return { time, digests };
  }

  private async *read(): AsyncGenerator<Digested, undefined> {
    let after: string | undefined;
    do {
      this.signal.throwIfAborted();
      const { versions, next } = await this.store.scan(after, PIECE);
      for (const version of versions) {
        const { type, id, lastUpdated: time } = version;
        yield { time, name: `${type}/${id}/_history/${version.version}`, digest: this.tally.add(version) };
      }
      this.onStep(versions.length);
      after = next;
    } while (after !== undefined);
    return undefined;
  }
}
