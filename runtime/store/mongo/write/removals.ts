import type { Collections } from '../bson/documents.js';
import type { CommandOptions } from './command-options.js';

/** `_id` of the setting that numbers the removals. */
export const REMOVALS = 'removals';

/**
 * Notes in a transaction that it removes versions, gives them another time, or puts in such of an earlier time: whatever any process
 * has counted of history is no longer right then.
 */
export async function noteRemoval({ setting }: Pick<Collections, 'setting'>, given: CommandOptions): Promise<void> {
  await setting.updateOne({ _id: REMOVALS }, { $inc: { value: 1 } }, { ...given(), upsert: true });
}
