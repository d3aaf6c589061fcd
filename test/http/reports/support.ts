import { expect } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { useBundleServer } from '../bundles/bundle-server.js';
import type { Answer, ToyServer } from '../server.js';

/** A resource that has an id. */
export interface Identified {
  readonly resourceType: string;
  readonly id: string;
  readonly [name: string]: unknown;
}

/** What the tests of reported faults do with a server. */
export interface Reports {
  readonly server: ToyServer;
  /** Stores a resource. */
  put(body: Identified): Promise<void>;
  /** Ids of the entries of a search, in order. @param mode `match` where it is absent */
  find(query: string, mode?: string): Promise<string[]>;
  /** The same of an answer. */
  idsOf(answer: Answer, mode?: string): string[];
}

/** A server with all types on a store. */
export function useReports(store: Store): Reports {
  const server = useBundleServer(store);
  const idsOf: Reports['idsOf'] = (answer, mode = 'match') => {
    expect(answer.status, answer.text).toBe(200);
    const entries = (answer.json().entry ?? []) as { search: { mode: string }; resource: { id: string } }[];
    return entries.filter(({ search }) => search.mode === mode).map(({ resource }) => resource.id);
  };
  return {
    server,
    idsOf,
    async put(body) {
      const answer = await server.send('PUT', `/${body.resourceType}/${body.id}`, body);
      expect(answer.status, answer.text).toBeLessThan(300);
    },
    async find(query, mode) {
      const ids = idsOf(await server.send('GET', `/${encodeURI(query)}`), mode);
      // Without a sort matches come in any order.
      return query.includes('_sort') || mode === 'include' ? ids : ids.sort();
    },
  };
}

/** An Observation with what has to be there. */
export function observation(id: string, more: object): Identified {
  return { resourceType: 'Observation', id, status: 'final', code: { text: 'x' }, ...more };
}
