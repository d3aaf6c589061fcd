import type { IndexEntry } from '../search/entry.js';
import type { BodyTemplate } from './body.js';

/** One version of one resource, as the store keeps it. */
export interface StoredVersion {
  readonly type: string;
  readonly id: string;
  /** From 1, without gaps while the resource lives on. */
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly lastUpdated: number;
  /** The resource as JSON text, `meta.versionId` and `meta.lastUpdated` included; absent: this version is a deletion. */
  readonly json?: string;
}

interface ChangeOfOne {
  readonly type: string;
  readonly id: string;
  /** The version that the resource has to have before, deletions counted; 0: none yet. */
  readonly expected: number;
}

/** A new content: create, update, or the revival of a deleted resource. */
export interface Put extends ChangeOfOne {
  readonly body: BodyTemplate;
  /** What searches will find it by. They replace those of the version before. */
  readonly entries: readonly IndexEntry[];
}

/** A logical deletion: a version without content, and no index entries any more. */
export interface Deletion extends ChangeOfOne {
  readonly body?: never;
}

/** One step of a write. */
export type Change = Put | Deletion;

/** Names a resource. */
export interface ResourceKey {
  readonly type: string;
  readonly id: string;
}

/**
 * A resource was not at the version that a change expected, so nothing of the write was done. Whoever decided on the
 * version before reads again and decides anew.
 */
export class VersionConflict extends Error {
  constructor(
    readonly type: string,
    readonly id: string,
    readonly expected: number,
    /** The version that it has. */
    readonly actual: number,
  ) {
    super(`${type}/${id} is at version ${actual}, not ${expected}`);
    this.name = 'VersionConflict';
  }
}

/**
 * The port to the data: everything the runtime asks of a store. One contract suite (`test/contract`) runs on every
 * store, so none can lack what another has. Methods reject with a FhirError `store-busy` or `store-unavailable` where
 * the store cannot serve.
 */
export interface Store {
  /** The current version, which may be a deletion; undefined: there never was one. */
  read(type: string, id: string): Promise<StoredVersion | undefined>;

  /** The current versions in the order of the keys, undefined for those that never were; all of one instant. */
  readMany(keys: readonly ResourceKey[]): Promise<(StoredVersion | undefined)[]>;

  /** One version of a resource, current or past. */
  readVersion(type: string, id: string, version: number): Promise<StoredVersion | undefined>;

  /**
   * Does all changes or none, in their order, and durably when it resolves. History is appended, index entries are
   * replaced. `lastUpdated` is the time of the write, but later than that of the version before by a millisecond at
   * least, and never before that of any other version in the store.
   *
   * @returns the new versions, in the order of the changes
   * @throws VersionConflict
   */
  write(changes: readonly Change[]): Promise<StoredVersion[]>;

  /** How many resources of each type live; types without any are left out. */
  counts(): Promise<ReadonlyMap<string, number>>;

  /** Releases files and connections; no method may be called after it. */
  close(): Promise<void>;
}
