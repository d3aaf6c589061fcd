import type { Database } from 'better-sqlite3';

import type { Contained } from '../../../indexing/contained.js';
import { compareText } from '../../../search/query/compare-text.js';
import { containedIn, containedType, type ContainedResource } from '../../contained-resources.js';
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
export interface ContainedWriter {
  /** Deletes all members of a resource, by its key. */
  clear(container: number): void;
  /** Adds members to a resource that has none. */
  add(container: Container, contained: readonly Contained[]): void;
}

/** Prepares the statements that write members. */
export function openContainedWriter(
  db: Database,
  dictionary: Dictionary,
  index: IndexWriter,
  giveKey: KeyGiver,
): ContainedWriter {
  const select = db.prepare<[number], number>('SELECT resource FROM member WHERE container = ?').pluck();
  const clear = db.prepare<[number]>('DELETE FROM member WHERE container = ?');
  const remove = db.prepare<[number]>('DELETE FROM resource WHERE key = ?');
  const insert = db.prepare<[number, number]>('INSERT INTO member (container, resource) VALUES (?, ?)');
  const insertResource = db.prepare<[number, number, string, number, number, number]>(
    'INSERT INTO resource (key, type, id, seq, version, updated, deleted) VALUES (?, ?, ?, ?, ?, ?, 0)',
  );
  return {
    clear(container) {
      const old = select.all(container);
      if (old.length === 0) return;
      for (const key of old) {
        index.clear(key);
        remove.run(key);
      }
      clear.run(container);
    },
    add(container, contained) {
      const { seq, version, updated } = container;
      for (const [name, members] of byType(containedIn(container, contained))) {
        const type = dictionary.term(name);
        for (const { id, entries } of members) {
          const key = giveKey();
          insertResource.run(key, type, id, seq, version, updated);
          insert.run(container.key, key);
          index.add(key, type, entries);
        }
      }
    },
  };
}

/** Those of each type, by id. */
function byType(members: readonly ContainedResource[]): ReadonlyMap<string, readonly ContainedResource[]> {
  const types = new Map<string, ContainedResource[]>();
  for (const member of members) {
    const others = types.get(member.type);
    if (others === undefined) types.set(member.type, [member]);
    else others.push(member);
  }
  for (const each of types.values()) each.sort((a, b) => compareText(a.id, b.id));
  return types;
}

/** That a type, as text, is none of members. @param column an SQL expression */
export function isPlain(column: string): string {
  return `${column} NOT GLOB '${containedType('*')}'`;
}
