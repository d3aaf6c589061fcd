import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, type TestContext } from 'vitest';

import type { IndexEntry } from '../../runtime/indexing/entry.js';
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
  let current: Opened;
  let end: () => Promise<void>;
  beforeEach(async () => {
    [current, end] = await open(subject);
  });
  afterEach(() => end());
  return {
    get place() {
      return current.place;
    },
    get url() {
      return current.url;
    },
    get store() {
      return current.store;
    },
    reopen: (options) => current.reopen(options),
    adopt: (url) => current.adopt(url),
    keep: (store) => current.keep(store),
    close: (store) => current.close(store),
  };
}

/** The same for one test, which may run beside others. */
export async function ownStore(subject: Subject, { onTestFinished }: TestContext): Promise<Opened> {
  const [opened, end] = await open(subject);
  onTestFinished(end);
  return opened;
}

/** An empty store, and what closes and removes it. */
async function open(subject: Subject): Promise<[Opened, end: () => Promise<void>]> {
  const place = mkdtempSync(join(tmpdir(), 'kiln-contract-'));
  const url = subject.url(place);
  const stores = new Set<Store>();
  const keep = (store: Store): Store => {
    stores.add(store);
    return store;
  };
  const reopen = async (options: StoreTestOptions = {}): Promise<Store> => keep(await openStore(url, options));
  const opened: Opened = {
    place,
    url,
    store: await reopen(),
    reopen,
    adopt: async (at) => keep(await openStore(at)),
    keep,
    async close(store) {
      stores.delete(store);
      await store.close();
    },
  };
  const end = async (): Promise<void> => {
    for (const each of stores) await each.close();
    await subject.drop?.(url);
    rmSync(place, { recursive: true });
  };
  return [opened, end];
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
