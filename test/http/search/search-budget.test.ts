import { request } from 'node:http';
import { describe, expect, it } from 'vitest';

import { FhirError } from '../../../runtime/fhir/errors.js';
import type { Store } from '../../../runtime/store/store.js';
import { createToyStore } from '../../toy/store.js';
import { codeOf } from '../server.js';
import { useWholeServer } from '../search-server.js';

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
  const store: Store = {
    ...toy,
    find: (_query, signal) => wait(signal),
    findMultiType: (_query, signal) => wait(signal),
    history: (_query, signal) => wait(signal),
  };
  return { store, state };
}

describe.each([
  ['/fhir/Patient?name=x'],
  ['/fhir/Patient?_has:Observation:patient:code=x&_include=*'],
  ['/fhir?_tag=x'],
  ['/fhir/Patient/1/*'],
  ['/fhir/Patient/_history'],
])('a client that goes away from %s', (path) => {
  const { store, state } = waitingStore();
  const server = useWholeServer({ store });

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
  const tooCostly = () => Promise.reject(new FhirError('too-costly'));
  const server = useWholeServer({ store: { ...createToyStore(), find: tooCostly, findMultiType: tooCostly } });

  it.each([
    ['/Patient?name=x', 'The search takes too long; add a criterion that few resources fulfil'],
    [
      '/Patient?name=x&_sort=name&_total=accurate',
      'resources fulfil, or leave out _total=accurate, or leave out _sort',
    ],
    ['/Patient?organization.name=x', 'few resources fulfil, or search in steps instead of by chains and _has'],
    ['/Patient?_has:Observation:patient:code=x', 'or search in steps instead of by chains and _has'],
    ['/Patient?_revinclude=*', 'or leave out _include and _revinclude, or ask for fewer matches with _count'],
    ['/?_tag=x', 'few resources fulfil, or name fewer types in _type'],
    ['/Patient/1/*', 'few resources fulfil, or name fewer types in _type'],
  ])('%s: 503 that says what could be done', async (path, text) => {
    const answer = await server.send('GET', path);
    expect([answer.status, codeOf(answer), answer.json().issue[0].code]).toEqual([503, 'too-costly', 'too-costly']);
    expect(answer.json().issue[0].details.text).toContain(text);
  });
});
