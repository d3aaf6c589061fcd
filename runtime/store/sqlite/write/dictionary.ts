import type { Database } from 'better-sqlite3';

/**
 * Texts that repeat, as small integers: type names, code systems, base URLs, and search parameters of a type. Rows are
 * only ever added, so what was read once stays true; 0 stands for an absent text.
 */
export interface Dictionary {
  /** The number of a text, given now if it has none. Inside a write transaction only. */
  term(text: string | undefined): number;
  /** The number of a text, or undefined where it has none. */
  findTerm(text: string): number | undefined;
  /** The number of a parameter of a type; `part` counts the parts of a composite from 1, 0: the parameter itself. */
  param(type: number, code: string, part: number): number;
  /** The same, or undefined where it has none. */
  findParam(type: number, code: string, part: number): number | undefined;
  /** All of a type whose codes lie between these; not kept, for there may be more at any time. */
  paramsBetween(type: number, above: string, below: string): number[];
  /** Forgets what was cached: after a rollback the numbers given in it are void. */
  reset(): void;
}

/** Most texts kept in memory; beyond that the cache starts anew. */
const MAX_CACHED = 50_000;

/** The dictionary of a file, with what was looked up kept in memory. */
export function openDictionary(db: Database): Dictionary {
  const terms = new Map<string, number>();
  const params = new Map<string, number>();
  const selectTerm = db.prepare<[string], number>('SELECT id FROM term WHERE text = ?').pluck();
  const insertTerm = db.prepare<[string]>('INSERT INTO term (text) VALUES (?)');
  const selectParam = db
    .prepare<[number, string, number], number>('SELECT id FROM param WHERE type = ? AND code = ? AND part = ?')
    .pluck();
  const insertParam = db.prepare<[number, string, number]>('INSERT INTO param (type, code, part) VALUES (?, ?, ?)');

  function remember(cache: Map<string, number>, key: string, id: number): number {
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(key, id);
    return id;
  }

  function findTerm(text: string): number | undefined {
    const id = terms.get(text) ?? selectTerm.get(text);
    return id === undefined ? undefined : remember(terms, text, id);
  }

  const selectParams = db
    .prepare<[number, string, string], number>(
      'SELECT id FROM param WHERE type = ? AND code > ? AND code < ? AND part = 0',
    )
    .pluck();

  function findParam(type: number, code: string, part: number): number | undefined {
    const key = `${type} ${part} ${code}`;
    const id = params.get(key) ?? selectParam.get(type, code, part);
    return id === undefined ? undefined : remember(params, key, id);
  }

  return {
    findTerm,
    findParam,
    paramsBetween: (type, above, below) => selectParams.all(type, above, below),
    term: (text) =>
      text === undefined ? 0 : (findTerm(text) ?? remember(terms, text, Number(insertTerm.run(text).lastInsertRowid))),
    param(type, code, part) {
      const id = findParam(type, code, part) ?? Number(insertParam.run(type, code, part).lastInsertRowid);
      return remember(params, `${type} ${part} ${code}`, id);
    },
    reset() {
      terms.clear();
      params.clear();
    },
  };
}

/** The code of the parameter under which canonical values in a unit are kept. */
export function canonicalCode(code: string, unit: string): string {
  return `${code}{${unit}}`;
}

/**
 * The code of the parameter under which a composite keeps its canonical quantities of one code alone: blood pressures apart
 * from body weights, so that a range of values is one of an index.
 */
export function codedCode(code: string, system: string, token: string): string {
  return `${code}$${JSON.stringify([system, token])}`;
}
