import type { Database } from 'better-sqlite3';

import type { Contained } from '../../search/contained.js';
import { membersIn, memberType } from '../members.js';
import type { Dictionary } from './dictionary.js';
import type { IndexWriter } from './index-entries.js';
import type { KeyGiver } from './resource-keys.js';

/** The resource that members are in, at its current version. */
export interface Container {
  readonly key: number;
  readonly type: string;
  readonly id: string;
  readonly seq: number;
  readonly version: number;
  readonly updated: number;
}

/** Writes what is within resources. Inside a write transaction only. */
export interface MemberWriter {
  /** Deletes all members of a resource, by its key. */
  clear(container: number): void;
  /** Adds members to a resource that has none. */
  add(container: Container, contained: readonly Contained[]): void;
}

/** Prepares the statements that write members. */
export function openMembers(db: Database, dictionary: Dictionary, index: IndexWriter, giveKey: KeyGiver): MemberWriter {
  const select = db.prepare<[number], number>('SELECT resource FROM member WHERE container = ?').pluck();
  const clear = db.prepare<[number]>('DELETE FROM member WHERE container = ?');
  const remove = db.prepare<[number]>('DELETE FROM resource WHERE key = ?');
  const insert = db.prepare<[number, number]>('INSERT INTO member (container, resource) VALUES (?, ?)');
  const insertResource = db.prepare<[number, number, string, number, number, number]>(
    'INSERT INTO resource (key, type, id, seq, version, updated, deleted) VALUES (?, ?, ?, ?, ?, ?, 0)',
  );
  return {
    clear(container) {
      const keys = select.all(container);
      if (keys.length === 0) return;
      for (const key of keys) {
        index.clear(key);
        remove.run(key);
      }
      clear.run(container);
    },
    add(container, contained) {
      const { seq, version, updated } = container;
      for (const { type: name, id, entries } of membersIn(container, contained)) {
        const type = dictionary.term(name);
        const key = giveKey(type, id);
        insertResource.run(key, type, id, seq, version, updated);
        insert.run(container.key, key);
        index.add(key, type, entries);
      }
    },
  };
}

/** That a type, as text, is none of members. @param column an SQL expression */
export function isPlain(column: string): string {
  return `${column} NOT GLOB '${memberType('*')}'`;
}
