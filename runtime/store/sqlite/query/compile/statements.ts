import type { Database, Statement } from 'better-sqlite3';

/** Prepares a statement, whose rows come as lists, unless there is one of the text already. */
export type Statements = <Row extends readonly unknown[]>(text: string) => Statement<unknown[], Row>;

/** Statements kept; beyond that those go that were used longest ago. */
const MOST = 500;

/** None is prepared yet. */
export function openStatements(db: Database): Statements {
  const kept = new Map<string, Statement<unknown[]>>();
  return <Row extends readonly unknown[]>(text: string) => {
    const statement = kept.get(text) ?? db.prepare<unknown[]>(text).raw();
    kept.delete(text);
    kept.set(text, statement);
    if (kept.size > MOST) kept.delete(kept.keys().next().value!);
    return statement as Statement<unknown[], Row>;
  };
}
