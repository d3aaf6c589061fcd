import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

import type { AtomicMaps } from '../../store/store.js';
import { referenceOf, type Deed } from './provenance.js';

/** The map that holds the key of seals. Copies of a store take it along, and so the records stay valid there. */
const MAP = 'record-key';
const KEY = 'key';

/**
 * Seals the record of a replacement or merge with a key that only the store has. Clients may write Provenances too, and an undo
 * restores only what a sealed one names.
 *
 * @param id of the Provenance
 * @param task id of the Task, where it records a step of a job
 * @returns HMAC-SHA-256 over all that an undo reads of the record, in Base64. https://www.rfc-editor.org/rfc/rfc2104
 */
export async function makeSeal(
  id: string,
  { activity, source, target, changed }: Deed,
  task: string | undefined,
  maps: AtomicMaps,
): Promise<string> {
  const names = [target, source, ...changed].map(referenceOf);
  const text = JSON.stringify([id, activity, task ?? null, ...names]);
  return createHmac('sha256', await findKey(maps))
    .update(text)
    .digest('base64');
}

/** Whether two seals are the same. The time that it takes does not tell where they differ. */
export function isSameSeal(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The process that first needs the key makes it. */
async function findKey(maps: AtomicMaps): Promise<Buffer> {
  const known = await maps.get(MAP, KEY);
  if (known !== undefined) return Buffer.from(known, 'base64');
  await maps.swap(MAP, KEY, undefined, randomBytes(32).toString('base64'));
  const made = await maps.get(MAP, KEY);
  if (made === undefined) throw new Error('the store lost the key of records');
  return Buffer.from(made, 'base64');
}
