import type { Link } from '../../../search/query/query.js';
import type { LeafGroup } from './leaf.js';
import { referenceShape } from './reference-shape.js';
import type { Run } from './run.js';
import { RESOURCE_ID } from './shapes.js';
import type { Shape } from './shape.js';
import type { Value } from './sql.js';

/** The other side of a link, as it is collected. */
export interface OtherSide {
  /** Adds resources of a type. @returns whether there are not too many alternatives yet */
  add(beyond: Run, keys: readonly number[]): boolean;
  /** What a resource has to fulfil to be linked with some of them. */
  groups(): readonly LeafGroup[];
}

/** @param most alternatives */
export function openOtherSide(run: Run, link: Link, most: number): OtherSide {
  return 'chain' in link ? openTargets(run, link.param, most) : openSources(run, link.has.param, most);
}

/** References that name a resource by type and id: parameter, id, base, type. */
const BY_ID = referenceShape(['target_id', 'base'], 1);

/** Canonicals: parameter, URL, version; with no type (0), or that one. */
const BY_URL = referenceShape(['url', 'target_version'], 2);

/** Of a chain: what refers to them. */
function openTargets(run: Run, code: string, most: number): OtherSide {
  const param = run.param(code);
  const byId: Value[][] = [];
  const byUrl: Value[][] = [];
  return {
    add(beyond, keys) {
      if (param === undefined) return true;
      const read = openRows(beyond);
      for (const key of keys) {
        byId.push([param, read.id(key), 0, beyond.type]);
        const urls = read.urls(key);
        const versions = urls.length === 0 ? [] : ['', ...read.versions(key)];
        for (const url of urls) for (const version of versions) byUrl.push([param, url, version, 0, beyond.type]);
        if (byId.length + byUrl.length > most) return false;
      }
      return true;
    },
    groups: () => [...grouped(BY_ID, byId), ...grouped(BY_URL, byUrl)],
  };
}

/** Of a reverse chain: what they refer to. */
function openSources(run: Run, code: string, most: number): OtherSide {
  const ids = new Set<string>();
  const read = openRows(run);
  return {
    add(beyond, keys) {
      const param = beyond.param(code);
      if (param === undefined) return true;
      const references = openRows(beyond);
      for (const key of keys) {
        for (const { type, id, base, url, version } of references.references(key, param)) {
          if (url === '' && id !== '' && base === 0 && type === run.type) ids.add(id);
          if (url === '' || (type !== 0 && type !== run.type)) continue;
          const named = read.named(url, version, most);
          if (named === undefined) return false;
          for (const found of named) ids.add(read.id(found));
        }
        if (ids.size > most) return false;
      }
      return true;
    },
    groups: () =>
      grouped(
        RESOURCE_ID,
        Array.from(ids, (id) => [run.type, id]),
      ),
  };
}

function grouped(shape: Shape, alternatives: readonly (readonly Value[])[]): readonly LeafGroup[] {
  return alternatives.length === 0 ? [] : [{ shapes: [shape], places: [0], alternatives }];
}

interface ReferenceRow {
  readonly type: number;
  readonly id: string;
  readonly base: number;
  readonly url: string;
  readonly version: string;
}

/** Reads rows of resources of a type, each counted. */
function openRows({ statements, guard, trace, param }: Run) {
  const [url, version] = [param('url'), param('version')];
  function counted<T>(rows: readonly T[]): readonly T[] {
    guard.step(rows.length + 1);
    trace?.read(rows.length);
    return rows;
  }
  const column = (text: string, ...values: readonly Value[]): readonly string[] =>
    counted(statements.prepareColumn<string>(text).all(...values));
  const URLS = 'SELECT value FROM uri INDEXED BY sqlite_autoindex_uri_1 WHERE resource = ? AND param = ?';
  const VERSIONS = `SELECT code FROM token INDEXED BY sqlite_autoindex_token_1
    WHERE resource = ? AND param = ? AND code <> ''`;
  const versions = (key: number): readonly string[] => (version === undefined ? [] : column(VERSIONS, key, version));
  return {
    id: (key: number): string => column('SELECT id FROM resource WHERE key = ?', key)[0]!,
    urls: (key: number): readonly string[] => (url === undefined ? [] : column(URLS, key, url)),
    versions,
    references: (key: number, of: number): readonly ReferenceRow[] =>
      counted(
        statements
          .prepare<ReferenceRow>(
            `SELECT target_type AS type, target_id AS id, base, url, target_version AS version
             FROM reference INDEXED BY sqlite_autoindex_reference_1 WHERE resource = ? AND param = ?`,
          )
          .all(key, of),
      ),
    /** Keys of what has this URL, and this version if there is one; undefined: too many have the URL. */
    named(value: string, wanted: string, limit: number): readonly number[] | undefined {
      if (url === undefined) return [];
      const named = 'SELECT resource FROM uri INDEXED BY uri_by_value WHERE param = ? AND value = ? LIMIT ?';
      const keys = counted(statements.prepareColumn<number>(named).all(url, value, limit + 1));
      if (keys.length > limit) return undefined;
      return wanted === '' ? keys : keys.filter((key) => versions(key).includes(wanted));
    },
  };
}
