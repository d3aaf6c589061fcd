import type { Database } from 'better-sqlite3';

import type { ResourceKey } from '../../store.js';
import type { Dictionary } from '../write/dictionary.js';

/** The current version of a resource, and its id. */
export type Content = readonly [id: string, version: number, updated: number, body: string, amended: number | null];

/**
 * Current version of a resource, without its id. A deletion has no body, and a resource that never existed has no
 * version.
 */
export type Contents = readonly [version: number | null, updated: number, body: string | null, amended: number | null];

/**
 * Reads current versions in the order in which they are named, as far as they are wanted. All come by one statement: to run
 * one for each takes three times as long.
 */
export interface ContentReader {
  /** @param keys of resources that are there */
  byKeys(keys: readonly number[]): IterableIterator<Content>;
  /** The same of keys many of which may be of what is within one resource: its body is read once, and is one text. */
  byKeysOfMembers(keys: readonly number[]): IterableIterator<Content>;
  byIds(of: readonly ResourceKey[]): IterableIterator<Contents>;
}

/** Prepares the statements: each is free again when its last answer was read, or left. */
export function openContents(db: Database, dictionary: Dictionary): ContentReader {
  const byKeys = db
    .prepare<[string], Content>(
      `SELECT r.id, r.version, r.updated, v.body, a.times FROM json_each(?) k CROSS JOIN resource r NOT INDEXED
       CROSS JOIN version v ON v.seq = r.seq LEFT JOIN amended a ON a.seq = r.seq WHERE r.key = k.value`,
    )
    .raw();
  const heads = db
    .prepare<[string], readonly [id: string, version: number, updated: number, seq: number]>(
      `SELECT r.id, r.version, r.updated, r.seq FROM json_each(?) k CROSS JOIN resource r NOT INDEXED WHERE r.key = k.value`,
    )
    .raw();
  const body = db.prepare<[number], string>('SELECT body FROM version WHERE seq = ?').pluck();
  const byIds = db
    .prepare<[string], Contents>(
      `SELECT r.version, r.updated, v.body, a.times FROM json_each(?) k
       LEFT JOIN resource r INDEXED BY resource_by_id ON r.type = k.value AND r.id = k.key LEFT JOIN version v ON v.seq = r.seq
       LEFT JOIN amended a ON a.seq = r.seq`,
    )
    .raw();
  return {
    byKeys: (keys) => byKeys.iterate(JSON.stringify(keys)),
    *byKeysOfMembers(keys) {
      const bodies = new Map<number, string>();
      for (const [id, version, updated, seq] of heads.all(JSON.stringify(keys))) {
        const text = bodies.get(seq) ?? body.get(seq)!;
        bodies.set(seq, text);
        // What is within a resource is not written by itself, so that no write has to know.
        yield [id, version, updated, text, null];
      }
    },
    byIds: (of) => byIds.iterate(listKeys(dictionary, of)),
  };
}

/**
 * Resources as JSON for `json_each`, in their order: each key is an id, its value the number of the type, 0 for a type that there is
 * none of. As an object, but an id may be there several times, and the order of numbers is kept.
 */
export function listKeys(dictionary: Dictionary, of: readonly ResourceKey[]): string {
  return `{${of.map(({ type, id }) => `${JSON.stringify(id)}:${dictionary.findTerm(type) ?? 0}`).join()}}`;
}
