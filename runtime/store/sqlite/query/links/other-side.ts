import type { Condition, Link } from '../../../../search/query/query.js';
import type { Driver } from '../compile/index-range.js';
import { driven, selectDriven } from '../by-key.js';
import type { Resolved } from '../compile/compile-context.js';
import type { LeafGroup } from '../compile/leaf.js';
import { isLocalReference } from './is-local-reference.js';
import { localReferenceShape, referenceShape } from './reference-shape.js';
import type { Run } from '../run.js';
import type { Shape } from '../compile/shape.js';
import { raw, sql, type Sql, type Value } from '../compile/sql.js';

/** The other side of a link, as it is collected. */
export interface OtherSide {
  /**
   * Adds resources of a type: all that a driver finds and that fulfil a condition besides.
   *
   * @returns whether there are not too many alternatives yet
   */
  add(beyond: Run, driver: Driver, where: Condition): boolean;
  /** What is linked with some of them. */
  resolved(): Resolved;
}

/** @param most alternatives */
export function openOtherSide(run: Run, link: Link, most: number): OtherSide {
  return 'chain' in link ? openTargets(run, link.param, most) : openSources(run, link.has.param, most);
}

/** Canonicals: parameter, URL, version; with no type (0), or that one. */
const BY_URL = referenceShape(['url', 'target_version'], 2);

/** Of a chain: what refers to them. */
function openTargets(run: Run, code: string, most: number): OtherSide {
  const param = run.param(code);
  const byId: Value[][] = [];
  const byUrl: Value[][] = [];
  return {
    add(beyond, driver, where) {
      if (param === undefined) return true;
      const read = openRows(beyond);
      for (const chunk of chunksOf(driven(beyond, driver, where))) {
        for (const id of read.ids(chunk)) byId.push([param, id, beyond.type]);
        for (const [key, url] of read.urls(chunk)) {
          for (const version of ['', ...read.versions(key)]) byUrl.push([param, url, version, 0, beyond.type]);
        }
        if (byId.length + byUrl.length > most) return false;
      }
      return true;
    },
    resolved: () => ({ groups: [...grouped(localReferenceShape(run.own()), byId), ...grouped(BY_URL, byUrl)] }),
  };
}

/** Of a reverse chain: what they refer to. */
function openSources(run: Run, code: string, most: number): OtherSide {
  const found = new Set<number>();
  const read = openRows(run);
  return {
    add(beyond, driver, where) {
      const param = beyond.param(code);
      if (param === undefined) return true;
      const references = openRows(beyond);
      // What few refer to is found by one statement: keys that are not handed over twice take a third less.
      const few = driver.count > CHUNK || read.hasUrls ? undefined : selectDriven(beyond, driver, where);
      if (few !== undefined) {
        for (const key of references.targets(few, param, run.type)) found.add(key);
        return found.size <= most;
      }
      for (const chunk of chunksOf(driven(beyond, driver, where))) {
        const listed = sql`SELECT value AS key FROM json_each(${JSON.stringify(chunk)})`;
        for (const key of references.targets(listed, param, run.type)) found.add(key);
        for (const [type, url, version] of read.hasUrls ? references.canonicals(chunk, param) : []) {
          if (type !== 0 && type !== run.type) continue;
          const named = read.named(url, version, most);
          if (named === undefined) return false;
          for (const key of named) found.add(key);
        }
        if (found.size > most) return false;
      }
      return true;
    },
    resolved: () => ({ keys: [...found] }),
  };
}

function grouped(shape: Shape, alternatives: readonly (readonly Value[])[]): readonly LeafGroup[] {
  return alternatives.length === 0 ? [] : [{ shapes: [shape], places: [0], alternatives, isListed: true }];
}

/** Resources whose rows are read together. */
const CHUNK = 500;

function* chunksOf(keys: readonly number[]): Generator<readonly number[]> {
  for (let at = 0; at < keys.length; at += CHUNK) yield keys.slice(at, at + CHUNK);
}

/** Reads rows of resources of a type, each counted. Those of many come by one statement: a list as JSON is read the fastest. */
function openRows(run: Run) {
  const { statements, interrupt, trace, param, own } = run;
  const [url, version] = [param('url'), param('version')];
  function counted<T>(rows: readonly T[]): readonly T[] {
    interrupt.step();
    trace?.read(rows.length);
    return rows;
  }
  const column = <T = string>(text: string, ...values: readonly Value[]): readonly T[] =>
    counted(statements.prepareColumn<T>(text).all(...values));
  const table = <T extends readonly unknown[]>(text: string, ...values: readonly Value[]): readonly T[] =>
    counted(statements.prepareTable<T>(text).all(...values));
  const IDS = 'SELECT r.id FROM json_each(?) k CROSS JOIN resource r NOT INDEXED WHERE r.key = k.value';
  const URLS = `SELECT u.resource, u.value FROM json_each(?) k CROSS JOIN uri u INDEXED BY sqlite_autoindex_uri_1
    WHERE u.resource = k.value AND u.param = ?`;
  const VERSIONS = `SELECT code FROM token INDEXED BY sqlite_autoindex_token_1
    WHERE resource = ? AND param = ? AND code <> ''`;
  const CANONICALS = `SELECT r.target_type, r.url, r.target_version
    FROM json_each(?) k CROSS JOIN reference r INDEXED BY sqlite_autoindex_reference_1
    WHERE r.resource = k.value AND r.param = ? AND r.url <> ''`;
  const versions = (key: number): readonly string[] => (version === undefined ? [] : column(VERSIONS, key, version));
  return {
    ids: (keys: readonly number[]) => column(IDS, JSON.stringify(keys)),
    urls: (keys: readonly number[]) =>
      url === undefined ? [] : table<readonly [key: number, url: string]>(URLS, JSON.stringify(keys), url),
    versions,
    /** Keys of resources of a type that references name by type and id of what a statement finds. */
    targets: (keys: Sql, of: number, type: number): readonly number[] =>
      counted(
        run.column(sql`SELECT x.key FROM (${keys}) k CROSS JOIN reference r INDEXED BY sqlite_autoindex_reference_1
          CROSS JOIN resource x INDEXED BY resource_by_id
          WHERE r.resource = k.key AND r.param = ${of} AND ${isLocalReference(raw('r'), own())} AND r.target_type = ${type}
          AND x.type = r.target_type AND x.id = r.target_id AND x.deleted = 0`),
      ),
    canonicals: (keys: readonly number[], of: number) =>
      table<readonly [type: number, url: string, version: string]>(CANONICALS, JSON.stringify(keys), of),
    /** Whether canonicals may name any. */
    hasUrls: url !== undefined,
    /** Keys of what has this URL, and this version if there is one; undefined: too many have the URL. */
    named(value: string, wanted: string, limit: number): readonly number[] | undefined {
      if (url === undefined) return [];
      const named = 'SELECT resource FROM uri INDEXED BY uri_by_value WHERE param = ? AND value = ? LIMIT ?';
      const keys = column<number>(named, url, value, limit + 1);
      if (keys.length > limit) return undefined;
      return wanted === '' ? keys : keys.filter((key) => versions(key).includes(wanted));
    },
  };
}
