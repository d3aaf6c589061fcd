import type { ClientSession } from 'mongodb';

/** What each command of a write is given: whose it is, and how many milliseconds the server may work on it. */
export type CommandOptions = () => { readonly session: ClientSession; readonly maxTimeMS: number };

/**
 * Commands that the server ends when the time of their write is over. Without that it goes on with what it cannot finish, and may
 * do it long after the client was told that it was not done. https://www.mongodb.com/docs/manual/tutorial/terminate-running-operations/
 *
 * @param deadline in the time of `performance.now()`
 */
export function commandOptions(session: ClientSession, deadline: number): CommandOptions {
  return () => ({ session, maxTimeMS: Math.max(1, Math.ceil(deadline - performance.now())) });
}

/** Who gives up does so so much before the client is told that nobody knows. In milliseconds. */
export const SLACK = 100;
