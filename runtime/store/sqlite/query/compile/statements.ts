import type { Database, Statement } from 'better-sqlite3';

/** Prepared statements by their text. */
export interface Statements {
  prepare<Row>(text: string): Statement<unknown[], Row>;
  /** One that gives the first column of its rows alone. */
  prepareColumn<Value>(text: string): Statement<unknown[], Value>;
  /** One that gives its rows as lists. */
  prepareTable<Row>(text: string): Statement<unknown[], Row>;
}

/** Statements kept of each kind; beyond that those go that were used longest ago. */
const MOST = 250;

/** None is prepared yet. */
export function openStatements(db: Database): Statements {
  const plain = keeper((text) => db.prepare<unknown[]>(text));
  const columns = keeper((text) => db.prepare<unknown[]>(text).pluck());
  const tables = keeper((text) => db.prepare<unknown[]>(text).raw());
  return {
    prepare: <Row>(text: string) => plain(text) as Statement<unknown[], Row>,
    prepareColumn: <Value>(text: string) => columns(text) as Statement<unknown[], Value>,
    prepareTable: <Row>(text: string) => tables(text) as Statement<unknown[], Row>,
  };
}

function keeper(make: (text: string) => Statement<unknown[]>): (text: string) => Statement<unknown[]> {
  const kept = new Map<string, Statement<unknown[]>>();
  return (text) => {
    const statement = kept.get(text) ?? make(text);
    kept.delete(text);
    kept.set(text, statement);
    if (kept.size > MOST) kept.delete(kept.keys().next().value!);
    return statement;
  };
}
