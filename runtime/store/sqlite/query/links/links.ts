import type { Chain, Has, Link } from '../../../../search/query/query.js';
import { tooCostly } from '../../file/too-costly.js';
import type { CompileContext } from '../compile/compile-context.js';
import { isLocalReference } from './is-local-reference.js';
import { and, or, raw, sql, type Sql } from '../compile/sql.js';

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
  const row = raw(`l${depth}`);
  const leads = chain.flatMap(({ type, where }) => {
    const beyond = context.of(type);
    if (beyond === undefined) return [];
    const target = raw(`x${depth}.key`);
    const asked = and([beyond.go(target), beyond.check(where, target, depth + 1)]);
    return [leadsTo(row, beyond, asked, depth)];
  });
  if (param === undefined || leads.length === 0) return NOTHING;
  return sql`EXISTS (SELECT 1 FROM reference ${row} INDEXED BY sqlite_autoindex_reference_1
    WHERE ${row}.resource = ${key} AND ${row}.param = ${param} AND ${context.go(sql`${row}.resource`)} AND ${or(leads)})`;
}

/** A row of a reference leads to a resource of a type of which something holds; its key is that of `x`. */
function leadsTo(row: Sql, { type, param, look, own }: CompileContext, asked: Sql, depth: number): Sql {
  const byId = sql`${row}.target_type = ${type} AND ${isLocalReference(row, own())}`;
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
function isVersion(row: Sql, key: Sql, param: number | undefined, look: CompileContext['look'], depth: number): Sql {
  if (param === undefined) return sql`${row}.target_version = ''`;
  const v = raw(`v${depth}`);
  return sql`(${row}.target_version = '' OR EXISTS (SELECT 1 FROM token ${v} INDEXED BY sqlite_autoindex_token_1
    WHERE ${v}.resource = ${key} AND ${v}.param = ${param} AND ${look(v, 'resource')} AND ${v}.code = ${row}.target_version))`;
}

function checkHas({ has }: Has, key: Sql, context: CompileContext, depth: number): Sql {
  const source = context.of(has.type);
  const param = source?.param(has.param);
  if (source === undefined || param === undefined) return NOTHING;
  const [row, x, u] = [raw(`l${depth}`), raw(`x${depth}`), raw(`u${depth}`)];
  const asked = (found: Sql): Sql => and([source.go(found), source.check(has.where, found, depth + 1)]);
  const byId = sql`FROM resource ${x} NOT INDEXED CROSS JOIN reference ${row} INDEXED BY reference_by_target
    WHERE ${x}.key = ${key} AND ${row}.target_id = ${x}.id AND ${row}.target_id <> '' AND ${row}.param = ${param}
    AND ${row}.target_type = ${context.type} AND ${isLocalReference(row, context.own())}`;
  const url = context.param('url');
  if (url === undefined) return sql`EXISTS (SELECT 1 ${byId} AND ${asked(sql`${row}.resource`)})`;
  const byUrl = sql`FROM uri ${u} INDEXED BY sqlite_autoindex_uri_1 CROSS JOIN reference ${row} INDEXED BY reference_by_url
    WHERE ${u}.resource = ${key} AND ${u}.param = ${url} AND ${row}.url = ${u}.value AND ${row}.url <> ''
    AND ${row}.param = ${param} AND ${row}.target_type IN (0, ${context.type})
    AND ${isVersion(row, key, context.param('version'), context.look, depth)}`;
  const found = raw(`s${depth}.key`);
  return sql`EXISTS (SELECT 1 FROM (SELECT ${row}.resource AS key ${byId} UNION ALL SELECT ${row}.resource ${byUrl} ${APART})
    ${raw(`s${depth}`)} WHERE ${asked(found)})`;
}
