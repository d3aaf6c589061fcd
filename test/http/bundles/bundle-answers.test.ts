import { expect, it } from 'vitest';

import { createToyStore } from '../../toy/store.js';
import { batch, entry, patient, statusesOf, transaction, useBundleServer } from './bundle-server.js';

const server = useBundleServer(createToyStore(), { limits: { body: 2000 } });

/** A body of this size is stored by the first, so that three answers with it are more than twice the limit. */
const long = { id: 'long', name: [{ text: 'x'.repeat(1500) }] };
const reads = Array.from({ length: 4 }, () => entry('GET', 'Patient/long'));

it.each([
  ['batch', () => batch(...reads)],
  ['transaction', () => transaction(...reads)],
])('answers of a %s are bounded together', async (_, bundle) => {
  expect((await server.send('PUT', '/Patient/long', patient('x', long))).status).toBeLessThan(202);
  const answer = await server.send('POST', '', bundle());
  expect(answer.status).toBe(200);
  const statuses = statusesOf(answer);
  expect(statuses.filter((status) => status === '200 OK')).toHaveLength(2);
  expect(statuses.filter((status) => status.startsWith('503'))).toHaveLength(2);
});
