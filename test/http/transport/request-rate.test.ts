import { describe, expect, it } from 'vitest';

import { FhirError } from '../../../runtime/fhir/errors.js';
import { createRequestRate } from '../../../runtime/http/request-rate.js';
import { useToyServer } from '../server.js';

describe('limits.rate', () => {
  function tryTimes(rate: ReturnType<typeof createRequestRate>, times: number, client?: string, address = '10.0.0.1') {
    let taken = 0;
    let wait: string | undefined;
    for (let i = 0; i < times; i++) {
      try {
        rate.take(client, address);
        taken++;
      } catch (error) {
        if (!(error instanceof FhirError)) throw error;
        expect([error.code, error.status]).toEqual(['too-many-requests', 429]);
        wait = error.headers?.['Retry-After'];
      }
    }
    return { taken, wait };
  }

  it('gives each client its burst, then so many a second on average, and says when to come again', () => {
    let now = 0;
    const rate = createRequestRate(2, 5, () => now);
    expect(tryTimes(rate, 20, 'a')).toEqual({ taken: 5, wait: '1' });
    expect(tryTimes(rate, 20, 'b').taken).toBe(5);
    now += 400;
    expect(tryTimes(rate, 3, 'a').taken).toBe(0);
    now += 100;
    expect(tryTimes(rate, 3, 'a').taken).toBe(1);
    now += 60_000;
    expect(tryTimes(rate, 20, 'a').taken).toBe(5);
    let taken = 0;
    for (let i = 0; i < 1000; i++, now += 10) taken += tryTimes(rate, 1, 'a').taken;
    expect(taken).toBeGreaterThanOrEqual(19);
    expect(taken).toBeLessThanOrEqual(21);
  });

  it('counts addresses where there is no client, those of IPv6 by their network', () => {
    const rate = createRequestRate(1, 3, () => 0);
    expect(tryTimes(rate, 9, '', '2001:db8::1').taken).toBe(3);
    expect(tryTimes(rate, 9, '', '2001:db8::2').taken).toBe(0);
    expect(tryTimes(rate, 9, undefined, '2001:db8:1::2').taken).toBe(3);
    expect(tryTimes(rate, 9, '2001:db8::1').taken).toBe(3);
  });

  it('forgets those that it has not seen for longest rather than growing', () => {
    const rate = createRequestRate(1, 1, () => 0);
    expect(tryTimes(rate, 2, 'first').taken).toBe(1);
    for (let i = 0; i < 20_001; i++) rate.take(`c${i}`, '');
    expect(tryTimes(rate, 2, 'first').taken).toBe(1);
  });
});

describe('a server with limits.rate', () => {
  const server = useToyServer({ rate: createRequestRate(0.001, 3, () => 0) });

  it('answers 429 with Retry-After and an OperationOutcome', async () => {
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await server.send('GET', '/metadata'));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    expect(Number(answers[4]!.headers['retry-after'])).toBeGreaterThan(0);
    expect(answers[4]!.json().issue[0]).toMatchObject({ code: 'throttled' });
    expect(server.defects).toEqual([]);
  });
});

describe('pages of a server with limits.rate', () => {
  const clock = { now: 0 };
  const server = useToyServer({ rate: createRequestRate(1, 1, () => clock.now) });

  it.each(['/ui/search', '/ui/api/Patient', '/ui/go?search=Patient', '/ui/jobs'])('%s counts, too', async (path) => {
    clock.now += 1000;
    expect((await server.raw('GET', path)).status).toBeLessThan(400);
    const answer = await server.raw('GET', path);
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '1']);
    expect((await server.raw('GET', '/ui/assets/kiln.js')).status).toBe(200);
  });
});
