import { stampBody } from '../../store/body.js';
import type { Change, Store, StoredVersion } from '../../store/store.js';
import type { Reply } from '../call.js';
import type { NotedReply } from './write-ledger.js';

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
