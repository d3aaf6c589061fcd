import type { AuditEvent, AuditSink } from '../audit.js';

/** Where lines are appended, all or nothing as far as that is known. */
export interface LineTarget {
  /** @param lines each ends with a newline */
  append(lines: string): Promise<void>;
  close(): Promise<void>;
}

/** What happens when nothing can be written. */
export interface LineTroubles {
  /** @param lost events that are given up */
  failed(error: unknown, lost: number): void;
}

/** Events that wait while nothing can be written, at most; more are lost, and that is told. */
const MOST_WAITING = 10_000;
const RETRY = 1000;

/**
 * A sink of one JSON line for each event. While one batch is written the next gathers, so that there are few writes under
 * load and no delay without. What cannot be written is tried again, and kept meanwhile as far as there is room.
 */
export function createLineSink(target: LineTarget, { failed }: LineTroubles): AuditSink {
  let waiting: string[] = [];
  let writing: Promise<void> | undefined;
  let isClosing = false;

  async function write(): Promise<void> {
    // What comes in the same turn goes along.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await target.append(batch.join(''));
      } catch (error) {
        const room = MOST_WAITING - waiting.length;
        const kept = isClosing ? [] : batch.slice(0, Math.max(0, room));
        waiting = [...kept, ...waiting];
        failed(error, batch.length - kept.length);
        if (isClosing) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY).unref());
      }
    }
  }

  function start(): void {
    writing ??= write().finally(() => {
      writing = undefined;
      if (waiting.length > 0 && !isClosing) start();
    });
  }

  return {
    take(event: AuditEvent) {
      if (waiting.length >= MOST_WAITING) return failed(undefined, 1);
      waiting.push(`${JSON.stringify(event)}\n`);
      start();
    },
    async close() {
      isClosing = true;
      await writing;
      if (waiting.length > 0) await write();
      await target.close();
    },
  };
}
