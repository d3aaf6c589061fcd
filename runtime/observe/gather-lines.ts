import { atExit } from '../fhir/at-exit.js';

/** How long a line waits for others at most, in milliseconds. */
const WAIT = 10;

/** So many characters wait for no more. */
const MOST = 65_536;

/** What a line of a request has; others are few, and are written at once. */
const REQUEST = '"event":"request"';

/**
 * Writes the lines that requests leave in some milliseconds together: a call of the system for each takes as long as a tenth of a read.
 * What waits is written when the process ends by itself or by an error; it is lost where something kills it without a signal that it
 * can catch.
 */
export function gatherLines(stream: { write(text: string): unknown }): { write(line: string): void } {
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const text = lines;
    lines = '';
    if (text !== '') stream.write(text);
  };
  atExit(flush);
  return {
    write(line) {
      lines += line;
      if (lines.length >= MOST || !line.includes(REQUEST)) flush();
      else timer ??= setTimeout(flush, WAIT);
    },
  };
}
