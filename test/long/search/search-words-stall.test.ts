import { afterAll, expect, it } from 'vitest';

import { atMost } from '../../at-most.js';
import { openStore } from '../../contract/open-store.js';
import { entry, transaction, useBundleServer } from '../../http/bundles/bundle-server.js';

/**
 * ICU's dictionaries take microseconds for each character: so a resource gives them a bounded number, and between two entries others have
 * their turn.
 */

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());
const server = useBundleServer(store);

const SENTENCE = '患者昨天去医院看病医生说他有高血压和糖尿病需要每天服药两次并且定期复查';
const TEXT = SENTENCE.repeat(500_000 / SENTENCE.length);

it('nobody waits long for four long texts in Chinese', async () => {
  const observations = ['a', 'b', 'c', 'd'].map((id) => ({
    resourceType: 'Observation',
    id,
    status: 'final',
    code: { text: `${id}病` },
    note: [{ text: TEXT }],
  }));
  const body = transaction(...observations.map((each) => entry('PUT', `Observation/${each.id}`, each)));
  let longest = 0;
  let before = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - before);
    before = performance.now();
  }, 1);
  const answer = await server.send('POST', '', body);
  clearInterval(timer);
  longest = Math.max(longest, performance.now() - before);
  expect(answer.status).toBe(200);
  expect(longest).toBeLessThan(atMost(500));
  const found = await server.send('GET', '/Observation?_content=%22%E9%AB%98%E8%A1%80%E5%8E%8B%22&_elements=id');
  expect((found.json() as { total: number }).total).toBe(4);
});
