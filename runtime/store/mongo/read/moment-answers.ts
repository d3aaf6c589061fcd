import { BSON, type Document } from 'mongodb';

import type { ClusterTime } from './batch.js';

/** Answers that are kept, and the greatest sizes: of a command in bytes, of an answer in documents. */
const MOST = { answers: 500, command: 4096, documents: 128 };

/**
 * Small answers of the last moment that was asked about: the same command has the same answer in the same moment. While nothing is written, the
 * moment stays the same for some ten seconds.
 */
export interface MomentAnswers {
  /**
   * What was answered before; else what is answered now.
   *
   * @param time absent: not known yet
   * @param sizeOf documents of an answer
   */
  get<T>(
    time: ClusterTime | undefined,
    command: Document,
    ask: () => Promise<T>,
    sizeOf: (answer: T) => number,
  ): Promise<T>;
}

/** Nothing is known yet. */
export function openMomentAnswers(): MomentAnswers {
  let moment: ClusterTime = { seconds: 0, increment: 0 };
  const known = new Map<string, unknown>();

  return {
    async get<T>(
      time: ClusterTime | undefined,
      command: Document,
      ask: () => Promise<T>,
      sizeOf: (answer: T) => number,
    ): Promise<T> {
      if (time === undefined || isBefore(time, moment)) return ask();
      if (isBefore(moment, time)) {
        moment = time;
        known.clear();
      }
      // As the server gets it: JSON has no word for some values.
      const bytes = BSON.serialize(command, { ignoreUndefined: true });
      if (bytes.length > MOST.command) return ask();
      const name = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
      const before = known.get(name) as { readonly answer: T } | undefined;
      if (before !== undefined) return before.answer;
      const answer = await ask();
      const isKept = !isBefore(time, moment) && sizeOf(answer) <= MOST.documents && known.size < MOST.answers;
      if (isKept) known.set(name, { answer });
      return answer;
    },
  };
}

function isBefore(a: ClusterTime, b: ClusterTime): boolean {
  return a.seconds < b.seconds || (a.seconds === b.seconds && a.increment < b.increment);
}
