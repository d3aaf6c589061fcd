import type { Binary, Collection, Db, ObjectId, Timestamp } from 'mongodb';

import type { TokenEntry } from '../../../indexing/entry.js';
import type { LoggedInteraction } from '../../version-log.js';
import type { Vector } from '../../../indexing/places/sphere.js';

/** The place of a number in the order in which they are printed, and the text that BSON cannot give back. */
export type NumberText = readonly [place: number, text: string];

/** One version of a resource. */
export interface VersionFields {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly updated: Date;
  /** Order among versions of one millisecond. */
  readonly n: number;
  readonly deleted?: true;
  /** The resource as people know it, `meta.versionId` and `meta.lastUpdated` included. Absent: a deletion. */
  readonly resource?: unknown;
  readonly numbers?: readonly NumberText[];
  /** How often the content of this version was replaced. Absent: never. */
  readonly amended?: number;
}

/** A token: what searches find it by is the code, then the system. */
export interface TokenRow extends Row {
  readonly code?: string | undefined;
  readonly system?: string | undefined;
  readonly ofType?: TokenEntry['ofType'] | undefined;
  /** Of a position, whose cell is the code: a point on a sphere of radius 1. */
  readonly at?: Vector;
  /** Of a strip of a region, whose cell is the code: its ends, and the lines in it from the south to the north. */
  readonly south?: number;
  readonly west?: number;
  readonly north?: number;
  readonly east?: number;
  readonly lines?: readonly { readonly x1: number; readonly y1: number; readonly x2: number; readonly y2: number }[];
}

/** A string. */
export interface StringRow extends Row {
  readonly folded: string;
  readonly text: string;
}

/** An interval of instants; an end that is open is the first or last that a Date can be. */
export interface DateRow extends Row {
  readonly low: Date;
  readonly high: Date;
}

/** A number or a quantity; of a point both ends are the value, of an interval an open end is infinite. */
export interface NumberRow extends Row {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly system?: string | undefined;
  readonly code?: string | undefined;
  readonly unit?: string | undefined;
  /** The canonical unit, where the same value in it has a row of its own. */
  readonly canonical?: string | undefined;
}

/** A reference: one row for each way in which what it points to is known. */
export interface ReferenceRow extends Row {
  /** `Patient/1`, with the base URL before it where that is another server; or a URL; or the value of an identifier. */
  readonly to?: string | undefined;
  /** The id in the place of a resource: what references are found by whose type may be one of many. */
  readonly id?: string | undefined;
  /** What `to` is; absent: the place of a resource. */
  readonly by?: 'url' | 'identifier' | undefined;
  /** The type that the reference names beside a URL. */
  readonly type?: string | undefined;
  readonly version?: string | undefined;
  readonly fragment?: string | undefined;
  /** The system of an identifier. */
  readonly system?: string | undefined;
  /** The row before is of the same reference; sorting goes by that. */
  readonly also?: true | undefined;
}

/** A URI. */
export interface UriRow extends Row {
  readonly value: string;
}

/**
 * The words of a parameter, each once, and the text that phrases are found in: see `WordsEntry`. The narrative has no words of its
 * own, they are among those of the content; and its text is stored here, not again in that of the content.
 */
export interface WordsRow extends Row {
  readonly w?: readonly string[];
  readonly text: string;
}

/** What every row of an index has. */
interface Row {
  /**
   * Code of the search parameter; of a component of a composite `code$n`, from 1. Codes as they are, not numbers: prefix
   * compression keeps the index as small, and people can read them.
   */
  readonly p: string;
  /** Rows of one value of a composite share it. */
  readonly g?: number | undefined;
}

/** Index entries: one array for each way of comparing, as an index may hold one array of each document. */
export interface IndexRows {
  readonly token?: readonly TokenRow[];
  readonly string?: readonly StringRow[];
  readonly date?: readonly DateRow[];
  readonly number?: readonly NumberRow[];
  readonly reference?: readonly ReferenceRow[];
  readonly uri?: readonly UriRow[];
  readonly words?: readonly WordsRow[];
  /** Rows whose values other parameters have, by which resources are found (`isCovered` of composites): no index has these. */
  readonly covered?: CoveredRows;
}

/** Such rows, by kind. */
export type CoveredRows = Omit<IndexRows, 'words' | 'covered'>;

/**
 * The current version of a resource; `_id` is `Patient/1`. Or what is within one (`store/contained-resources.ts`), without its content:
 * `_id` is `#Medication/MedicationRequest/23#m1`, version and time are those of the other.
 */
export interface ResourceDocument extends VersionFields, IndexRows {
  readonly _id: string;
  /** Types of what is within it: absent, there is nothing. */
  readonly within?: readonly string[];
  /** The document was written again with another time (`write/restamp.ts`): the log has the version already. */
  readonly restamped?: true;
  /** Sort slots, `o0` … and `d0` …: see `SortSlots`. */
  readonly [slot: `${'o' | 'd'}${number}`]: unknown;
}

/** A version that was followed by another; `_id` is `Patient/1/3`. */
export interface PastDocument extends VersionFields {
  readonly _id: string;
  /** When the next came. */
  readonly until: Date;
  /** It was copied before the next came, and is perhaps current still: see `Copies`. */
  readonly pending?: true;
  /** Which store made the copy, as long as it is pending. */
  readonly by?: string;
  /** The same write made the next version too, so that this one was never in `resource`. */
  readonly interim?: true;
}

/** A version in the order of commits; `_id` is its number. */
export interface ChangeDocument {
  readonly _id: number;
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly updated: Date;
  readonly interaction: LoggedInteraction;
}

/** How far the log is, and which process goes on with it; `_id` is `log`. */
export interface LogDocument {
  readonly _id: string;
  /** The last number given. */
  readonly seq: number;
  /** The last number that was trimmed. */
  readonly floor: number;
  /** Time of the cluster from which on versions are numbered; absent: the log has not begun. */
  readonly start?: Timestamp;
  /** Place in the change stream after the last number. */
  readonly token?: unknown;
  /** Counts the processes that took the log over, so that one that lost it cannot go on. */
  readonly epoch: number;
  readonly holder?: string;
  /** How long the holder may do without a sign of life. */
  readonly until?: Date;
  /** When the log began: there as long as `start` is. */
  readonly began?: Date;
  /** Versions before this instant were trimmed. */
  readonly trimmed?: Date;
  /** When the log was needed last. */
  readonly needed: Date;
  /** The stream was lost: versions up to about this time were found by their times, and may come in the stream as well. */
  readonly recovered?: Date;
}

/** An entry of a small map. */
export interface MapDocument {
  readonly _id: { readonly map: string; readonly key: string };
  readonly value: string;
  /** The server deletes it some time after. */
  readonly expires?: Date;
}

/**
 * Document that writes with preconditions of the same type and condition touch first, so that they conflict with each
 * other. `_id` is a digest of the type and condition. Nothing needs the document when the write is over.
 */
export interface LockDocument {
  readonly _id: string;
  /** Writes that touched it: each changes something. */
  readonly n: number;
  /** When one did last; the server deletes it some time after. */
  readonly touched: Date;
}

/** Setting that the database keeps about itself. */
export interface SettingDocument {
  readonly _id: string;
  readonly value: number;
  /** The layout that all documents have: a process may have died while it migrated them. */
  readonly migrated?: number;
}

/**
 * A blob, laid out as GridFS does. Without `filename` it is not whole yet, or not wanted any more; `metadata.unwanted` says
 * since when, so that dead uploads are found and live readers of a replaced one can finish.
 */
export interface FileDocument {
  readonly _id: ObjectId;
  readonly length: number;
  readonly chunkSize: number;
  readonly uploadDate: Date;
  readonly filename?: string;
  readonly metadata: { readonly sha256?: string; readonly unwanted?: Date; readonly dying?: true };
}

/** A piece of a blob. */
export interface ChunkDocument {
  readonly _id?: ObjectId;
  readonly files_id: ObjectId;
  readonly n: number;
  readonly data: Binary;
}

/** The collections of a database. */
export interface Collections {
  readonly resource: Collection<ResourceDocument>;
  readonly history: Collection<PastDocument>;
  readonly map: Collection<MapDocument>;
  readonly lock: Collection<LockDocument>;
  readonly change: Collection<ChangeDocument>;
  readonly log: Collection<LogDocument>;
  readonly setting: Collection<SettingDocument>;
  readonly files: Collection<FileDocument>;
  readonly chunks: Collection<ChunkDocument>;
}

/** Names the collections of a database. */
export function collectionsOf(db: Db): Collections {
  return {
    resource: db.collection('resource'),
    history: db.collection('history'),
    map: db.collection('map'),
    lock: db.collection('lock'),
    change: db.collection('change'),
    log: db.collection('log'),
    setting: db.collection('setting'),
    files: db.collection('blob.files'),
    chunks: db.collection('blob.chunks'),
  };
}

/** The `_id` of a current version. */
export function keyOf({ type, id }: { readonly type: string; readonly id: string }): string {
  return `${type}/${id}`;
}

/** The `_id` of a past version. */
export function pastKeyOf(key: string, version: number): string {
  return `${key}/${version}`;
}
