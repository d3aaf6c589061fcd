import type { Chain, Has, Link, Target } from '../../../../search/query/query.js';
import { tooCostly } from '../../file/too-costly.js';
import type { CompileContext } from '../compile/compile-context.js';
import { and, join, or, raw, sql, type Sql } from '../compile/sql.js';

/** Longest condition on other resources, in characters: what is around it has to find room, too. */
const LONGEST = 500_000;

/** Most links around another: SQLite takes expressions of a bounded depth only, and searches have fewer. */
const DEEPEST = 24;

/**
 * A condition on the other resources that links lead to from the one with this key. Each row that is looked at on the way
 * is marked, for one resource may have any number of them.
 *
 * @param depth how many links there are around it: rows of each have names of their own
 */
export function checkLink(link: Link, key: Sql, context: CompileContext, depth: number): Sql {
  if (depth > DEEPEST) throw tooCostly();
  const checked = 'chain' in link ? checkChain(link, key, context, depth) : checkHas(link, key, context, depth);
  if (checked.text.length > LONGEST) throw tooCostly();
  return checked;
}

const NOTHING = raw('0');

function checkChain({ param: code, chain }: Chain, key: Sql, context: CompileContext, depth: number): Sql {
  const param = context.param(code);
  return param === undefined ? NOTHING : someLeads(chain, key, param, context, depth);
}

/**
 * Some reference of the resource with this key leads to a target.
 *
 * @param also what its row has to fulfil besides
 */
export function someLeads(
  chain: readonly Target[],
  key: Sql,
  param: number,
  context: CompileContext,
  depth: number,
  also?: (row: Sql) => Sql,
): Sql {
  const row = raw(`l${depth}`);
  const leads = chain.flatMap((target) => leadsToTarget(row, target, context, depth) ?? []);
  if (leads.length === 0) return NOTHING;
  return sql`EXISTS (SELECT 1 FROM reference ${row} INDEXED BY sqlite_autoindex_reference_1
    WHERE ${row}.resource = ${key} AND ${row}.param = ${param} ${also === undefined ? sql`` : sql`AND ${also(row)}`}
    AND ${context.go(sql`${row}.resource`)} AND ${or(leads)})`;
}

/**
 * A row of a reference leads to a target; undefined: there never was one.
 *
 * @param also what the resource whose key it is has to be besides
 */
export function leadsToTarget(
  row: Sql,
  { type, where }: Target,
  context: CompileContext,
  depth: number,
  also?: (key: Sql) => Sql,
): Sql | undefined {
  const beyond = context.of(type);
  if (beyond === undefined) return undefined;
  const target = raw(`x${depth}.key`);
  const more = also === undefined ? [] : [also(target)];
  return leadsTo(row, beyond, and([...more, beyond.go(target), beyond.check(where, target, depth + 1)]), depth);
}

/** A row of a reference leads to a resource of a type of which something holds; its key is that of `x`. */
function leadsTo(row: Sql, { type, param, look }: CompileContext, asked: Sql, depth: number): Sql {
  const byId = sql`${row}.target_type = ${type} AND ${row}.base = 0`;
  const x = raw(`x${depth}`);
  const named = sql`FROM resource ${x} INDEXED BY resource_by_id
    WHERE ${x}.type = ${type} AND ${x}.id = ${row}.target_id AND ${x}.deleted = 0`;
  const url = param('url');
  if (url === undefined) return sql`(${byId} AND EXISTS (SELECT 1 ${named} AND ${asked}))`;
  const u = raw(`u${depth}`);
  const canonical = sql`SELECT ${u}.resource FROM uri ${u} INDEXED BY uri_by_value
    WHERE ${row}.url <> '' AND ${row}.target_type IN (0, ${type}) AND ${u}.param = ${url} AND ${u}.value = ${row}.url
    AND ${isVersion(row, sql`${u}.resource`, param('version'), look, depth)}`;
  return sql`EXISTS (SELECT 1 FROM (SELECT ${x}.key AS key ${named} AND ${byId} UNION ALL ${canonical} ${APART}) ${x}
    WHERE ${asked})`;
}

/**
 * Keeps a table of two parts as it is: SQLite would rather ask each part what is asked of both, so that what has links in
 * it would double with each of them. https://www.sqlite.org/optoverview.html#flattening
 */
const APART = raw('LIMIT -1');

/** A canonical names no version, or that of a resource. */
export function isVersion(
  row: Sql,
  key: Sql,
  param: number | undefined,
  look: CompileContext['look'],
  depth: number,
): Sql {
  if (param === undefined) return sql`${row}.target_version = ''`;
  const v = raw(`v${depth}`);
  return sql`(${row}.target_version = '' OR EXISTS (SELECT 1 FROM token ${v} INDEXED BY sqlite_autoindex_token_1
    WHERE ${v}.resource = ${key} AND ${v}.param = ${param} AND ${look(v, 'resource')} AND ${v}.code = ${row}.target_version))`;
}

function checkHas(link: Has, key: Sql, context: CompileContext, depth: number): Sql {
  const ways = context.param('url') === undefined ? [byId] : [byId, byUrl];
  return refersBy(ways, link, key, context, depth);
}

/**
 * Some source refers to the resource with this key by its type and id.
 *
 * @param also what the row of the reference has to fulfil besides
 */
export function refersById(link: Has, key: Sql, context: CompileContext, depth: number, also?: (row: Sql) => Sql): Sql {
  return refersBy([byId], link, key, context, depth, also);
}

/** References of a parameter that name the resource with this key by its type and id. */
function byId(param: number, key: Sql, context: CompileContext, depth: number): Sql {
  const [row, x] = [raw(`l${depth}`), raw(`x${depth}`)];
  return sql`FROM resource ${x} NOT INDEXED CROSS JOIN reference ${row} INDEXED BY reference_by_target
    WHERE ${x}.key = ${key} AND ${row}.target_id = ${x}.id AND ${row}.target_id <> '' AND ${row}.param = ${param}
    AND ${row}.target_type = ${context.type} AND ${row}.base = 0`;
}

/** The same by a URL of it, where its type has any. */
function byUrl(param: number, key: Sql, context: CompileContext, depth: number): Sql {
  const [row, u] = [raw(`l${depth}`), raw(`u${depth}`)];
  return sql`FROM uri ${u} INDEXED BY sqlite_autoindex_uri_1 CROSS JOIN reference ${row} INDEXED BY reference_by_url
    WHERE ${u}.resource = ${key} AND ${u}.param = ${context.param('url') ?? 0} AND ${row}.url = ${u}.value
    AND ${row}.url <> '' AND ${row}.param = ${param} AND ${row}.target_type IN (0, ${context.type})
    AND ${isVersion(row, key, context.param('version'), context.look, depth)}`;
}

/**
 * Returns the condition that some source refers to the resource with this key by its canonical; otherwise as
 * `refersById`.
 */
export function refersByUrl(
  link: Has,
  key: Sql,
  context: CompileContext,
  depth: number,
  also?: (row: Sql) => Sql,
): Sql {
  return context.param('url') === undefined ? NOTHING : refersBy([byUrl], link, key, context, depth, also);
}

function refersBy(
  ways: readonly (typeof byId)[],
  { has }: Has,
  key: Sql,
  context: CompileContext,
  depth: number,
  also?: (row: Sql) => Sql,
): Sql {
  const source = context.of(has.type);
  const param = source?.param(has.param);
  if (source === undefined || param === undefined) return NOTHING;
  const row = raw(`l${depth}`);
  const more = also === undefined ? sql`` : sql`AND ${also(row)}`;
  const askSource = (of: Sql): Sql => and([source.go(of), source.check(has.where, of, depth + 1)]);
  const found = ways.map((rows) => sql`SELECT ${row}.resource AS key ${rows(param, key, context, depth)} ${more}`);
  if (found.length === 1) return sql`EXISTS (${found[0]!} AND ${askSource(sql`${row}.resource`)})`;
  // What is asked of the source would double with each link if either way asked it.
  const s = raw(`s${depth}`);
  return sql`EXISTS (SELECT 1 FROM (${join(found, ' UNION ALL ')} ${APART}) ${s} WHERE ${askSource(sql`${s}.key`)})`;
}
