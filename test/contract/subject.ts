import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

import type { IndexEntry } from '../../runtime/search/entry.js';
import type { Deletion, Put, Store } from '../../runtime/store/store.js';
import { openStore, type StoreTestOptions } from './open-store.js';

/** A store that the contract is held against. */
export interface Subject {
  readonly name: string;
  /** URL of an empty store of the test's own; `place` is a folder of its own. */
  readonly url: (place: string) => string;
  /** Removes what was at a URL when the test is over; absent: it was in the place. */
  readonly drop?: (url: string) => Promise<void>;
  /** Whether the URL opened again shows the same data. */
  readonly isShared: boolean;
}

/** The store of one test. */
export interface Opened {
  readonly place: string;
  readonly url: string;
  readonly store: Store;
  /** Another connection to the same data (of a store that is shared), or a fresh store. */
  reopen(options?: StoreTestOptions): Promise<Store>;
  /** A store at another URL, closed after the test. */
  adopt(url: string): Promise<Store>;
  /** Has one closed after the test that it opened itself. */
  keep(store: Store): Store;
  /** Closes one before the test ends. */
  close(store: Store): Promise<void>;
}

/** An empty store before each test, closed and gone after it. */
export function useStore(subject: Subject): Opened {
  let place: string;
  let url: string;
  let store: Store;
  const opened = new Set<Store>();
  const adopt = async (at: string, options: StoreTestOptions = {}): Promise<Store> => {
    const another = await openStore(at, options);
    opened.add(another);
    return another;
  };
  const reopen = (options: StoreTestOptions = {}): Promise<Store> => adopt(url, options);
  beforeEach(async () => {
    place = mkdtempSync(join(tmpdir(), 'kiln-contract-'));
    url = subject.url(place);
    store = await reopen();
  });
  afterEach(async () => {
    for (const each of opened) await each.close();
    opened.clear();
    await subject.drop?.(url);
    rmSync(place, { recursive: true });
  });
  return {
    get place() {
      return place;
    },
    get url() {
      return url;
    },
    get store() {
      return store;
    },
    reopen,
    adopt,
    keep(one) {
      opened.add(one);
      return one;
    },
    async close(one) {
      opened.delete(one);
      await one.close();
    },
  };
}

/** A change to a resource whose content is one text. */
export function put(
  id: string,
  expected: number,
  text = 'x',
  entries: readonly IndexEntry[] = [],
  type = 'Patient',
): Put {
  const head = `{"resourceType":"${type}","id":"${id}","meta":{`;
  const content = { resourceType: type, id, text };
  return { type, id, expected, body: { head, tail: `},"text":${JSON.stringify(text)}}` }, content, entries };
}

/** The deletion of a resource. */
export function deletion(id: string, expected: number, type = 'Patient'): Deletion {
  return { type, id, expected };
}
