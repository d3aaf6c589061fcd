import type { AnyBulkWriteOperation } from 'mongodb';

import { append } from '../../../fhir/lists.js';
import { formatInstant } from '../../../fhir/instant.js';
import { stampBody } from '../../body.js';
import type { Change, StoredVersion } from '../../store.js';
import { countContained, cutByMembers } from '../../write-contained.js';
import { replaceAll } from './apply-changes.js';
import { fieldsOf, readValue, type Raw } from '../bson/bson.js';
import { chunksOf } from '../query/links/read-all.js';
import { restampContained } from './contained-resources.js';
import { keyOf, pastKeyOf, type PastDocument, type ResourceDocument } from '../bson/documents.js';
import type { CommandOptions } from './command-options.js';
import { noteRemoval } from './removals.js';
import type { StampsOfWrite } from './stamps.js';
import { readHead } from '../bson/stored-version.js';
import type { Work } from './transaction.js';
import type { WriterParts } from './writer-parts.js';

/** Versions that are stamped at a time, and what is within them; what has more within it is stamped alone. */
const AT_ONCE = { versions: 100, members: 1000 };

/**
 * Stamps anew what was answered late: it may have been committed so late that a history page was called complete up to a
 * time after its stamp. The client that waited for the slow server waits a little longer.
 */
export function openRestamper({
  collections: { resource, history, setting },
  transactions,
  stamps,
}: Pick<WriterParts, 'collections' | 'transactions' | 'stamps'>): (
  changes: readonly Change[],
  written: readonly StoredVersion[],
  deadline: number,
) => Promise<StoredVersion[]> {
  return async (changes, written, deadline) => {
    const again: StoredVersion[] = [];
    // In transactions of their own: the server has no room for one that moves thousands of documents in all indexes.
    for (const some of cut(changes)) {
      const from = again.length;
      const stamp: Work<StoredVersion[]> = (_session, given) =>
        restampSome(some, written.slice(from, from + some.length), stamps.begin(), given);
      append(again, await transactions.run(stamp, deadline));
    }
    return again;
  };

  async function restampSome(
    changes: readonly Change[],
    written: readonly StoredVersion[],
    times: StampsOfWrite,
    given: CommandOptions,
  ): Promise<StoredVersion[]> {
    const keys = written.map(keyOf);
    const found = await resource.find<Raw>({ _id: { $in: keys } }, { ...given(), raw: true }).toArray();
    const documents = new Map(found.map((bytes) => [keyOf(readHead(bytes)), toDocument(bytes)]));
    const current: { readonly document: ResourceDocument; readonly replaced: number }[] = [];
    const pasts: AnyBulkWriteOperation<PastDocument>[] = [];
    const again = written.map((stored, i): StoredVersion => {
      const key = keyOf(stored);
      const document = documents.get(key);
      // One that was followed by another already has to stay before that one.
      if (document?.version !== stored.version) return stored;
      const { updated, n } = times.next(stored.lastUpdated);
      current.push({ document: stampDocument(document, updated, n), replaced: stored.version });
      if (stored.version > 1) {
        const filter = { _id: pastKeyOf(key, stored.version - 1) };
        pasts.push({ updateOne: { filter, update: { $set: { until: new Date(updated) } } } });
      }
      const body = changes[i]?.body;
      const { json: _json, ...head } = { ...stored, lastUpdated: updated };
      return body === undefined ? head : { ...head, json: stampBody(body, stored.version, updated) };
    });
    if (current.length > 0) {
      await noteRemoval({ setting }, given);
      await replaceAll(resource, current, given);
    }
    await restampContained(resource, current.map(({ document }) => document), given); // prettier-ignore
    if (pasts.length > 0) await history.bulkWrite(pasts, given());
    return again;
  }
}

function cut(changes: readonly Change[]): readonly (readonly Change[])[] {
  const pieces = [...cutByMembers(changes, (change) => countContained([change]), AT_ONCE.members)];
  return pieces.flatMap((piece) => [...chunksOf(piece, AT_ONCE.versions)]);
}

/** A document as it can be written again with the same bytes. */
function toDocument(bytes: Raw): ResourceDocument {
  const fields = [...fieldsOf(bytes)].map(([name, field]) => [name, readValue(bytes, field)] as const);
  return Object.fromEntries(fields) as unknown as ResourceDocument;
}

function stampDocument(document: ResourceDocument, updated: number, n: number): ResourceDocument {
  const { resource } = document;
  if (resource instanceof Map)
    (resource.get('meta') as Map<string, unknown>).set('lastUpdated', formatInstant(updated));
  return { ...document, updated: new Date(updated), n, restamped: true };
}
