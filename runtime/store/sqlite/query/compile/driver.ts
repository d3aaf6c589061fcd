import { append } from '../../../../fhir/lists.js';
import type { Condition, Leaf, Link } from '../../../../search/query/query.js';
import type { IndexRange, Driver, Single } from './index-range.js';
import { findBetween } from './between.js';
import { checkParts, MAX_INLINE } from './check.js';
import type { Resolved } from './compile-context.js';
import type { LeafGroup } from './leaf.js';
import { isLink } from './residual.js';
import { asSingleValues, boundValues, from, listValues } from '../links/lists.js';
import { probe } from '../probes.js';
import type { Run } from '../run.js';
import { column, indexedBy, type Access, type Values } from './shape.js';
import { TOKEN_BOTH, TOKEN_CODE } from './shapes.js';
import { and, raw, sql, type Sql } from './sql.js';

const ROW = raw('d');

/**
 * The ranges by which a condition is found with the fewest rows. Undefined: by none, all resources have to be looked at, or
 * it is a link that is not resolved.
 *
 * @param limit how far rows are counted
 */
export function findDriver(run: Run, condition: Condition, limit: number): Driver | undefined {
  if ('not' in condition) return undefined;
  if ('all' in condition) {
    const best = findBest(run, condition.all, limit);
    const isExact = condition.all.length === 1 && best?.isExact === true;
    return best === undefined ? undefined : { ...best, condition, isExact };
  }
  if ('some' in condition) {
    const drivers = condition.some.map((each) => findDriver(run, each, limit));
    if (drivers.includes(undefined)) return undefined;
    const known = drivers.filter((driver) => driver !== undefined);
    const count = known.reduce((sum, driver) => sum + driver.count, 0);
    const arms = known.flatMap((driver) => driver.arms);
    return { condition, arms, count, isExact: known.every((driver) => driver.isExact) };
  }
  const ways = waysTo(run, condition);
  if (ways === undefined) return undefined;
  if ('keys' in ways) {
    const { keys } = ways;
    return { condition, arms: [listed(run, keys)], count: keys.length, isExact: true, keys };
  }
  const { groups } = ways;
  if (groups.some(({ isListed }) => !isListed)) return undefined;
  const options = groups.map((group) => cheapest(run, group, limit));
  const count = options.reduce((sum, option) => sum + option.count, 0);
  const single = options.length === 1 ? options[0]!.single : undefined;
  return { condition, arms: options.flatMap(({ arms }) => arms), count, isExact: true, ...(single && { single }) };
}

/** Resources whose keys are known: a list as JSON is read the fastest. */
function listed(run: Run, keys: readonly number[]): IndexRange {
  const key = raw('k.value');
  const range = sql`FROM json_each(${JSON.stringify(keys)}) k WHERE ${run.go(key)}`;
  return { key, rows: range, range, isOrdered: false };
}

/** A leaf as alternatives, or a link as what it was resolved to; undefined: it is not. */
function waysTo(run: Run, condition: Leaf | Link): Resolved | undefined {
  return isLink(condition) ? run.resolved.get(condition) : { groups: run.groups(condition) };
}

/** Few enough that nothing can be gained by counting more. */
export const FEW = 20;

/** The driver of the conjunct that has the fewest rows. */
export function findBest(run: Run, conditions: readonly Condition[], limit: number): Driver | undefined {
  let best: Driver | undefined;
  for (const condition of conditions) {
    const driver = findDriver(run, condition, limit);
    if (driver === undefined) continue;
    if ('param' in condition || 'has' in condition || 'updated' in condition || 'ids' in condition) {
      run.trace?.probed(condition, driver.count, limit);
    }
    if (best === undefined || driver.count < best.count) best = driver;
    if (best.count <= FEW) return best;
  }
  for (const driver of findBetween(run, conditions, limit)) {
    if (best === undefined || driver.count < best.count) {
      best = driver;
      run.trace?.probed(driver.condition, driver.count, limit);
    }
  }
  return best;
}

interface Option {
  readonly arms: readonly IndexRange[];
  readonly count: number;
  readonly single?: Single;
}

/** Of a composite by the part, of an interval by the end that has the fewest rows. */
function cheapest(run: Run, group: LeafGroup, limit: number): Option {
  let best: Option | undefined;
  for (const [part, { accesses }] of group.shapes.entries()) {
    for (const access of accesses) {
      const parts = access.beside === undefined ? [access] : [access, access.beside];
      const arms = parts.flatMap((each) => armsOf(run, group, part, each));
      const count = probe(run, arms.map(({ range }) => range), limit); // prettier-ignore
      if (best !== undefined && count >= best.count) continue;
      const single = singleOf(group, access);
      best = { arms, count, ...(single && { single }) };
    }
  }
  return best ?? { arms: [], count: 0 };
}

/**
 * Of one interval asked for by its bounds: of such values it is noted who has several, or a wide one. Without these, no rows are beside
 * the range.
 */
function singleOf({ shapes, alternatives }: LeafGroup, access: Access): Single | undefined {
  const [shape, ...others] = shapes;
  const [only, ...more] = alternatives;
  if (shape?.bounds === undefined || shape.table.key !== 'resource') return undefined;
  if (only === undefined || others.length > 0 || more.length > 0) return undefined;
  const values = boundValues(only);
  const asked = and([access.seek(ROW, values), ...(access.rest === undefined ? [] : [access.rest(ROW, values)])]);
  const rows = sql`FROM ${raw(shape.table.name)} d ${indexedBy(access.index)} WHERE ${asked}`;
  return { key: column(ROW, shape.table.key), param: values(0), rows };
}

function armsOf(run: Run, group: LeafGroup, part: number, access: Access, most = MAX_INLINE): readonly IndexRange[] {
  const { alternatives } = group;
  if (alternatives.length <= most) {
    return alternatives.map((values) => armOf(run, group, part, access, boundValues(values)));
  }
  const single = asSingleValues(alternatives);
  return [
    single === undefined
      ? armOf(run, group, part, access, listValues('v'), run.list(alternatives))
      : armOf(run, group, part, access, single.values, sql`json_each(${single.json})`),
  ];
}

function armOf(run: Run, group: LeafGroup, part: number, access: Access, values: Values, list?: Sql): IndexRange {
  const { table } = group.shapes[part]!;
  const own = from(values, group.places[part]!);
  const key = column(ROW, table.key);
  const source = sql`FROM ${list === undefined ? sql`` : sql`${list} v CROSS JOIN `}${raw(table.name)} d
    ${indexedBy(access.index)}`;
  const seek = access.seek(ROW, own);
  const rest = access.rest === undefined ? [] : [access.rest(ROW, own)];
  const others =
    group.shapes.length === 1
      ? []
      : [checkParts(group, values, { key, group: column(ROW, 'part_group') }, run, [part])];
  return {
    key,
    rows: sql`${source} WHERE ${seek} AND ${run.go(key)} AND ${and([...rest, ...others])}`,
    range: sql`${source} WHERE ${seek}`,
    isOrdered: access.isOrdered && list === undefined,
  };
}

/** More resources than this are not read side by side that a link leads to. */
const MAX_LED = 64;

/**
 * A leaf, a link that is resolved, or alternatives of these, as few ranges in which rows come in the order of keys; undefined: it
 * is found by none such.
 */
export function orderedArms(run: Run, condition: Condition): readonly IndexRange[] | undefined {
  if ('all' in condition || 'not' in condition) return undefined;
  if ('some' in condition) {
    const arms: IndexRange[] = [];
    for (const each of condition.some) {
      const own = orderedArms(run, each);
      if (own === undefined || arms.length + own.length > MAX_INLINE) return undefined;
      append(arms, own);
    }
    return arms;
  }
  const ways = waysTo(run, condition);
  if (ways === undefined || 'keys' in ways) return undefined;
  const most = isLink(condition) ? MAX_LED : MAX_INLINE;
  const arms: IndexRange[] = [];
  for (const group of ways.groups) {
    if (!group.isListed) return undefined;
    const split = bySystem(run, group);
    if (split === undefined) return undefined;
    const part = split.shapes.findIndex(({ accesses }) => accesses.some(({ isOrdered }) => isOrdered));
    const access = split.shapes[part]?.accesses.find(({ isOrdered }) => isOrdered);
    if (access === undefined) return undefined;
    append(arms, armsOf(run, split, part, access, most));
    if (arms.length > most || !arms.every(({ isOrdered }) => isOrdered)) return undefined;
  }
  return arms;
}

/** Codes without a system as codes with each system that they have here: mostly that is one. */
function bySystem(run: Run, group: LeafGroup): LeafGroup | undefined {
  const { shapes, places, alternatives } = group;
  const part = shapes.indexOf(TOKEN_CODE);
  if (part < 0 || shapes.some(({ accesses }) => accesses.some(({ isOrdered }) => isOrdered))) return group;
  if (alternatives.length > MAX_INLINE) return undefined;
  const place = places[part]!;
  const after = place + 2;
  const split = alternatives.flatMap((values) =>
    systemsOf(run, Number(values[place]), String(values[place + 1])).map((system) => [
      ...values.slice(0, after),
      system,
      ...values.slice(after),
    ]),
  );
  if (split.length > MAX_INLINE) return undefined;
  return {
    ...group,
    shapes: shapes.map((shape, i) => (i === part ? TOKEN_BOTH : shape)),
    places: places.map((each) => (each >= after ? each + 1 : each)),
    alternatives: split,
  };
}

/** The systems that a code has under a parameter; a few more than are of use. */
export function systemsOf(run: Run, param: number, code: string, limit = MAX_INLINE + 1): readonly number[] {
  const next = run.statements.prepare<{ readonly system: number }>(
    `SELECT system FROM token INDEXED BY token_by_value
     WHERE param = ? AND part_group >= 0 AND code = ? AND system > ? ORDER BY system LIMIT 1`,
  );
  const systems: number[] = [];
  for (let row = next.get(param, code, -1); row !== undefined && systems.length < limit;) {
    systems.push(row.system);
    row = next.get(param, code, row.system);
  }
  return systems;
}
