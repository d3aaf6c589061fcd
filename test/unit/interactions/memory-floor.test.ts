import { describe, expect, it } from 'vitest';

import { floorGrowth } from '../../long/memory-floor.js';

/** Memory that rises from 150 to 210 between collections, which come at uneven times; more at each sample by a step. */
const saw = (step: number): number[] =>
  Array.from({ length: 100 }, (_, i) => 150 + ((i * 7) % 60) + (i % 13) + step * i);

describe('the floor of memory under load, by which the soak finds leaks', () => {
  it('is flat where only collections come late', () => {
    expect(floorGrowth(saw(0))).toBeCloseTo(1, 1);
    const late = saw(0).map((each, i) => (i > 80 && i % 3 === 0 ? 280 : each));
    expect(floorGrowth(late)).toBeLessThan(1.1);
  });

  it('rises with what is never freed, though it is less than what is', () => {
    expect(floorGrowth(saw(0.5))).toBeGreaterThan(1.15);
  });
});
