import type { Amendment } from '../../store.js';
import type { Raw } from '../bson/bson.js';
import { keyOf, pastKeyOf } from '../bson/documents.js';
import { amendmentsOf, readHead, toStoredVersion, VERSION_ONLY } from '../bson/stored-version.js';
import { replaceAll } from './apply-changes.js';
import type { CommandOptions } from './command-options.js';
import { toDocument } from './plan-write.js';
import type { WriterParts } from './writer-parts.js';

/**
 * Replaces the content of one version in a transaction, so that it neither gets lost in a write of the same moment nor makes one
 * lost.
 *
 * @param time how long it may take, in milliseconds
 * @returns false where the version is not there with the content that the caller has read, or as the current one
 */
export function openAmend({
  collections: { resource, history },
  transactions,
  slotOf,
  time,
}: Pick<WriterParts, 'collections' | 'transactions' | 'slotOf' | 'time'>): (amendment: Amendment) => Promise<boolean> {
  async function amend(amendment: Amendment, given: CommandOptions): Promise<boolean> {
    const { type, id, version, isCurrent, before } = amendment;
    const _id = keyOf({ type, id });
    const options = { ...given(), raw: true, projection: VERSION_ONLY } as const;
    const current = await resource.findOne<Raw>({ _id, version }, options);
    if (current === null && isCurrent === true) return false;
    const found = current ?? (await history.findOne<Raw>({ _id: pastKeyOf(_id, version) }, { ...given(), raw: true }));
    if (found === null || toStoredVersion(found).json !== before) return false;
    const { updated, n, fields: old } = readHead(found);
    const change = { ...amendment, expected: version - 1 };
    const { document, fields } = toDocument(change, version, { updated, n }, slotOf);
    // A write that was decided on what was there before finds by the number that it is there no more.
    if (current !== null) {
      const amended = amendmentsOf(current, old) + 1;
      await replaceAll(resource, [{ document: { ...document, amended }, replaced: version }], given);
    } else {
      const { resource: content, numbers } = fields;
      const $inc = { amended: 1 };
      const update = numbers === undefined ? { $set: { resource: content }, $unset: { numbers: true }, $inc } : { $set: { resource: content, numbers }, $inc }; // prettier-ignore
      await history.updateOne({ _id: pastKeyOf(_id, version) }, update as never, given());
    }
    return true;
  }

  return (amendment) => transactions.run((_session, given) => amend(amendment, given), performance.now() + time);
}
