import type { Database, Statement } from 'better-sqlite3';

/** Prepared statements by their text. */
export interface Statements {
  prepare<Row>(text: string): Statement<unknown[], Row>;
  /** One that gives the first column of its rows alone. */
  prepareColumn<Value>(text: string): Statement<unknown[], Value>;
  /** One that gives its rows as lists. */
  prepareTable<Row>(text: string): Statement<unknown[], Row>;
}

/** Statements kept; beyond that those go that were used longest ago. */
const MOST = 500;

/** None is prepared yet. */
export function openStatements(db: Database): Statements {
  const kept = new Map<string, Statement<unknown[]>>();

  function keep(name: string, make: () => Statement<unknown[]>): Statement<unknown[]> {
    const statement = kept.get(name) ?? make();
    kept.delete(name);
    kept.set(name, statement);
    if (kept.size > MOST) kept.delete(kept.keys().next().value!);
    return statement;
  }

  return {
    prepare: <Row>(text: string) => keep(text, () => db.prepare<unknown[]>(text)) as Statement<unknown[], Row>,
    prepareColumn: <Value>(text: string) =>
      keep(`column ${text}`, () => db.prepare<unknown[]>(text).pluck()) as Statement<unknown[], Value>,
    prepareTable: <Row>(text: string) =>
      keep(`table ${text}`, () => db.prepare<unknown[]>(text).raw()) as Statement<unknown[], Row>,
  };
}
