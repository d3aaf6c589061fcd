import { Agent, request } from 'node:http';
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

describe('a client that goes away after searches that were answered on its connection', () => {
  const toy = createToyStore();
  const signals: (AbortSignal | undefined)[] = [];
  let begun = (): void => {};
  const last = new Promise<void>((resolve) => (begun = resolve));
  const find: Store['find'] = (query, signal) => {
    signals.push(signal);
    if (signals.length < 3) return toy.find(query, signal);
    begun();
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  };
  const server = useWholeServer({ store: { ...toy, find } });

  it('has the work for the last one stopped, and nothing was stopped before', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const path = '/fhir/Patient?name=x';
    for (let n = 0; n < 2; n++) {
      const status = await new Promise((resolve, reject) => {
        const answered = request({ host: '127.0.0.1', port: server.port, path, agent }, (res) => {
          res.resume().on('end', () => resolve(res.statusCode));
        });
        answered.on('error', reject).end();
      });
      expect(status).toBe(200);
    }
    expect(signals.map((signal) => signal?.aborted)).toEqual([false, false]);
    const req = request({ host: '127.0.0.1', port: server.port, path, agent });
    req.on('error', () => {});
    req.end();
    await last;
    req.destroy();
    await expect.poll(() => signals[2]?.aborted).toBe(true);
    expect(server.defects).toEqual([]);
    agent.destroy();
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
