import { expect, it } from 'vitest';

import { yieldToEventLoop } from '../../../runtime/fhir/yield-to-event-loop.js';

/** Longer than a turn. */
function work(): void {
  const end = performance.now() + 10;
  while (performance.now() < end);
}

it('several that go by one pace do not work one after the other without letting others have a turn', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const pace = yieldToEventLoop();
  const seen: number[] = [];
  work();
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let n = 0; n < 3; n++) {
        await pace();
        seen.push(turns);
        work();
      }
    }),
  );
  isOver = true;
  expect(new Set(seen).size).toBe(seen.length);
});
