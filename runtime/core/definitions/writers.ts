import { setTimeout as sleep } from 'node:timers/promises';

import { newId } from '../../fhir/id.js';
import { SYSTEM_MAPS } from '../../store/system-maps.js';
import type { Store } from '../../store/store.js';

/**
 * How long a process counts as one that writes after it last said so, in milliseconds. It begins no write some time before that: a
 * large one takes its time, and clocks differ.
 */
const HOLDS = 60_000;
const STOPS = 20_000;
const RENEWED = 8000;

/** Announcement of a process to the others: by which definitions it writes. */
export interface Writer {
  /** Whether others can rely on what it said last. */
  isValid(): boolean;
  /** Says by what it writes from now on. */
  register(whole: string): Promise<void>;
  /** Says again what it said last, where that did not get through, or is some time ago and others are to rely on it on. */
  renew(isWriting: boolean): Promise<void>;
  leave(): Promise<void>;
}

/** One that has said nothing yet. */
export function createWriter({ maps }: Pick<Store, 'maps'>): Writer {
  const id = newId();
  let said: { readonly text: string; readonly at: number } | undefined;
  /** What others are to know; what was begun before may not come after it. */
  let wanted: string | undefined;
  let last: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    const text = wanted;
    if (text === undefined) return;
    const at = Date.now();
    for (;;) {
      const present = await maps.get(SYSTEM_MAPS.writers, id);
      if (await maps.swap(SYSTEM_MAPS.writers, id, present, text, at + HOLDS)) break;
    }
    said = { text, at };
  }

  function say(): Promise<void> {
    const turn = last.then(write, write);
    last = turn.catch(() => {});
    return turn;
  }

  return {
    isValid: () => said !== undefined && Math.abs(Date.now() - said.at) < STOPS,
    register(text) {
      wanted = text;
      return say();
    },
    async renew(isWriting) {
      if (said === undefined) return;
      if (said.text !== wanted || (isWriting && Math.abs(Date.now() - said.at) > RENEWED)) await say();
    },
    leave: () => maps.delete(SYSTEM_MAPS.writers, id),
  };
}

/** Between two looks, and as long as it is waited, in milliseconds: then a process that says nothing more is gone. */
const LOOKS = 100;
const PATIENCE = HOLDS + 30_000;

/**
 * Waits until every process that writes does so by these definitions.
 *
 * @param isWanted asked from time to time
 * @returns whether they do; false: that is not wanted any more
 * @throws Error where others go on by their own
 */
export async function writersAgree(
  { maps }: Pick<Store, 'maps'>,
  whole: string,
  isWanted: () => boolean,
  signal?: AbortSignal,
): Promise<boolean> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const others = [...(await maps.entries(SYSTEM_MAPS.writers)).values()].filter((each) => each !== whole);
    if (!isWanted()) return false;
    if (others.length === 0) return true;
    if (performance.now() > end) {
      throw new Error(
        `${others.length} processes on this store write by other definitions; stop them, or start them with these, and begin again`,
      );
    }
    await sleep(LOOKS, undefined, { ...(signal !== undefined && { signal }) });
  }
}
