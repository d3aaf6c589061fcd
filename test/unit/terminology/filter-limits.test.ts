import { describe, expect, it } from 'vitest';

import type { Resource } from '../../../runtime/fhir/resource.js';
import { indexCodeSystem } from '../../../runtime/terminology/concepts.js';
import { Effort } from '../../../runtime/terminology/effort.js';
import { readFilter } from '../../../runtime/terminology/filter.js';
import { processorTime } from '../../processor-time.js';

const systemOf = (concept: readonly object[]) =>
  indexCodeSystem({
    resourceType: 'CodeSystem',
    url: 'http://x.org/c',
    content: 'complete',
    concept,
  } as unknown as Resource);

describe('the regular expression of a filter', async () => {
  const display = 'a'.repeat(2000);
  const system = await systemOf([
    { code: 'long', display },
    { code: 'short', display: 'aab' },
  ]);
  const [long, short] = [system.concepts.get('long')!, system.concepts.get('short')!];
  const testOf = (value: string) => readFilter({ property: 'display', op: 'regex', value }, system, new Effort()).test;
  it('matches the whole text, without going back', () => {
    const took = processorTime();
    expect(testOf('(a+)+b')(long)).toBe(false);
    expect(testOf('(a+)+b')(short)).toBe(true);
    expect(took()).toBeLessThan(500);
  });
  it('is refused where it costs too much on one concept', () => {
    const took = processorTime();
    expect(() => testOf('(a?b?){900}')(long)).toThrow(/take too long/);
    expect(took()).toBeLessThan(1000);
  });
});
