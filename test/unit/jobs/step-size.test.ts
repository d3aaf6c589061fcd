import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { createBreath } from '../../../runtime/jobs/engine/breathe.js';
import { createStepSize } from '../../../runtime/jobs/engine/step-size.js';

describe('the steps of a job', () => {
  it('are as large as they may be while there is no request, and smaller beside requests', async () => {
    let isBusy = false;
    const steps = createStepSize(() => isBusy);
    for (let n = 0; n < 20; n++) await steps.measure(1_000_000, () => sleep(1));
    expect(steps.next(500)).toBe(500);
    isBusy = true;
    expect(steps.next(500)).toBe(50);
    expect(steps.next(1)).toBe(1);
  });

  it('shrink where the store takes long, and never to nothing', async () => {
    const steps = createStepSize(() => false);
    const before = steps.next(500);
    expect(await steps.measure(2, () => sleep(50, 'done'))).toBe('done');
    expect(steps.next(500)).toBeLessThan(before);
    for (let n = 0; n < 6; n++) await steps.measure(1, () => sleep(150));
    expect(steps.next(500)).toBe(1);
  });
});

describe('the pauses of a job', () => {
  /** How long it rests after some work, in milliseconds. */
  async function restAfter(work: number, isBusy: boolean, jobs = 1): Promise<number> {
    const breathe = createBreath({ isBusy: () => isBusy, jobs: () => jobs });
    await sleep(work);
    const begun = performance.now();
    await breathe();
    return performance.now() - begun;
  }

  it('are longer than the work beside requests, and longer for several jobs', async () => {
    expect(await restAfter(20, true)).toBeGreaterThan(50);
    expect(await restAfter(20, true, 3)).toBeGreaterThan(150);
  });

  it('come only after some milliseconds of work', () => {
    expect(createBreath({ isBusy: () => true, jobs: () => 1 })()).toBeUndefined();
  });
});
