import type { FhirError } from '../fhir/errors.js';
import type { Resource } from '../fhir/resource.js';
import type { Contained } from '../indexing/contained.js';
import type { IndexEntry } from '../indexing/entry.js';
import type { Condition, SortKey, Target } from '../search/query/query.js';
import type { BodyTemplate } from './body.js';
import type { VersionLog } from './version-log.js';

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
  /**
   * How often the content of this version was replaced in place (`Store.amend`); absent: never. Pages of history and scans need not
   * tell.
   */
  readonly amended?: number;
}

interface ChangeOfOne {
  readonly type: string;
  readonly id: string;
  /** The version that the resource has to have before, deletions counted; 0: none yet. */
  readonly expected: number;
  /** How often that version was amended when it was read (`StoredVersion.amended`); absent: never. */
  readonly amended?: number;
}

/** A new content: create, update, or the revival of a deleted resource. */
export interface Put extends ChangeOfOne {
  readonly body: BodyTemplate;
  /** What `body` says, parsed; in `meta` it has neither version nor time. */
  readonly content: Resource;
  /** What searches will find it by. They replace those of the version before. */
  readonly entries: readonly IndexEntry[];
  /** What is within it, to be found by searches of member types (`containedType`). It replaces that of the version before. */
  readonly contained?: readonly Contained[];
  /** What has to be there when the write is done; absent: nothing is looked for. */
  readonly targets?: readonly RequiredTarget[];
  readonly unreferred?: never;
}

/** A logical deletion: a version without content, and no index entries any more. */
export interface Deletion extends ChangeOfOne {
  readonly body?: never;
  readonly content?: never;
  readonly targets?: never;
  /** Who must not refer to it when the write is done; absent: it is not asked. */
  readonly unreferred?: Unreferred;
  /**
   * Words for the refusal, where it was found that others refer to it; not for the store.
   *
   * @param changed names of the resources that the write changes, which may refer to it no more
   */
  readonly refuse?: (changed: ReadonlySet<string>) => FhirError;
}

/** One step of a write. */
export type Change = Put | Deletion;

/** Contents of resources on their way to a file: NDJSON. */
export interface LinePage {
  /** The texts in UTF-8, each on one line that ends with a newline. The caller may hand its memory on. */
  readonly lines: Uint8Array;
  /** How many lines. */
  readonly count: number;
  /** `PageQuery.after` of the next page; absent: this was the last one. */
  readonly next?: string;
}

/** Names a resource. */
export interface ResourceKey {
  readonly type: string;
  readonly id: string;
}

/** A resource that has to be there once a write is done, because the content of a change refers to it. */
export interface RequiredTarget extends ResourceKey {
  /** The version that the reference names; 0: one that cannot be. Absent: the current one, which must be no deletion. */
  readonly version?: number;
  /** The element that refers to it. */
  readonly expression: string;
  /** A later deletion of it has to see this write. */
  readonly isHeld?: true;
  /** The writer may not know whether it is there: it counts as missing, unless the same write puts it there. */
  readonly isHidden?: true;
}

/** A version that refers to another resource. */
export interface Referrer extends ResourceKey {
  readonly version: number;
}

/** A deletion is done only if no resource of these types refers to what it deletes, once the write is done. */
export interface Unreferred {
  readonly types: readonly string[];
  /** Search parameters whose entries tell who refers. */
  readonly params: readonly string[];
  /** Versions that may refer to it. */
  readonly except: readonly Referrer[];
}

/** Returns the expectation of a change that replaces a version: the version as it was read. */
export function expecting(read: StoredVersion | undefined): Pick<ChangeOfOne, 'expected' | 'amended'> {
  if (read === undefined) return { expected: 0 };
  const { version: expected, amended } = read;
  return amended === undefined ? { expected } : { expected, amended };
}

/**
 * A resource was not at the version that a change expected, or that version was amended since it was read, so nothing of the write
 * was done. The caller that decided on the version before reads again and decides anew.
 */
export class VersionConflict extends Error {
  constructor(
    readonly type: string,
    readonly id: string,
    readonly expected: number,
    /** The version that it has; the one that was expected: it was amended. */
    readonly actual: number,
  ) {
    super(
      `${type}/${id} is at version ${actual}, ${actual === expected ? 'amended since it was read' : `not ${expected}`}`,
    );
    this.name = 'VersionConflict';
  }
}

/**
 * Precondition of a write: a search has to find the same resources at the moment of the write, so that a decision on
 * what it found before stays right. https://hl7.org/fhir/R5/http.html#cond-update
 */
export interface Precondition {
  readonly type: string;
  readonly where: Condition;
  /** Ids of all resources that it finds before the changes of the write, in any order. */
  readonly found: readonly string[];
}

/**
 * A search found something else at the moment of a write than its precondition says, so nothing of the write was done. The caller that
 * decided on what it found searches again and decides anew.
 */
export class PreconditionConflict extends Error {
  constructor(readonly precondition: Precondition) {
    super(`a search of ${precondition.type} does not find what it found before`);
    this.name = 'PreconditionConflict';
  }
}

/** An entry of a map was not what a step of a write expects, so nothing of the write was done. */
export class StepConflict extends Error {
  constructor() {
    super('an entry of a map is another than the write expects');
    this.name = 'StepConflict';
  }
}

/** A page of history is asked for: of the system, of a type, of an instance; newest first. */
export interface HistoryQuery {
  /** Absent: all types, or those of `types`. */
  readonly type?: string;
  /** Only with `type`. */
  readonly id?: string;
  /** Only without `type`: of the system versions of these types alone; none: no version. */
  readonly types?: readonly string[];
  /** Versions from this instant on (it included), milliseconds since the epoch. */
  readonly since?: number;
  /** Versions that were current at some time within this interval, both ends included. */
  readonly at?: { readonly from: number; readonly to: number };
  /** `HistoryPage.next` of the page before: what comes after it, of the same snapshot bound. */
  readonly after?: string;
  /** Greatest number of versions; 0: only the total. */
  readonly count: number;
}

/** One page, all of one snapshot. */
export interface HistoryPage {
  readonly versions: readonly StoredVersion[];
  /** How many versions match, on all pages: the same on each of them, whatever is written meanwhile. */
  readonly total: number;
  /** Opaque, short, free of secrets; absent: this was the last page. */
  readonly next?: string;
  /**
   * The instant before which nothing new can appear any more, milliseconds since the epoch: a client that asks next with it
   * as `since` misses nothing. It may lie some seconds back, so that some of what was shown comes again. 0: nothing was ever
   * written. Of the first page's snapshot.
   */
  readonly complete: number;
}

/** A page of a search is asked for. */
export interface FindQuery extends PageQuery {
  /** A resource type, or one of members: then versions are those of their containers, under type and id of the members. */
  readonly type: string;
  readonly where: Condition;
  /** `FindPage.moment` of another page: what is there is as it was then, whatever was written since. It is kept for some minutes. */
  readonly moment?: string | undefined;
}

/** A page of a search over several types is asked for. */
export interface FindMultiTypeQuery extends PageQuery {
  /** What is asked of each type; each is there once. */
  readonly parts: readonly Target[];
}

/** Options of a search for one page. */
export interface PageQuery {
  /**
   * What is equal in all keys comes in an order that the store chooses, the same on all pages. Without keys resources come in any order
   * that a walk through the pages goes on in; of several types one type after the other. Keys after one by id decide nothing.
   */
  readonly sort: readonly SortKey[];
  /** `FindPage.next` of the page before: what comes after it. */
  readonly after?: string | undefined;
  /** Greatest number of resources; 0: only the total. */
  readonly count: number;
  /** Whether the total is wanted: at any cost, or where few matches (`CHEAP_TOTAL`) or little time suffice. */
  readonly total: 'accurate' | 'cheap' | 'none';
  /** Other resources that come with the page; absent: none. */
  readonly include?: IncludePlan | undefined;
}

/** Other resources that are wanted with a page. https://hl7.org/fhir/R5/search.html#include */
export interface IncludePlan {
  readonly directives: readonly IncludeDirective[];
  /** Greatest number of resources. */
  readonly most: number;
  /** How often directives that iterate go on from what was included. */
  readonly rounds: number;
}

/** References to follow, or to follow backwards, from the resources of a page. */
export interface IncludeDirective {
  /** Whether it leads from a target to those that refer to it. */
  readonly isReverse: boolean;
  /** Type of the resources that refer. */
  readonly source: string;
  /** Codes of their reference parameters. */
  readonly params: readonly string[];
  /** Types of the targets; absent: any. */
  readonly targets?: readonly string[];
  /** Whether it is followed from what was included, too. */
  readonly iterates: boolean;
  /**
   * What resources have to fulfil to come along, by type; those of other types come as they are. What does not fulfil it is
   * treated as absent: it is not counted, and nothing is followed from it. Where a reference names a version, that comes
   * only as the current one, for conditions know no other. Forward directives have the same for the same type.
   */
  readonly within?: Readonly<Record<string, Condition>>;
}

/** A cheap total is one of at most so many matches, or one found within so many milliseconds. */
export const CHEAP_TOTAL = { matches: 1000, time: 20 };

/** One page, with its total of one snapshot. */
export interface FindPage {
  /** Current versions, none of them a deletion. */
  readonly versions: readonly StoredVersion[];
  /** How many resources matched when the first page was read: the same on each page. */
  readonly total?: number;
  /** Opaque, short; it may hold values of the last resource. Absent: this was the last page. */
  readonly next?: string;
  /** As in `HistoryPage`; of this page's snapshot. */
  readonly complete: number;
  /** Names the page's snapshot, where it can be read again. Absent: `complete` is behind all that was written before it. */
  readonly moment?: string;
  /**
   * What `include` asked for, of the page's snapshot, each resource once and none that is on the page; no deletions. Where a
   * reference names a version, that version, if it is there.
   */
  readonly included?: readonly StoredVersion[];
  /** What was left out of it: more than `most` (or than answers hold), or what further rounds would bring. */
  readonly cut?: 'most' | 'rounds';
}

/** The way from a resource to one text: names of elements, each with a place in its list where it has one. */
export type ElementPath = readonly (string | number)[];

/** Resources are to be counted by what is in them. */
export interface CountQuery extends Pick<FindQuery, 'type' | 'where'> {
  /** Each leads to one text at most. */
  readonly by: readonly [ElementPath, ...ElementPath[]];
  /** Greatest number of rows. */
  readonly most: number;
}

/** Resources that have the same texts. */
export interface CountRow {
  /** One for each path; undefined: these resources have none. */
  readonly values: readonly (string | undefined)[];
  readonly count: number;
}

/** How a search is done. */
export interface Explanation {
  /** What the store runs, in its own language, in the order it runs. */
  readonly compiled: readonly string[];
  /** The source that drives it: a condition, as `printCondition` has it, an order, or all resources of the type. */
  readonly driving: string;
  /** Whether the source is gone through in its order, as far as the page needs, or all of it is collected first. */
  readonly way: 'walked' | 'collected';
  /** What each resource of the source is asked besides, as `printCondition` has it. */
  readonly filters: readonly string[];
  /** Rows of the source that were expected to be looked at: so many, at most so many, or more than so many; undefined: not known. */
  readonly estimated: { readonly rows: number; readonly bound: 'about' | 'most' | 'more' } | undefined;
  /** What was counted to choose it: matches of a condition, at most so many. */
  readonly probes: readonly { readonly condition: string; readonly matches: number; readonly isMore: boolean }[];
  /** Indexes that are used. */
  readonly indexes: readonly string[];
  /** Index entries, and rows or documents, that were looked at for this page, probes left out. */
  readonly examined: number;
  readonly returned: number;
}

/** New index entries for a version that is there. */
export interface Reindexed {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  /** As of a `Put`. */
  readonly amended?: number;
  readonly entries: readonly IndexEntry[];
  /** As of a `Put`. */
  readonly contained?: readonly Contained[];
}

/** Another content for a version, which stays the same version of the same time: its `meta` is corrected. */
export interface Amendment extends Pick<Put, 'type' | 'id' | 'body' | 'content' | 'entries' | 'contained'> {
  readonly version: number;
  /** Set: only as long as it is the current version. */
  readonly isCurrent?: true;
  /** JSON text of the version as it was read. Where it is another by now, nothing is changed. */
  readonly before: string;
}

/** Versions that are to be removed for good. What is not selected by any of the flags stays. */
export interface Expunge {
  /** Absent: of all types. */
  readonly type?: string;
  /** Only with `type`. */
  readonly id?: string;
  /** Only with `id`: this version alone. The current version of a resource that lives is never removed by its number. */
  readonly version?: number;
  /** All versions of resources whose current version is a deletion. */
  readonly deleted?: boolean;
  /** Versions that another followed, of resources that live, or of the one that `id` names. */
  readonly previous?: boolean;
  /** Resources that live, with all their versions. */
  readonly current?: boolean;
  /** Greatest number of versions to remove. */
  readonly limit: number;
  /** A type of which the removed versions are returned: something else may belong to them. */
  readonly report?: string;
}

/** Result of an expunge. */
export interface Expunged {
  /** Versions. */
  readonly count: number;
  readonly reported: readonly StoredVersion[];
}

/** A version as a walk through all of them shows it. */
export interface ScannedVersion extends StoredVersion {
  /** Whether no other had followed it when it was read. */
  readonly isCurrent: boolean;
}

/** A piece of a walk through all versions. */
export interface VersionScan {
  readonly versions: readonly ScannedVersion[];
  /** Where the walk goes on: opaque, valid as long as the store. Absent: there are no versions here, nor after it yet. */
  readonly next?: string;
}

/** A version of another store, to be put into this one as it is. */
export interface RestoredVersion extends StoredVersion {
  /** What `json` says, parsed; absent: it is a deletion. */
  readonly content?: Resource;
  /** What searches find it by, in place of the version before; absent: it is not current, or deleted. */
  readonly entries?: readonly IndexEntry[];
  /** What is within it, likewise. */
  readonly contained?: readonly Contained[];
}

/** Bytes beside the resources: contents of Binary, files of an export. */
export interface BlobStore {
  /**
   * Stores a stream whole or not at all, never in memory as a whole, and durably when it resolves.
   *
   * @param limit greatest size in bytes; more rejects with FhirError `body-too-large`
   */
  put(
    key: string,
    content: AsyncIterable<Uint8Array>,
    limit: number,
  ): Promise<{ readonly size: number; readonly sha256: string }>;
  /** Bytes `from` to `to` (included); absent: all. Undefined: there is no such blob. */
  get(
    key: string,
    range?: { readonly from: number; readonly to: number },
  ): Promise<{ readonly size: number; readonly stream: AsyncIterable<Uint8Array> } | undefined>;
  delete(key: string): Promise<void>;
  /** Blobs with a key of this prefix, for clean-up and for copies. */
  list(prefix: string): Promise<readonly ListedBlob[]>;
}

/** Properties of a blob that a store knows without reading it. */
export interface ListedBlob {
  readonly key: string;
  /** When it was put: milliseconds since the epoch. */
  readonly put: number;
  readonly size: number;
  /** Of the content as it was put, in hexadecimal digits. */
  readonly sha256: string;
}

/** Entry of one of the small maps. */
export interface MapEntry {
  readonly map: string;
  readonly key: string;
  readonly value: string;
  /** The instant from which on it is not there any more, milliseconds since the epoch; absent: it stays. */
  readonly expires?: number;
}

/** A change of one entry. */
export interface MapStep {
  readonly map: string;
  readonly key: string;
  /** Absent: there must be none. */
  readonly expected?: string | undefined;
  /** Absent: it is deleted. */
  readonly value?: string | undefined;
}

/** A piece of a walk through all maps. */
export interface MapScan {
  readonly entries: readonly MapEntry[];
  /** Where the walk goes on: opaque. Absent: there are no entries here, nor after it. */
  readonly next?: string;
}

/** Small maps with atomic steps, seen by all processes: keys of page links, clients, ids of used assertions. */
export interface AtomicMaps {
  get(map: string, key: string): Promise<string | undefined>;
  entries(map: string): Promise<ReadonlyMap<string, string>>;
  /** Sets the value where the present one is `expected` (absent: where there is none). @returns whether it did */
  swap(map: string, key: string, expected: string | undefined, value: string, expires?: number): Promise<boolean>;
  /**
   * Takes all steps or none, durably. An entry that expires is no entry for it.
   *
   * @returns false: the present value of an entry is another than its step expects
   */
  swapAll(steps: readonly MapStep[]): Promise<boolean>;
  /** Entries of a map whose keys come after `after` in the order of code units, `limit` at most. */
  range(map: string, after: string, limit: number): Promise<ReadonlyMap<string, string>>;
  delete(map: string, key: string): Promise<void>;
  /** A piece of a walk through all that is in all maps: what stays throughout is shown once, `limit` at a time at most. */
  scan(after: string | undefined, limit: number): Promise<MapScan>;
}

/**
 * The port to the data: everything the runtime asks of a store. One contract suite (`test/contract`) runs on every
 * store, so none can lack what another has. Methods reject with a FhirError `store-busy`, `store-unavailable` or, past
 * the time budget of a query, `too-costly` where the store cannot serve.
 */
export interface Store {
  /** The current version, which may be a deletion; undefined: there never was one. */
  read(type: string, id: string): Promise<StoredVersion | undefined>;

  /** The current versions in the order of the keys, undefined for those that never were; all of one instant. */
  readMany(keys: readonly ResourceKey[]): Promise<(StoredVersion | undefined)[]>;

  /** One version of a resource, current or past. */
  readVersion(type: string, id: string, version: number): Promise<StoredVersion | undefined>;

  /**
   * A page of history, newest first (by time, then by order of writing). A walk through the pages neither repeats nor
   * skips a version, and shows none that was written after its first page.
   *
   * @param signal aborts: the work stops in the store
   */
  history(query: HistoryQuery, signal?: AbortSignal): Promise<HistoryPage>;

  /**
   * A page of the current resources of a type that fulfil a condition. A walk through the pages neither repeats nor skips a
   * resource that is not changed meanwhile.
   *
   * @param signal aborts: the work stops in the store
   * @throws FhirError `page-invalid` where `after` is none of this query
   */
  find(query: FindQuery, signal?: AbortSignal): Promise<FindPage>;

  /** The same over several types. */
  findMultiType(query: FindMultiTypeQuery, signal?: AbortSignal): Promise<FindPage>;

  /**
   * The texts of what `find` gives, as bytes for a file: a walk through many contents without a string for each. Total and includes are
   * not looked for.
   *
   * @param until newer versions are left out: milliseconds since the epoch
   * @throws FhirError as `find`
   */
  findLines(query: FindQuery, until: number, signal?: AbortSignal): Promise<LinePage>;

  /**
   * How many of the resources that fulfil a condition have each combination of texts; all of one snapshot, in any order.
   *
   * @param query its condition has no links
   * @returns undefined: there are more rows than wanted
   */
  countBy(query: CountQuery, signal?: AbortSignal): Promise<readonly CountRow[] | undefined>;

  /** How `find` would do it; it is done for that. */
  explain(query: FindQuery, signal?: AbortSignal): Promise<Explanation>;

  /**
   * Replaces index entries, of each version that is current still, not amended since, and no deletion; durably when it resolves.
   * Nothing else of a resource changes.
   *
   * @returns how many were replaced
   */
  reindex(items: readonly Reindexed[]): Promise<number>;

  /**
   * Replaces the content of a version, with its index entries where it is current still; durably when it resolves. Version,
   * time and place in history stay. A write that was decided on the version before is refused (`Change.amended`).
   *
   * @returns false: the version is not there, its content is another than `before`, or it is not current and has to be
   */
  amend(amendment: Amendment): Promise<boolean>;

  /**
   * Removes versions for good, with their index entries and what is within them: first past versions of deleted resources,
   * the oldest first, then their deletions, then past versions of others, then what lives. Durable when it resolves; what it
   * did not remove is as it was. A resource whose versions are all gone is as if it had never been.
   */
  expunge(expunge: Expunge): Promise<Expunged>;

  /**
   * Does all changes or none, in their order, and durably when it resolves. History is appended, index entries are
   * replaced. `lastUpdated` is the time of the write, but later than that of the version before by a millisecond at
   * least, and never before the `complete` of a history page that did not show it.
   *
   * Preconditions hold before the first change, and until all are done: of writes with preconditions of the same type and condition, in
   * all processes, each sees what those before it wrote. A condition that is written in another way is another one, but for
   * the order of what has to be fulfilled together.
   *
   * @param steps changes of maps that are done with the rest, or not at all: a job notes what it has done. Absent: none
   * @returns the new versions, in the order of the changes
   * @throws VersionConflict
   * @throws StepConflict where the present value of an entry is another than its step expects
   * @throws PreconditionConflict with one of the preconditions given
   * @throws FhirError `reference-dangling` where targets of the changes are missing once all are done
   * @throws StillReferred where others refer to what a deletion deletes, once all are done
   * @throws FhirError `too-costly` where the search of a precondition takes longer than `PRECONDITION_BUDGET`
   */
  write(
    changes: readonly Change[],
    preconditions?: readonly Precondition[],
    steps?: readonly MapStep[],
  ): Promise<StoredVersion[]>;

  /**
   * A piece of a walk through every version of every resource, oldest first: the order of history turned round. All that
   * is older than `complete` of a history asked for before the walk is shown, once; of what is written meanwhile what comes
   * later in that order. Asking again with the last `next` gives what has come since.
   *
   * @param after `next` of the piece before; absent: from the beginning
   * @param limit greatest number of versions; there are fewer where they are large
   * @throws FhirError `parameter-invalid` where `after` is none
   */
  scan(after: string | undefined, limit: number): Promise<VersionScan>;

  /**
   * Puts versions of another store into this one, their numbers and times as they are there: in the order of its scan,
   * all or none, and durably when it resolves. Those that are here already are skipped. No other process may write meanwhile,
   * and who asks for history misses what comes.
   *
   * @returns how many were not here
   * @throws Error naming a version that is here with another content or time, that follows one that is missing, or that
   * is older than others here
   */
  restore(versions: readonly RestoredVersion[]): Promise<number>;

  /** How many resources of each type live; types without any are left out. */
  counts(): Promise<ReadonlyMap<string, number>>;

  readonly blobs: BlobStore;
  readonly maps: AtomicMaps;
  readonly log: VersionLog;

  /** Whether it can serve: reads something, and says what is wrong. For `/health/ready`. */
  check(): Promise<{ readonly ok: boolean; readonly detail?: string }>;

  /** Releases files and connections; no method may be called after it. */
  close(): Promise<void>;
}
