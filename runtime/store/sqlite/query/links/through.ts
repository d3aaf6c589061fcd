import type { Chain, Condition, Has, Link, Target } from '../../../../search/query/query.js';
import { conjunctsOf } from '../../../plan/conjuncts.js';
import type { Path } from '../../../plan/cursor.js';
import { restOf, rowsOf, stepOf, type Arm, type Choice, type Driver, type Level } from '../compile/index-range.js';
import { column } from '../compile/shape.js';
import { and, or, raw, sql, type Sql } from '../compile/sql.js';
import { probe } from '../probes.js';
import type { SearchRun } from '../run.js';
import { isVersion, leadsToTarget, refersById, refersByUrl, someLeads } from './links.js';

/** Finds what has the fewest rows of the conditions at the other side. */
type FindBest = (run: SearchRun, conditions: readonly Condition[], choice: Choice, depth: number) => Driver | undefined;

/** Links that lead to each other, at most. */
const DEEPEST = 4;

/** Types of targets, and ranges, that are gone through one after the other: each of them asks about those before it. */
const MOST = { targets: 4, arms: 8 };

/** Ranges that are collected. A link to anything leads to more, and is followed from where it begins. */
const MOST_COLLECTED = 64;

/**
 * Resources that a link leads to, from those at its other side: each of these, as it comes, opens a range of references. So the first
 * are there when the first at the other side are. Undefined: no index finds what is at the other side.
 *
 * @param depth how many links lead to where this one begins
 */
export function throughLink(
  run: SearchRun,
  link: Link,
  choice: Choice,
  depth: number,
  findBest: FindBest,
): Driver | undefined {
  if (depth > DEEPEST) return undefined;
  const targets = 'chain' in link ? link.chain : [link.has];
  const sides: (OtherSide | undefined)[] = [];
  for (const [i, target] of targets.entries()) {
    const beyond = run.of(target.type);
    const side = beyond && otherSide(beyond, target, stepOf(choice, i), depth, findBest);
    if (beyond !== undefined && side === undefined) return undefined;
    sides.push(side);
  }
  // What has URLs is found in two ways.
  const ranges = sides.reduce((sum, side) => sum + 2 * (side?.arms.length ?? 0), 0);
  if (ranges > MOST_COLLECTED) return undefined;
  const isLazy =
    targets.length <= MOST.targets && ranges <= MOST.arms && sides.every((side) => side === undefined || side.isLazy);
  const holds = (owner: Sql): Sql => run.check(link, owner);
  const arms = sides.flatMap((side, i) =>
    (side?.arms ?? []).flatMap((arm) => {
      const ways = 'chain' in link ? chainWays(run, link, i, side!, arm, depth) : hasWays(run, link, side!, arm, depth);
      return ways.map(({ key, levels, once }): Arm => {
        // All rows of what is collected are wanted: none has to be distinguished from others.
        return { key, levels: [...keysOf(side!, arm), ...levels], isLazy, once: isLazy ? once : () => raw('1'), holds };
      });
    }),
  );
  return {
    condition: link,
    arms,
    path: sides.map((side) => side?.path ?? 0),
    count: choice.path === undefined ? countThrough(run, arms, choice.limit) : 0,
    isExact: true,
    isLazy,
    isFar: true,
    repeats: 'has' in link || sides.some((side) => side?.repeats === true),
  };
}

/** How many looks at a row of the other side may find nothing, before it counts as one that leads to much. */
const EMPTY = 4;

function countThrough(run: SearchRun, arms: readonly Arm[], limit: number): number {
  const rows = EMPTY * limit + EMPTY;
  return run.interrupt.within({ rows }, () => probe(run, arms.map(rowsOf), limit)) ?? limit + 1;
}

/** The other side of a link: ranges, and what else is asked of what is in them. */
interface OtherSide {
  readonly beyond: SearchRun;
  readonly arms: readonly Arm[];
  readonly path: Path;
  readonly rest: Condition;
  readonly isLazy: boolean;
  readonly repeats: boolean;
}

/** Undefined: no index finds it. */
function otherSide(
  beyond: SearchRun,
  { where }: Target,
  choice: Choice,
  depth: number,
  findBest: FindBest,
): OtherSide | undefined {
  const best = findBest(beyond, conjunctsOf(where), choice, depth + 1);
  if (best === undefined) return undefined;
  const { arms, path, isLazy, repeats } = best;
  return { beyond, arms, path, rest: restOf(where, best), isLazy, repeats };
}

/** Each resource at the other side once, by its key. */
function keysOf({ beyond, rest }: OtherSide, { key, levels, once }: Arm): readonly Level[] {
  const last = levels.at(-1)!;
  return [...levels.slice(0, -1), { ...last, asked: and([last.asked, beyond.check(rest, key)]), once }];
}

/** Where references lead from a resource at the other side. */
type Way = Pick<Arm, 'key' | 'levels' | 'once'>;

function level(table: Sql, where: Sql, order: readonly Sql[], asked: Sql): Level {
  return { table, where, order, asked };
}

function columns(row: Sql, ...names: readonly string[]): readonly Sql[] {
  return names.map((name) => column(row, name));
}

/** Names of the rows of a link: a reference, a resource that it names, a URL of one. */
function rowsAt(depth: number): readonly [reference: Sql, resource: Sql, url: Sql] {
  return [raw(`j${depth}`), raw(`y${depth}`), raw(`w${depth}`)];
}

function chainWays(
  run: SearchRun,
  link: Chain,
  place: number,
  { beyond }: OtherSide,
  arm: Arm,
  depth: number,
): readonly Way[] {
  const param = run.param(link.param);
  if (param === undefined) return [];
  const [row, target, url] = rowsAt(depth);
  const key = sql`${row}.resource`;
  // Of several references of a resource the first counts that leads to any.
  const once = (): Sql => sql`NOT ${someLeads(link.chain, key, param, run, 0, (other) => sql`${other}.n < ${row}.n`)}`;
  const byId = {
    key,
    levels: [
      level(sql`resource ${target} NOT INDEXED`, sql`${target}.key = ${arm.key}`, [], raw('1')),
      level(
        sql`reference ${row} INDEXED BY reference_by_target`,
        sql`${row}.target_id = ${target}.id AND ${row}.target_id <> '' AND ${row}.param = ${param}`,
        [key],
        and([sql`${row}.target_type = ${beyond.type} AND ${row}.base = 0`, run.go(key)]),
      ),
    ],
    once,
  };
  const urls = beyond.param('url');
  if (urls === undefined) return [byId];
  // One canonical may lead to several: of these the first counts, by type and by key.
  const lesser = (): readonly Sql[] => [
    ...link.chain.slice(0, place).flatMap((other) => leadsToTarget(row, other, run, 0) ?? []),
    leadsToTarget(row, link.chain[place]!, run, 0, (other) => sql`${other} < ${arm.key}`)!,
  ];
  const byUrl = {
    key,
    levels: [
      level(
        sql`uri ${url} INDEXED BY sqlite_autoindex_uri_1`,
        sql`${url}.resource = ${arm.key} AND ${url}.param = ${urls}`,
        columns(url, 'part_group', 'n'),
        isFirstOfUrl(url),
      ),
      level(
        sql`reference ${row} INDEXED BY reference_by_url`,
        sql`${row}.url = ${url}.value AND ${row}.url <> '' AND ${row}.param = ${param}`,
        [key],
        and([
          sql`${row}.target_type IN (0, ${beyond.type})`,
          isVersion(row, arm.key, beyond.param('version'), run.look, 0),
          run.go(key),
        ]),
      ),
    ],
    once: () => and([once(), sql`NOT ${or(lesser())}`]),
  };
  return [byId, byUrl];
}

/** A resource may have one URL twice. */
function isFirstOfUrl(row: Sql): Sql {
  return sql`NOT EXISTS (SELECT 1 FROM uri o INDEXED BY sqlite_autoindex_uri_1 WHERE o.resource = ${row}.resource
    AND o.param = ${row}.param AND o.value = ${row}.value AND o.n < ${row}.n)`;
}

function hasWays(run: SearchRun, link: Has, { beyond }: OtherSide, arm: Arm, depth: number): readonly Way[] {
  const param = beyond.param(link.has.param);
  if (param === undefined) return [];
  const [row, target, url] = rowsAt(depth);
  // Of several that refer to a resource the first by key counts, and its first reference.
  const lesser = (other: Sql): Sql =>
    sql`${other}.resource <= ${row}.resource AND (${other}.resource < ${row}.resource OR ${other}.n < ${row}.n)`;
  const references = (asked: Sql): Level =>
    level(
      sql`reference ${row} INDEXED BY sqlite_autoindex_reference_1`,
      sql`${row}.resource = ${arm.key} AND ${row}.param = ${param}`,
      columns(row, 'part_group', 'n'),
      and([run.go(sql`${row}.resource`), asked]),
    );
  const key = sql`${target}.key`;
  const byId = {
    key,
    levels: [
      references(sql`${row}.target_type = ${run.type} AND ${row}.target_id <> '' AND ${row}.base = 0`),
      level(
        sql`resource ${target} INDEXED BY resource_by_id`,
        sql`${target}.type = ${run.type} AND ${target}.id = ${row}.target_id AND ${target}.deleted = 0`,
        [],
        raw('1'),
      ),
    ],
    once: () => sql`NOT ${refersById(link, key, run, 0, lesser)}`,
  };
  const urls = run.param('url');
  if (urls === undefined) return [byId];
  const owner = sql`${url}.resource`;
  const byUrl = {
    key: owner,
    levels: [
      references(sql`${row}.url <> '' AND ${row}.target_type IN (0, ${run.type})`),
      level(
        sql`uri ${url} INDEXED BY uri_by_value`,
        sql`${url}.param = ${urls} AND ${url}.value = ${row}.url`,
        [owner],
        and([isVersion(row, owner, run.param('version'), run.look, 0), isFirstOfUrl(url)]),
      ),
    ],
    once: () =>
      and([sql`NOT ${refersById(link, owner, run, 0)}`, sql`NOT ${refersByUrl(link, owner, run, 0, lesser)}`]),
  };
  return [byId, byUrl];
}
