import type { Writable } from 'node:stream';

import type { LineTarget } from './lines.js';

/** Appends lines to a stream that stays open, such as the standard output. */
export function streamTarget(stream: Writable): LineTarget {
  return {
    append: (lines) =>
      new Promise((resolve, reject) => {
        stream.write(lines, (error) => (error ? reject(error) : resolve()));
      }),
    close: () => Promise.resolve(),
  };
}
