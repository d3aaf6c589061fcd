import { setTimeout as sleep } from 'node:timers/promises';

import { announceChange } from '../core/definitions/announce.js';
import { PACKAGE_MAP, readClaims, swapClaims, type GuideClaim } from '../core/definitions/guide-claims.js';
import type { GuideOperation } from '../core/definitions/guide-operation.js';
import { newId } from '../fhir/id.js';
import type { Store } from '../store/store.js';

/** A resource that a package brought, or that was there when it came. */
export interface ResourceRow {
  readonly type: string;
  readonly id: string;
  readonly url?: string;
  readonly version?: string;
  /** Of its content (`contentDigest`). */
  readonly digest: string;
  /** It was there before any package, and stays when all are gone. */
  readonly isUsers?: true;
}

/** An installed package: what `remove` takes away, and `check` compares with. */
export interface PackageRow {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  /** Whether the operator named it; otherwise another package needs it. */
  readonly isDirect: boolean;
  /** Versions that its dependencies are at. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** What its manifest asks for. */
  readonly asked: Readonly<Record<string, string>>;
  /** What it asked for where it got another version. */
  readonly overridden: Readonly<Record<string, string>>;
  readonly resources: readonly ResourceRow[];
  readonly leftOut: Readonly<Record<string, number>>;
  readonly guide?: string;
  readonly profiles: readonly (readonly [string, string])[];
  /** Operations that it defines; absent: none, or it was installed before these were remembered. */
  readonly operations?: readonly GuideOperation[];
}

/** A command that has begun to write, and may have been killed. It is done again from here. */
export type Pending =
  | {
      readonly action: 'add';
      /** Blobs with the archives, and whether the operator named them. */
      readonly files: readonly { readonly blob: string; readonly label: string; readonly isDirect: boolean }[];
      readonly uses: readonly (readonly [string, string])[];
      readonly hasExamples: boolean;
      /** Whether what users changed is replaced, too. */
      readonly replaces?: boolean;
    }
  | { readonly action: 'remove'; readonly names: readonly string[] };

const PENDING = 'pending';
const LOCK = 'lock';

/** Keys of blobs with archives begin so. */
export const PACKAGE_BLOBS = 'package/';

/** How long a lock holds that is not renewed, how often it is, and how long another command waits for it; in milliseconds. */
const TIMES = { holds: 10_000, renewed: 2500, waited: 30_000, looks: 200 };

type Maps = Pick<Store, 'maps'>;

/** The packages of a store, in the order of their names. */
export async function readRows({ maps }: Maps): Promise<readonly PackageRow[]> {
  const entries = [...(await maps.entries(PACKAGE_MAP))].filter(([key]) => key.includes('.'));
  return entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => JSON.parse(text) as PackageRow);
}

/** A command that was begun and has not ended; undefined: there is none. */
export async function readPending({ maps }: Maps): Promise<Pending | undefined> {
  const text = await maps.get(PACKAGE_MAP, PENDING);
  return text === undefined ? undefined : (JSON.parse(text) as Pending);
}

/** Remembers what is about to be written. Only who has the lock may. */
export async function beginPending(store: Maps, pending: Pending): Promise<void> {
  await put(store, PENDING, JSON.stringify(pending));
}

/**
 * Remembers what is installed from now on, has all processes know it, and that the pending command is done.
 *
 * @param rows of packages that are new or another version
 * @param removed names of packages that are gone
 */
export async function settleRows(store: Maps, rows: readonly PackageRow[], removed: readonly string[]): Promise<void> {
  for (const row of rows) await put(store, row.name, JSON.stringify(row));
  for (const name of removed) await store.maps.delete(PACKAGE_MAP, name);
  const present = new Map((await readRows(store)).map((row) => [row.name, row]));
  const { text, claims } = await readClaims(store);
  const known = claims.map(({ name }) => name).filter((name) => present.has(name));
  const names = [...new Set([...known, ...rows.map(({ name }) => name), ...present.keys()])];
  if (
    !(await swapClaims(
      store,
      text,
      names.map((name) => claimOf(present.get(name)!)),
    ))
  )
    throw new Error('another command changed the packages meanwhile; call this one again');
  await announceChange(store);
}

/** The pending command is done. */
export async function endPending(store: Pick<Store, 'maps' | 'blobs'>): Promise<void> {
  // Without its archives it could not be finished.
  await store.maps.delete(PACKAGE_MAP, PENDING);
  for (const { key } of await store.blobs.list(PACKAGE_BLOBS)) await store.blobs.delete(key);
}

/**
 * Does work that no other process does at the same time on this store. A process that is killed leaves its lock for some seconds.
 *
 * @throws Error where another one has the lock for long
 */
export async function locked<T>({ maps }: Maps, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const id = newId();
  const take = (present: string | undefined): Promise<boolean> =>
    maps.swap(PACKAGE_MAP, LOCK, present, id, Date.now() + TIMES.holds);
  const end = performance.now() + TIMES.waited;
  while (!(await take(undefined))) {
    if (performance.now() > end) throw new Error('another kiln package command works on this store; try again later');
    await sleep(TIMES.looks);
  }
  const lost = new AbortController();
  const renew = async (): Promise<void> => {
    if (!(await take(id))) lost.abort(new Error('another kiln package command took this one for dead; try again'));
  };
  const timer = setInterval(() => void renew().catch(() => {}), TIMES.renewed);
  try {
    return await work(lost.signal);
  } finally {
    clearInterval(timer);
    if (!lost.signal.aborted) await maps.delete(PACKAGE_MAP, LOCK);
  }
}

function claimOf({ name, isDirect, guide, profiles, operations = [] }: PackageRow): GuideClaim {
  const claim = { name, ...(operations.length > 0 && { operations }) };
  if (!isDirect) return claim;
  return { ...claim, ...(guide !== undefined && { guide }), ...(profiles.length > 0 && { profiles }) };
}

async function put({ maps }: Maps, key: string, text: string): Promise<void> {
  while (!(await maps.swap(PACKAGE_MAP, key, await maps.get(PACKAGE_MAP, key), text)));
}
