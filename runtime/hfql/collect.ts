import type { CompiledStatement } from './compile-statement.js';
import { fieldsOf, rowOf } from './compile-statement.js';
import { fieldText } from './csv.js';
import { ANSWER_ROOM } from '../core/answer-room.js';
import type { ReadNotes } from '../core/read-notes.js';
import type { Resource } from '../fhir/resource.js';
import type { CountQuery, CountRow, ElementPath } from '../store/store.js';
import { yieldToEventLoop } from '../fhir/yield-to-event-loop.js';
import type { Matches } from './matches.js';
import { StatementError, type ColumnType } from './statement.js';

/** Rows or groups that are held in memory to be sorted or counted. */
const MOST = 10_000;

/** Resources that are read at a time. */
const BATCH = 500;

/** The numbers that these types are sorted by. */
const NUMERIC: ReadonlySet<ColumnType> = new Set(['DECIMAL', 'INTEGER', 'LONGINT']);

/**
 * All rows of a statement that groups or sorts: it needs to see all resources before it can give the first.
 *
 * @throws StatementError where these are too many
 */
export async function collectRows(
  compiled: CompiledStatement,
  matches: Matches,
  reads: ReadNotes | undefined,
): Promise<readonly (readonly string[])[]> {
  const make = compiled.isGrouped ? groupedRows : plainRows;
  const rows = await make(compiled, matches, reads);
  const { order, statement } = compiled;
  if (order.length === 0) return rows;
  return [...rows].sort((a, b) => {
    for (const { column, ascending } of order) {
      const compared = compare(a[column] ?? '', b[column] ?? '', statement.select[column]?.dataType);
      if (compared !== 0) return ascending ? compared : -compared;
    }
    return 0;
  });
}

/** Absent values come first. */
function compare(a: string, b: string, type: ColumnType | undefined): number {
  if (a === b) return 0;
  if (a === '' || b === '') return a === '' ? -1 : 1;
  if (type !== undefined && NUMERIC.has(type)) return Number(a) - Number(b);
  const order = type === 'TIMESTAMP' ? instantOf(a) - instantOf(b) : 0;
  if (order !== 0) return order;
  return a < b ? -1 : 1;
}

/** Milliseconds since the epoch. A time that is less exact begins in UTC; a leap second is the one before it. */
function instantOf(text: string): number {
  return Date.parse(text.replace(/:60(?=[.Z+-])/, ':59'));
}

/** @param reads is notified of a resource that a row is made of */
export function noteResource(resource: Resource, reads: ReadNotes | undefined): void {
  const { resourceType, id } = resource;
  reads?.about(resourceType, typeof id === 'string' ? id : undefined, resource);
}

async function plainRows(
  compiled: CompiledStatement,
  matches: Matches,
  reads: ReadNotes | undefined,
): Promise<string[][]> {
  const rows: string[][] = [];
  let size = 0;
  for await (const row of resourcesOf(compiled, matches, reads)) {
    const fields = fieldsOf(compiled, row);
    size += fields.reduce((sum, { length }) => sum + length, 0);
    if (size > ANSWER_ROOM) throw new StatementError('The rows that ORDER BY sorts are too large together; select less, or add conditions'); // prettier-ignore
    rows.push(fields);
    if (rows.length > MOST) {
      throw new StatementError(`ORDER BY sorts ${MOST} rows at most, and there are more; add conditions`);
    }
  }
  return rows;
}

async function* resourcesOf(compiled: CompiledStatement, matches: Matches, reads: ReadNotes | undefined) {
  const pace = yieldToEventLoop();
  for (let after: string | undefined; ;) {
    const { resources, next } = await matches.batch(after, BATCH);
    for (const resource of resources) {
      await pace();
      const row = rowOf(resource);
      if (!compiled.fulfills(row)) continue;
      noteResource(resource, reads);
      yield row;
    }
    if (next === undefined) return;
    after = next;
  }
}

/** What was counted of one combination of values. */
interface Group {
  readonly values: readonly string[];
  readonly counts: number[];
}

async function groupedRows(
  compiled: CompiledStatement,
  matches: Matches,
  reads: ReadNotes | undefined,
): Promise<string[][]> {
  const { statement, columns, groups: paths } = compiled;
  const { select, groupBy } = statement;
  if (countsAll(compiled)) {
    const total = String(await matches.total());
    return [select.map(() => total)];
  }
  const stored = storedGroups(compiled);
  const counted = stored && (await matches.countBy(stored, MOST));
  if (counted !== undefined) {
    noteValues(counted, statement, reads);
    return counted.map(({ values, count }) =>
      select.map(({ operator, clause }) =>
        operator === 'COUNT' ? String(count) : (values[groupBy.indexOf(clause)] ?? ''),
      ),
    );
  }
  const groups = new Map<string, Group>();
  // Without GROUP BY all resources are one group, which is there where nothing is found, too.
  if (paths.length === 0) groups.set('[]', { values: [], counts: select.map(() => 0) });
  let size = 0;
  for await (const row of resourcesOf(compiled, matches, reads)) {
    const counted = columns.map((path, i) => {
      if (select[i]?.operator !== 'COUNT') return 0;
      return path === undefined || path.values(row).length > 0 ? 1 : 0;
    });
    for (const values of combinations(paths.map((path) => unique(path.values(row).map(fieldText))))) {
      const key = JSON.stringify(values);
      let group = groups.get(key);
      if (group === undefined) {
        if (groups.size >= MOST) throw new StatementError(`GROUP BY makes ${MOST} groups at most, and there are more`);
        if ((size += key.length) > ANSWER_ROOM)
          throw new StatementError('The values that GROUP BY groups by are too large together');
        groups.set(key, (group = { values, counts: select.map(() => 0) }));
      }
      counted.forEach((each, i) => (group.counts[i] = (group.counts[i] ?? 0) + each));
    }
  }
  return [...groups.values()].map(({ values, counts }) =>
    select.map(({ operator, clause }, i) =>
      operator === 'COUNT' ? String(counts[i]) : (values[groupBy.indexOf(clause)] ?? ''),
    ),
  );
}

/** What the store has counted by: references, and ids of the resources themselves. */
function noteValues(
  rows: readonly CountRow[],
  { groupBy, fromResourceName }: CompiledStatement['statement'],
  reads: ReadNotes | undefined,
): void {
  for (const { values } of rows) {
    for (const [i, value] of values.entries()) {
      if (value === undefined) continue;
      if (groupBy[i] === 'id') reads?.about(fromResourceName, value, undefined);
      else reads?.value(value);
    }
  }
}

/** Whether nothing is asked but how many the search finds. */
export function countsAll({ statement, groups, plan }: CompiledStatement): boolean {
  const { select } = statement;
  const isCount = select.every(({ operator, clause }) => operator === 'COUNT' && clause === '*');
  return isCount && groups.length === 0 && plan.filters.length === 0;
}

/** Where the store finds the values that are counted by; undefined: it cannot count. */
export function storedGroups({ statement, groups, plan }: CompiledStatement): CountQuery['by'] | undefined {
  if (plan.filters.length > 0) return undefined;
  if (statement.select.some(({ operator, clause }) => operator === 'COUNT' && clause !== '*')) return undefined;
  const [first, ...others] = groups.map(({ stored }) => stored);
  if (first === undefined || others.includes(undefined)) return undefined;
  return [first, ...(others as ElementPath[])];
}

function unique(values: readonly string[]): readonly string[] {
  return values.length === 0 ? [''] : [...new Set(values)];
}

/** Each value of the first with each of the others. */
function combinations(lists: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const count = lists.reduce((product, { length }) => product * length, 1);
  if (count > MOST) throw new StatementError(`The values of one resource make more than ${MOST} groups`);
  return lists.reduce<readonly (readonly string[])[]>(
    (made, list) => made.flatMap((each) => list.map((value) => [...each, value])),
    [[]],
  );
}
