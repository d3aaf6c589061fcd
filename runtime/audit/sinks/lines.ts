import type { AuditSink } from '../audit.js';

/** Where lines are appended, all or nothing as far as that is known. */
export interface LineTarget {
  /** @param lines UTF-8; each ends with a newline */
  append(lines: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** Callbacks for the begin and the end of a time in which no events can be written. */
export interface LineTroubles {
  /** From now on events wait, or are lost. @param error undefined: more came than can be written */
  began(error: unknown): void;
  /** They are written again, or the sink was closed. @param lost events that were given up meanwhile */
  ended(lost: number): void;
}

/** Events that wait while nothing can be written, at most; more are lost, and the log says so. */
const MOST_WAITING = 10_000;
const RETRY = 1000;
/** Between two writes, in milliseconds: what comes meanwhile is written together. The first of all waits for nothing. */
const PAUSE = 10;

/**
 * A sink of one JSON line for each event. While one batch is written, and a little longer, the next gathers, so that there
 * are few writes under load and no delay without. What cannot be written is tried again, and kept meanwhile as far as there is room.
 */
export function createLineSink(target: LineTarget, troubles: LineTroubles): AuditSink {
  let waiting: string[] = [];
  /** What is being written, again where that failed. */
  let batch: readonly string[] = [];
  let writing: Promise<void> | undefined;
  let isClosing = false;
  let isTroubled = false;
  let lost = 0;

  function begin(error: unknown): void {
    if (!isTroubled) troubles.began(error);
    isTroubled = true;
  }

  function end(): void {
    if (isTroubled) troubles.ended(lost);
    isTroubled = false;
    lost = 0;
  }

  const hasLines = (): boolean => batch.length + waiting.length > 0;

  async function write(): Promise<void> {
    // What comes in the same turn goes along.
    await new Promise((resolve) => setImmediate(resolve));
    while (hasLines()) {
      if (batch.length === 0) [batch, waiting] = [waiting, []];
      try {
        await target.append(Buffer.from(`${batch.join('\n')}\n`));
        batch = [];
        end();
        if (!isClosing) await new Promise((resolve) => setTimeout(resolve, PAUSE));
      } catch (error) {
        begin(error);
        if (isClosing) {
          lost += batch.length;
          batch = [];
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY).unref());
      }
    }
  }

  function start(): void {
    writing ??= write().finally(() => {
      writing = undefined;
      if (hasLines() && !isClosing) start();
    });
  }

  return {
    take(event) {
      if (waiting.length + batch.length >= MOST_WAITING) {
        lost += 1;
        return begin(undefined);
      }
      waiting.push(event);
      start();
    },
    async close() {
      isClosing = true;
      await writing;
      if (hasLines()) await write();
      end();
      await target.close();
    },
  };
}
