import type { Database, Statement } from 'better-sqlite3';

/** Prepared statements by their text. */
export interface Statements {
  prepare<Row>(text: string): Statement<unknown[], Row>;
}

/** Statements kept; beyond that those go that were used longest ago. */
const MOST = 500;

/** None is prepared yet. */
export function openStatements(db: Database): Statements {
  const kept = new Map<string, Statement<unknown[]>>();
  return {
    prepare<Row>(text: string) {
      const statement = kept.get(text) ?? db.prepare<unknown[]>(text);
      kept.delete(text);
      kept.set(text, statement);
      for (const oldest of kept.keys()) {
        if (kept.size <= MOST) break;
        kept.delete(oldest);
      }
      return statement as Statement<unknown[], Row>;
    },
  };
}
