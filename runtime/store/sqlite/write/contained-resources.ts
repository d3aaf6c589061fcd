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
  /**
   * Writes the members of a resource that may have others. One that stays keeps its key, which decides the order of equal
   * matches: an index that is built anew does not move it to another page.
   */
  replace(container: Container, contained: readonly Contained[]): void;
}

/** A member as it is in the store. */
interface MemberRow {
  readonly key: number;
  readonly type: number;
  readonly id: string;
}

/** Prepares the statements that write members. */
export function openContainedWriter(
  db: Database,
  dictionary: Dictionary,
  index: IndexWriter,
  giveKey: KeyGiver,
): ContainedWriter {
  const select = db.prepare<[number], MemberRow>(
    'SELECT r.key, r.type, r.id FROM member m JOIN resource r ON r.key = m.resource WHERE m.container = ?',
  );
  const clear = db.prepare<[number, number]>('DELETE FROM member WHERE container = ? AND resource = ?');
  const remove = db.prepare<[number]>('DELETE FROM resource WHERE key = ?');
  const insert = db.prepare<[number, number]>('INSERT INTO member (container, resource) VALUES (?, ?)');
  const insertResource = db.prepare<[number, number, string, number, number, number]>(
    'INSERT INTO resource (key, type, id, seq, version, updated, deleted) VALUES (?, ?, ?, ?, ?, ?, 0)',
  );
  const update = db.prepare<[number, number, number, number]>(
    'UPDATE resource SET seq = ?, version = ?, updated = ? WHERE key = ?',
  );
  const drop = (container: number, { key }: MemberRow): void => {
    index.clear(key);
    remove.run(key);
    clear.run(container, key);
  };
  const write = (container: Container, contained: readonly Contained[], old: readonly MemberRow[]): void => {
    const { seq, version, updated } = container;
    const left = new Map(old.map((row) => [nameOf(row), row]));
    for (const [name, members] of byType(containedIn(container, contained))) {
      const type = dictionary.term(name);
      for (const { id, entries } of members) {
        const kept = left.get(nameOf({ type, id }));
        if (kept === undefined) {
          const key = giveKey();
          insertResource.run(key, type, id, seq, version, updated);
          insert.run(container.key, key);
          index.add(key, type, entries);
        } else {
          left.delete(nameOf(kept));
          update.run(seq, version, updated, kept.key);
          index.replace(kept.key, type, entries);
        }
      }
    }
    for (const row of left.values()) drop(container.key, row);
  };
  return {
    clear(container) {
      for (const row of select.all(container)) drop(container, row);
    },
    add: (container, contained) => write(container, contained, []),
    replace: (container, contained) => write(container, contained, select.all(container.key)),
  };
}

function nameOf({ type, id }: Pick<MemberRow, 'type' | 'id'>): string {
  return `${type}:${id}`;
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
