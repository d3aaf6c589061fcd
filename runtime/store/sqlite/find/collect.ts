import type { Condition } from '../../../search/query/query.js';
import { compareText } from '../../../search/query/compare-text.js';
import { compareHits, type Hit } from './hit.js';
import type { Run } from './run.js';
import { openSortReader } from './sort-values.js';
import { raw, sql, type Sql } from './sql.js';

interface KeyRow {
  readonly key: number;
  readonly id: string;
}

/** All resources of the type that fulfil a condition, in the order of ids. */
export function walk(run: Run, where: Condition, after: string | undefined): Sql {
  const isLater = after === undefined ? sql`` : sql`AND r.id > ${after}`;
  return sql`SELECT r.key, r.id FROM resource r INDEXED BY resource_by_id
    WHERE r.type = ${run.type} ${isLater} AND ${run.go(raw('r.key'))} AND r.deleted = 0
    AND ${run.check(where, raw('r.key'))} ORDER BY r.id`;
}

/** Everything that a statement finds, in order. */
export function collect(run: Run, statement: Sql): readonly Hit[] {
  const { sort } = run.query;
  const readers = sortReaders(run);
  const hits: Hit[] = [];
  let last: number | undefined;
  for (const { key, id } of run.rows<KeyRow>(statement)) {
    if (key !== last) hits.push({ key, id, values: [] });
    last = key;
  }
  if (sort.length === 0) return hits.sort((a, b) => compareText(a.id, b.id));
  return hits
    .map((hit) => {
      run.guard.step();
      return { ...hit, values: readers.map((read) => read(hit.key, hit.id) ?? null) };
    })
    .sort(compareHits(sort));
}

/** Readers of the sort values, by key of the order. */
export function sortReaders({ query, dictionary, type, statements, guard, trace }: Run) {
  return query.sort.map((key) =>
    openSortReader(key, {
      db: statements,
      param: (code) => dictionary.findParam(type, code, 0),
      canonical: (code) => dictionary.paramsBetween(type, `${code}{`, `${code}|`),
      look: (column) => (trace === undefined ? '1' : guard.look(column)),
    }),
  );
}
