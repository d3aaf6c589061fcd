import type { JsonObject } from '../../fhir/resource.js';
import { stampBody } from '../../store/body.js';
import type { Change, MapStep, Store, StoredVersion } from '../../store/store.js';
import type { Reply } from '../call.js';

/**
 * The ledger of a call that a job makes. It notes the answers of writes together with these, so that a write that is done is not
 * done again after the end of its process, and is answered all the same.
 */
export interface WriteLedger {
  /** Returns the answers that were noted with the write of the call; undefined: it was not done. */
  noted(): readonly NotedReply[] | undefined;
  /** Returns the steps by which a write notes its answers, which fail once another process has taken over the job. */
  steps(replies: readonly NotedReply[]): readonly MapStep[];
  /** Returns the ledger of an entry of a batch. */
  ofEntry(index: number): EntryLedger;
  /**
   * Lets other requests have their turn.
   *
   * @param done entries so far
   * @param total entries in all
   * @throws Error where the job has to end
   */
  turn(done: number, total: number): Promise<void>;
}

/** The ledger of an entry of a batch, whose answer can be kept by itself too: the entry wrote nothing, or failed. */
export interface EntryLedger extends WriteLedger {
  /** Returns the JSON text that was kept. */
  kept(): string | undefined;
  /** Keeps the JSON text of an answer unless a write has noted it. @throws StepConflict where the job has another process */
  keep(answer: string): Promise<void>;
}

/** The answer to a write before it is done: what depends on the time of the write is left out. */
export interface NotedReply extends Pick<Reply, 'status' | 'headers' | 'versionId' | 'location' | 'contentLocation'> {
  /** Of an entry of a transaction: its place. */
  readonly index?: number;
  readonly resource?: JsonObject;
  /** The version that the answer is about: type, id and number. */
  readonly of?: readonly [string, string, number];
  /** The answer holds the content of that version. */
  readonly hasContent?: true;
}

/** Returns the versions that changes will make, but for their times. */
export function expectedVersions(changes: readonly Change[]): readonly StoredVersion[] {
  return changes.map(({ type, id, expected, body }) => {
    const version = expected + 1;
    return { type, id, version, lastUpdated: 0, ...(body !== undefined && { json: stampBody(body, version, 0) }) };
  });
}

const VERSION = /^([A-Za-z]+)\/([^/]+)\/_history\/([0-9]+)$/;

/**
 * Takes down an answer.
 *
 * @param written the versions that the write makes
 */
export function noteReply(reply: Reply, written: readonly StoredVersion[], index?: number): NotedReply {
  const { status, headers, versionId, location, contentLocation, resource, json, lastUpdated } = reply;
  const [, type, id, version] = VERSION.exec(location ?? contentLocation ?? '') ?? [];
  const [first] = lastUpdated === undefined ? [] : written;
  const of: NotedReply['of'] =
    type !== undefined && id !== undefined
      ? [type, id, Number(version)]
      : first && [first.type, first.id, first.version];
  return {
    status,
    ...(index !== undefined && { index }),
    ...(headers !== undefined && { headers }),
    ...(versionId !== undefined && { versionId }),
    ...(location !== undefined && { location }),
    ...(contentLocation !== undefined && { contentLocation }),
    ...(resource !== undefined && { resource }),
    ...(of !== undefined && { of }),
    ...(json !== undefined && { hasContent: true as const }),
  };
}

/** Completes an answer that was noted with its write. Content of a Binary beyond the resource itself is left out. */
export async function replyAsNoted(noted: NotedReply, store: Pick<Store, 'readVersion'>): Promise<Reply> {
  const { index: _index, of, hasContent, ...rest } = noted;
  const version = of && (await store.readVersion(...of));
  if (version === undefined) return rest;
  const { lastUpdated, json } = version;
  return {
    ...rest,
    about: [version],
    ...(noted.versionId !== undefined && { lastUpdated }),
    ...(hasContent === true && json !== undefined && { json }),
  };
}
