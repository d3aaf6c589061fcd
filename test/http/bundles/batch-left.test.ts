import { connect } from 'node:net';
import { expect, it, vi } from 'vitest';

import type { FindQuery, Store } from '../../../runtime/store/store.js';
import { EVENTUALLY } from '../../eventually.js';
import { createToyStore } from '../../toy/store.js';
import { batch, entry, useBundleServer } from './bundle-server.js';

const signals: (AbortSignal | undefined)[] = [];

/** A store in which searches end only when they are aborted. */
const slow: Store = Object.assign(Object.create(createToyStore()) as Store, {
  find: (_query: FindQuery, signal?: AbortSignal) => {
    signals.push(signal);
    return new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  },
});
const server = useBundleServer(slow);

it('a batch whose client has left begins no more searches, and ends those under way', async () => {
  const body = JSON.stringify(batch(...Array.from({ length: 30 }, () => entry('GET', 'Patient?active=true'))));
  const socket = connect(server.port, '127.0.0.1');
  socket.write(
    'POST /fhir HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/fhir+json\r\n' +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  await vi.waitFor(() => expect(signals).toHaveLength(8), EVENTUALLY);
  socket.destroy();
  await vi.waitFor(() => expect(signals.every((signal) => signal?.aborted === true)).toBe(true), EVENTUALLY);
  expect(signals.length).toBeLessThan(17);
  expect(server.defects).toEqual([]);
});
