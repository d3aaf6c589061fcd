import type { Database } from 'better-sqlite3';

import type { QueryInterrupt } from '../../file/query-interrupt.js';
import { tooCostly } from '../../file/too-costly.js';
import { raw, sql, type Sql, type Value } from '../compile/sql.js';
import type { Values } from '../compile/shape.js';

/** Values of one row of a list: mostly few, many where a reference may have many types of target. */
const WIDTHS = [8, 32, 256] as const;

/** Long lists of values as tables, as long as the query runs that needs them. */
export interface Lists {
  /** @returns the table in a statement */
  add(rows: readonly (readonly Value[])[]): Sql;
  clear(): void;
}

/** Opens functions such as `kiln_list_8(number)`, whose rows have the columns `c0`, `c1`… */
export function openLists(db: Database, interrupt: QueryInterrupt): Lists {
  let lists: (readonly (readonly Value[])[])[] = [];
  for (const width of WIDTHS) {
    const padding = Array.from({ length: width }, () => null);
    db.table(`kiln_list_${width}`, {
      columns: padding.map((_, i) => `c${i}`),
      parameters: ['list'],
      *rows(list: unknown) {
        for (const row of lists[Number(list)] ?? []) {
          interrupt.step();
          yield [...row, ...padding.slice(row.length)];
        }
      },
    });
  }
  return {
    add(rows) {
      const width = WIDTHS.find((each) => each >= (rows[0]?.length ?? 0));
      if (width === undefined) throw tooCostly();
      return sql`${raw(`kiln_list_${width}`)}(${lists.push(rows) - 1})`;
    },
    clear: () => void (lists = []),
  };
}

/** The values of a row of a list. */
export function listValues(name: string): Values {
  return (place) => raw(`${name}.c${place}`);
}

/** Nothing stops a statement between two values of a list as JSON. */
const MOST_AS_JSON = 1000;

/**
 * Alternatives that differ in one value: it comes from a list as JSON, of the name `v`, which is read several times as fast as rows.
 * Undefined: they differ in more than that, are too many, or the value has to be bound to stay what it is.
 */
export function asSingleValues(
  alternatives: readonly (readonly Value[])[],
): { readonly json: string; readonly values: Values } | undefined {
  const [first = [], second = []] = alternatives;
  const place = first.findIndex((value, i) => value !== second[i]);
  const isLike = (values: readonly Value[]): boolean =>
    values.length === first.length && values.every((value, i) => (i === place ? isPlain(value) : value === first[i]));
  if (place < 0 || alternatives.length > MOST_AS_JSON || !alternatives.every(isLike)) return undefined;
  const rest = boundValues(first);
  return {
    json: JSON.stringify(alternatives.map((values) => values[place])),
    values: (at) => (at === place ? raw('v.value') : rest(at)),
  };
}

/** Whether SQLite reads the same from JSON. */
function isPlain(value: Value | undefined): boolean {
  return typeof value === 'string' ? /^[ -~]*$/.test(value) : Number.isSafeInteger(value);
}

/** Values that are bound. */
export function boundValues(values: readonly Value[]): Values {
  return (place) => sql`${values[place]!}`;
}

/** Returns the values from a place on. */
export function from(values: Values, first: number): Values {
  return first === 0 ? values : (place) => values(first + place);
}
