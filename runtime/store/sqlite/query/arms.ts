import type { Condition } from '../../../search/query/query.js';
import { placeOfArm, shortName, type ArmName } from '../../plan/arm-names.js';
import type { ArmPlace } from '../../plan/cursor.js';
import { isNewestFirst } from '../../plan/newest-first.js';
import type { Arm, Driver, Level } from './compile/index-range.js';
import { tablesOf } from './compile/index-range.js';
import { and, join, keyOf, raw, sql, type Sql, type Value } from './compile/sql.js';
import type { Hit } from './hit.js';
import type { SearchRun } from './run.js';

/**
 * Finds the resources that are in the ranges of a driver and fulfil a condition, each resource once, in the order of
 * the ranges: arm by arm.
 *
 * @param driver one that is lazy
 * @param after begins behind this place
 * @returns undefined: there is no such place any more
 */
export function walkArms(
  run: SearchRun,
  { arms }: Driver,
  where: Condition,
  after: ArmPlace | undefined,
  wanted: number,
): readonly Hit[] | undefined {
  const first = after === undefined ? 0 : placeOfArm(arms.map(nameOf), after.arm);
  if (first < 0) return undefined;
  const hits: Hit[] = [];
  for (let place = first; place < arms.length && hits.length < wanted; place++) {
    const arm = arms[place]!;
    const ordered = arm.levels.filter(({ order }) => order.length > 0);
    if (place === first && after !== undefined && !fits(after, ordered)) return undefined;
    let at = place === first ? after?.at : undefined;
    const name = (): ArmName => [place, arms.length, nameOf(arm)];
    for (let isOver = false; !isOver && hits.length < wanted;) {
      const found = rowsAfter(run, arm, where, at, wanted - hits.length);
      isOver = found.isOver;
      for (const { key, at: here } of found.rows) {
        if (hits.at(-1)?.key !== key) hits.push({ key, values: [], place: { arm: name, at: here } });
        at = here;
      }
    }
  }
  return hits;
}

function fits({ at }: ArmPlace, ordered: readonly Level[]): boolean {
  return at.length === ordered.length && ordered.every(({ order }, i) => order.length === at[i]!.length);
}

/** Tells an arm from others of the same search. */
function nameOf({ levels }: Arm): string {
  return shortName(levels.map(({ where }) => `${where.text} ${keyOf(where.values)}`));
}

interface Row {
  readonly key: number;
  readonly at: readonly (readonly Value[])[];
}

/** Rows of an arm behind a place. */
function rowsAfter(
  run: SearchRun,
  arm: Arm,
  where: Condition,
  after: ArmPlace['at'] | undefined,
  wanted: number,
): { readonly rows: readonly Row[]; readonly isOver: boolean } {
  const ordered = arm.levels.filter(({ order }) => order.length > 0);
  const rows: Row[] = [];
  // Behind a place are first the rows that are at the same place of all levels but the last, then those of all but the last two…
  for (let depth = after === undefined ? 0 : ordered.length - 1; depth >= 0; depth--) {
    const statement = statementOf(run, arm, where, ordered[depth], after, wanted - rows.length);
    for (const [key, ...values] of run.table<readonly [number, ...Value[]]>(statement)) {
      let from = 0;
      const at = ordered.map(({ order }) => values.slice(from, (from += order.length)));
      rows.push({ key, at });
    }
    if (rows.length >= wanted) return { rows, isOver: false };
  }
  return { rows, isOver: true };
}

/** @param moved the level whose rows go on behind the place; those before it stay where they are, those after it begin anew */
function statementOf(
  run: SearchRun,
  { key, levels, once }: Arm,
  where: Condition,
  moved: Level | undefined,
  after: ArmPlace['at'] | undefined,
  wanted: number,
): Sql {
  const isBackward = isReversible(levels) && isNewestFirst(where);
  let isBefore = after !== undefined;
  let place = 0;
  const conditions = levels.flatMap((level): readonly Sql[] => {
    const asked = level.once === undefined ? [level.asked] : [level.asked, level.once()];
    if (!isBefore || level.order.length === 0) return [level.where, ...asked];
    const values = after![place++]!;
    if (level !== moved)
      return [level.where, ...level.order.map((column, i) => sql`${column} = ${values[i]!}`), ...asked];
    isBefore = false;
    return [level.open?.() ?? level.where, beyond(level.order, values, isBackward), ...asked];
  });
  const columns = levels.flatMap(({ order }) => order);
  // Of several tables the rows come as those of the first do; SQLite does not know, and would collect and sort them.
  const direction = raw(isBackward ? ' DESC' : '');
  const inOrder = columns.map((column) => sql`${column}${direction}`);
  const order = levels.length > 1 ? sql`` : sql`ORDER BY ${join(inOrder, ', ')}`;
  return sql`SELECT ${join([key, ...columns], ', ')} FROM ${tablesOf(levels)}
    WHERE ${join(conditions, ' AND ')} AND ${and([run.check(where, key), once()])} ${order} LIMIT ${wanted}`;
}

/** Whether the rows may come the other way round: of values that are alike those last that were written first. */
function isReversible([first, ...others]: Arm['levels']): boolean {
  return others.length === 0 && first?.open === undefined;
}

/** https://www.sqlite.org/rowvalue.html#scrolling_window_queries */
function beyond(order: readonly Sql[], values: readonly Value[], isBackward: boolean): Sql {
  const sign = raw(isBackward ? '<' : '>');
  if (order.length === 1) return sql`${order[0]!} ${sign} ${values[0]!}`;
  const marks = join(values.map((value) => sql`${value}`), ', '); // prettier-ignore
  return sql`(${join(order, ', ')}) ${sign} (${marks})`;
}
