import type { Chain, Condition, Has, Link, Target } from '../../../../search/query/query.js';
import { conjunctsOf } from '../../../plan/conjuncts.js';
import type { Path } from '../../../plan/cursor.js';
import { restOf, rowsOf, stepOf, type Arm, type Choice, type Driver, type Level } from '../compile/index-range.js';
import { column } from '../compile/shape.js';
import { and, or, raw, sql, type Sql } from '../compile/sql.js';
import { probe } from '../probes.js';
import type { Run } from '../run.js';
import { isVersion, leadsToTarget, refersById, refersByUrl, someLeads } from './links.js';

/** Finds what has the fewest rows of the conditions at the other side. */
type FindBest = (run: Run, conditions: readonly Condition[], choice: Choice, depth: number) => Driver | undefined;

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
  run: Run,
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
  const arms =
    'chain' in link ? chainArms(run, link, sides, isLazy, depth) : hasArms(run, link, sides[0], isLazy, depth);
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

function countThrough(run: Run, arms: readonly Arm[], limit: number): number {
  const rows = EMPTY * limit + EMPTY;
  return run.interrupt.within({ rows }, () => probe(run, arms.map(rowsOf), limit)) ?? limit + 1;
}

/** The other side of a link: ranges, and what else is asked of what is in them. */
interface OtherSide {
  readonly beyond: Run;
  readonly arms: readonly Arm[];
  readonly path: Path;
  readonly rest: Condition;
  readonly isLazy: boolean;
  readonly repeats: boolean;
}

/** Undefined: no index finds it. */
function otherSide(
  beyond: Run,
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

/** All rows are collected: none has to be distinguished from others. */
const EACH = (): Sql => raw('1');

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

function chainArms(
  run: Run,
  link: Chain,
  sides: readonly (OtherSide | undefined)[],
  isLazy: boolean,
  depth: number,
): readonly Arm[] {
  const param = run.param(link.param);
  if (param === undefined) return [];
  const arms: Arm[] = [];
  const [row, target, url] = rowsAt(depth);
  const key = sql`${row}.resource`;
  // Of several references of a resource the first counts that leads to any.
  const isFirst = (): Sql =>
    sql`NOT ${someLeads(link.chain, key, param, run, 0, (other) => sql`${other}.n < ${row}.n`)}`;
  const holds = (owner: Sql): Sql => run.check(link, owner);
  for (const [i, each] of link.chain.entries()) {
    const side = sides[i];
    if (side === undefined) continue;
    const { beyond } = side;
    const urls = beyond.param('url');
    for (const arm of side.arms) {
      const before = keysOf(side, arm);
      const byId = and([sql`${row}.target_type = ${beyond.type} AND ${row}.base = 0`, run.go(key)]);
      arms.push({
        key,
        levels: [
          ...before,
          level(sql`resource ${target} NOT INDEXED`, sql`${target}.key = ${arm.key}`, [], raw('1')),
          level(
            sql`reference ${row} INDEXED BY reference_by_target`,
            sql`${row}.target_id = ${target}.id AND ${row}.target_id <> '' AND ${row}.param = ${param}`,
            [key],
            byId,
          ),
        ],
        isLazy,
        once: isLazy ? isFirst : EACH,
        holds,
      });
      if (urls === undefined) continue;
      // One canonical may lead to several: of these the first counts, by type and by key.
      const lesser = (): readonly Sql[] => [
        ...link.chain.slice(0, i).flatMap((other) => leadsToTarget(row, other, run, 0) ?? []),
        ...[leadsToTarget(row, each, run, 0, (other) => sql`${other} < ${arm.key}`)!],
      ];
      arms.push({
        key,
        levels: [
          ...before,
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
        isLazy,
        once: isLazy ? () => and([isFirst(), sql`NOT ${or(lesser())}`]) : EACH,
        holds,
      });
    }
  }
  return arms;
}

/** A resource may have one URL twice. */
function isFirstOfUrl(row: Sql): Sql {
  return sql`NOT EXISTS (SELECT 1 FROM uri o INDEXED BY sqlite_autoindex_uri_1 WHERE o.resource = ${row}.resource
    AND o.param = ${row}.param AND o.value = ${row}.value AND o.n < ${row}.n)`;
}

function hasArms(run: Run, link: Has, side: OtherSide | undefined, isLazy: boolean, depth: number): readonly Arm[] {
  const param = side?.beyond.param(link.has.param);
  if (side === undefined || param === undefined) return [];
  const [row, target, url] = rowsAt(depth);
  const urls = run.param('url');
  const holds = (owner: Sql): Sql => run.check(link, owner);
  // Of several that refer to a resource the first by key counts, and its first reference.
  const lesser = (other: Sql): Sql =>
    sql`${other}.resource <= ${row}.resource AND (${other}.resource < ${row}.resource OR ${other}.n < ${row}.n)`;
  const references = (by: Sql): Level => {
    const where = sql`${row}.resource = ${by} AND ${row}.param = ${param}`;
    return level(
      sql`reference ${row} INDEXED BY sqlite_autoindex_reference_1`,
      where,
      columns(row, 'part_group', 'n'),
      run.go(sql`${row}.resource`),
    );
  };
  return side.arms.flatMap((arm): readonly Arm[] => {
    const before = keysOf(side, arm);
    const referring = references(arm.key);
    const byId = and([
      referring.asked,
      sql`${row}.target_type = ${run.type} AND ${row}.target_id <> '' AND ${row}.base = 0`,
    ]);
    const key = sql`${target}.key`;
    const named: Arm = {
      key,
      levels: [
        ...before,
        { ...referring, asked: byId },
        level(
          sql`resource ${target} INDEXED BY resource_by_id`,
          sql`${target}.type = ${run.type} AND ${target}.id = ${row}.target_id AND ${target}.deleted = 0`,
          [],
          raw('1'),
        ),
      ],
      isLazy,
      once: isLazy ? () => sql`NOT ${refersById(link, key, run, 0, lesser)}` : EACH,
      holds,
    };
    if (urls === undefined) return [named];
    const owner = sql`${url}.resource`;
    return [
      named,
      {
        key: owner,
        levels: [
          ...before,
          {
            ...referring,
            asked: and([referring.asked, sql`${row}.url <> '' AND ${row}.target_type IN (0, ${run.type})`]),
          },
          level(
            sql`uri ${url} INDEXED BY uri_by_value`,
            sql`${url}.param = ${urls} AND ${url}.value = ${row}.url`,
            [owner],
            and([isVersion(row, owner, run.param('version'), run.look, 0), isFirstOfUrl(url)]),
          ),
        ],
        isLazy,
        once: isLazy
          ? () =>
              and([sql`NOT ${refersById(link, owner, run, 0)}`, sql`NOT ${refersByUrl(link, owner, run, 0, lesser)}`])
          : EACH,
        holds,
      },
    ];
  });
}
