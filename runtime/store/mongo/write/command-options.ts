import type { ClientSession } from 'mongodb';

/** Options of each command of a write: its session, and the milliseconds that the server may work on it. */
export type CommandOptions = () => { readonly session: ClientSession; readonly maxTimeMS: number };

/**
 * Commands that the server ends when the time of their write is over. Without a limit the server would continue, and might
 * apply the write long after the client received an error. https://www.mongodb.com/docs/manual/tutorial/terminate-running-operations/
 *
 * @param deadline in the time of `performance.now()`
 */
export function commandOptions(session: ClientSession, deadline: number): CommandOptions {
  return () => ({ session, maxTimeMS: Math.max(1, Math.ceil(deadline - performance.now())) });
}

/** Commands time out this long before the client receives an unknown outcome. In milliseconds. */
export const SLACK = 100;
