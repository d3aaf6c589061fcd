import type { Database } from 'better-sqlite3';

import type { Guard } from '../guard.js';
import { raw, sql, type Sql, type Value } from './sql.js';
import type { Values } from './shape.js';

/** Most values of one row of a list: a composite of a few parts. */
const WIDTH = 24;

/** Long lists of values as tables: each has a number as long as the query runs that needs it. */
export interface Lists {
  add(rows: readonly (readonly Value[])[]): number;
  clear(): void;
}

/** Opens the function `kiln_list(number)`, whose rows have the columns `c0`, `c1`… */
export function openLists(db: Database, guard: Guard): Lists {
  let lists: (readonly (readonly Value[])[])[] = [];
  const columns = Array.from({ length: WIDTH }, (_, i) => `c${i}`);
  const padding: null[] = columns.map(() => null);
  db.table('kiln_list', {
    columns,
    parameters: ['list'],
    *rows(list: unknown) {
      for (const row of lists[Number(list)] ?? []) {
        guard.step();
        yield [...row, ...padding.slice(row.length)];
      }
    },
  });
  return {
    add: (rows) => lists.push(rows) - 1,
    clear: () => void (lists = []),
  };
}

/** A list in a statement, its rows named so. */
export function fromList(list: number, name: string): Sql {
  return sql`kiln_list(${list}) ${raw(name)}`;
}

/** The values of a row of a list. */
export function listValues(name: string): Values {
  return (place) => raw(`${name}.c${place}`);
}

/** Values that are bound. */
export function boundValues(values: readonly Value[]): Values {
  return (place) => sql`${values[place]!}`;
}

/** The same from a place on. */
export function from(values: Values, first: number): Values {
  return first === 0 ? values : (place) => values(first + place);
}
