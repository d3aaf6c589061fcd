import { describe, expect, it } from 'vitest';

import { processorTime } from '../../processor-time.js';
import { utcOf } from '../../../runtime/views/query/utc.js';

describe('instants of queries', () => {
  it.each([
    ['2024-07-01T03:00:00+02:00', '2024-07-01T01:00:00+00:00'],
    ['2024-07-01T01:00:00.500Z', '2024-07-01T01:00:00.5+00:00'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00+00:00'],
    ['2024-07', '2024-07'],
    // FHIR has no year 0, and none after 9999.
    ['0001-01-01T00:00:00+05:00', '0001-01-01T00:00:00+05:00'],
    ['9999-12-31T23:00:00-05:00', '9999-12-31T23:00:00-05:00'],
  ])('%s is held as %s', (text, held) => expect(utcOf(text)).toBe(held));

  it('take little time for a fraction without end', () => {
    const text = `2020-01-01T10:00:00.${'0'.repeat(200_000)}1Z`;
    const took = processorTime();
    expect(utcOf(text)).toBe(text);
    expect(took()).toBeLessThan(500);
  });
});
