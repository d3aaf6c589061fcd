import { request } from 'node:http';
import { describe, expect, it } from 'vitest';

import { FhirError } from '../../runtime/fhir/errors.js';
import type { Store } from '../../runtime/store/store.js';
import { createToyStore } from '../toy/store.js';
import { codeOf } from './server.js';
import { useSearchServer } from './search-server.js';

/** A toy store whose searches and histories wait until they are told to stop. */
function waitingStore() {
  const toy = createToyStore();
  let begun = (): void => {};
  const state = { begin: new Promise<void>((resolve) => (begun = resolve)), aborted: 0 };
  const wait = (signal: AbortSignal | undefined): Promise<never> => {
    begun();
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        state.aborted++;
        reject(signal.reason as Error);
      });
    });
  };
  const store: Store = { ...toy, find: (_query, signal) => wait(signal), history: (_query, signal) => wait(signal) };
  return { store, state };
}

describe.each([['/fhir/Patient?name=x'], ['/fhir/Patient/_history']])('a client that goes away from %s', (path) => {
  const { store, state } = waitingStore();
  const server = useSearchServer({ store });

  it('has the work in the store stopped, which is no defect', async () => {
    const req = request({ host: '127.0.0.1', port: server.port, path });
    req.on('error', () => {});
    req.end();
    await state.begin;
    req.destroy();
    await expect.poll(() => state.aborted).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.defects).toEqual([]);
  });
});

describe('a search that takes too long', () => {
  const server = useSearchServer({
    store: { ...createToyStore(), find: () => Promise.reject(new FhirError('too-costly')) },
  });

  it.each([
    ['name=x', 'The search takes too long; add a criterion that few resources fulfil'],
    ['name=x&_sort=name&_total=accurate', 'few resources fulfil, or leave out _total=accurate, or leave out _sort'],
  ])('%s: 503 that says what could be done', async (query, text) => {
    const answer = await server.send('GET', `/Patient?${query}`);
    expect([answer.status, codeOf(answer), answer.json().issue[0].code]).toEqual([503, 'too-costly', 'too-costly']);
    expect(answer.json().issue[0].details.text).toContain(text);
  });
});
