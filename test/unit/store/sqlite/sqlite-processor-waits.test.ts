import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

import { openProcessorWaits } from '../../../../runtime/store/sqlite/threads/processor-waits.js';

const ofThread = (): number => {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0; // not Linux
  }
};

it('the time for which others had the processor is what the system counts of this thread', () => {
  const waits = openProcessorWaits();
  for (let n = 0; n < 3; n++) {
    const before = ofThread();
    const total = waits.total();
    expect(total).toBeGreaterThanOrEqual(before);
    expect(total).toBeLessThanOrEqual(ofThread());
  }
  waits.close();
});
