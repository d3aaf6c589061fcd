import type { Database } from 'better-sqlite3';

import { EVERYTHING, type Chain } from '../../../../search/query/query.js';
import { compareText } from '../../../../search/query/compare-text.js';
import type { ReferenceEntry } from '../../../../indexing/entry.js';
import { runSteps, type CanonicalTarget, type IncludeStep, type VersionKey } from '../../../include-steps.js';
import { collectIncludes, type Included } from '../../../includes.js';
import type { Path } from '../../../plan/cursor.js';
import type { PageQuery, ResourceKey, StoredVersion } from '../../../store.js';
import { MAX_PAGE } from '../../read/history.js';
import { openReader } from '../../read/read.js';
import { listKeys, type ContentReader, type Contents } from '../contents.js';
import { openNamed } from './named.js';
import type { ReadPage } from '../page.js';
import { beginRun, type FindParts, type Trace } from '../run.js';
import { selectDriven } from '../by-key.js';
import { findDriver } from '../compile/driver.js';
import { simplify } from '../compile/simplify.js';
import { sql } from '../compile/sql.js';
import { findHits } from '../search.js';

/** Collects the includes of a page, inside its transaction; nothing where no includes are asked for. */
export type Includer = (
  query: Pick<PageQuery, 'include'>,
  page: Pick<ReadPage, 'versions' | 'size'>,
  trace?: Trace,
) => Included | Record<string, never>;

/** Beside a page that is large itself there is room for so much still, in characters. */
const LEAST_ROOM = 4 * 1024 * 1024;

/** The one way from ids to what leads to them. */
const BY_IDS: Path = [[[0], [0]]];

type ReferenceRow = readonly [
  ofType: number,
  of: string,
  param: number,
  type: string | null,
  id: string,
  base: string | null,
  version: string,
  url: string,
  fragment: string,
];

/** Prepares the statements. */
export function openIncluded(db: Database, parts: FindParts, contents: ContentReader): Includer {
  const { dictionary, interrupt } = parts;
  const reader = openReader(db, dictionary);
  const named = openNamed(db, parts);
  const selectId = db.prepare<[number], string>('SELECT id FROM resource WHERE key = ?').pluck();
  // All come by one statement: to run two for each resource takes twice as long.
  const selectReferences = db
    .prepare<[string, string], ReferenceRow>(
      `SELECT k.value, k.key, r.param, t.text, r.target_id, b.text, r.target_version, r.url, r.fragment
       FROM json_each(?) k CROSS JOIN resource x INDEXED BY resource_by_id
       CROSS JOIN reference r INDEXED BY sqlite_autoindex_reference_1
       LEFT JOIN term t ON t.id = r.target_type LEFT JOIN term b ON b.id = r.base
       WHERE x.type = k.value AND x.id = k.key AND x.deleted = 0 AND r.resource = x.key
       AND r.param IN (SELECT value FROM json_each(?)) ORDER BY r.resource, r.n`,
    )
    .raw();

  const byIds = db
    .prepare<[string, number, number, number], string>(
      `SELECT DISTINCT r.id FROM json_each(?) k CROSS JOIN reference f INDEXED BY reference_by_target
       CROSS JOIN resource r NOT INDEXED ON r.key = f.resource
       WHERE f.target_id = k.value AND f.target_id <> '' AND f.param = ? AND f.target_type = ? AND f.base = 0
       AND ${interrupt.sql('f.resource')} LIMIT ?`,
    )
    .pluck();

  function references(of: readonly ResourceKey[], params: readonly string[]): readonly (readonly ReferenceEntry[])[] {
    const codes = new Map<number, string>();
    for (const name of new Set(of.map(({ type }) => type))) {
      const type = dictionary.findTerm(name);
      for (const code of type === undefined ? [] : params) {
        const param = dictionary.findParam(type!, code, 0);
        if (param !== undefined) codes.set(param, code);
      }
    }
    const found = new Map<string, ReferenceEntry[]>();
    for (const row of selectReferences.iterate(listKeys(dictionary, of), JSON.stringify([...codes.keys()]))) {
      interrupt.step();
      const name = `${row[0]}/${row[1]}`;
      const entry = toEntry(codes.get(row[2])!, row);
      const others = found.get(name);
      if (others === undefined) found.set(name, [entry]);
      else others.push(entry);
    }
    return of.map(({ type, id }) => found.get(`${dictionary.findTerm(type)}/${id}`) ?? []);
  }

  /** In the order of types and ids. */
  function canonicals(of: readonly CanonicalTarget[], limit: number): readonly ResourceKey[] {
    const found = new Map<string, ResourceKey>();
    for (const target of of) for (const key of named(target, limit)) found.set(`${key.type}/${key.id}`, key);
    return [...found.values()].sort((a, b) => compareText(a.type, b.type) || compareText(a.id, b.id)).slice(0, limit);
  }

  function within(
    { type, where, of }: Extract<IncludeStep, { ask: 'within' }>,
    trace: Trace | undefined,
  ): readonly string[] {
    const all = { all: [{ ids: of }, where] };
    const run = beginRun(parts, { type, where: all, sort: [], count: of.length, total: 'none' }, trace);
    if (run === undefined) return [];
    return findHits(run, simplify(all), undefined, of.length).hits.map(({ key }) => selectId.get(key)!);
  }

  /** What refers to resources of a type that have URLs, by the id or by a URL: as many as are wanted. */
  function leading(type: string, link: Chain, limit: number, trace: Trace | undefined): readonly string[] {
    const run = beginRun(parts, { type, where: EVERYTHING, sort: [], count: limit, total: 'none' }, trace)!;
    const driver = findDriver(run, link, { limit: 0, path: BY_IDS })!;
    return run.column(sql`SELECT DISTINCT r.id FROM (${selectDriven(run, driver, EVERYTHING)}) k
      CROSS JOIN resource r NOT INDEXED ON r.key = k.key LIMIT ${limit}`);
  }

  function sources(
    { type, params, of, limit }: Extract<IncludeStep, { ask: 'sources' }>,
    trace: Trace | undefined,
  ): readonly ResourceKey[] {
    const source = dictionary.findTerm(type);
    const found = new Set<string>();
    for (const name of new Set(of.map((each) => each.type))) {
      const target = dictionary.findTerm(name);
      if (source === undefined || target === undefined) continue;
      const ids = of.flatMap((each) => (each.type === name ? [each.id] : []));
      for (const code of params) {
        interrupt.step();
        const param = dictionary.findParam(source, code, 0);
        if (param === undefined) continue;
        const some =
          dictionary.findParam(target, 'url', 0) === undefined
            ? byIds.all(JSON.stringify(ids), param, target, limit)
            : leading(type, { param: code, chain: [{ type: name, where: { ids } }] }, limit, trace);
        for (const id of some) found.add(id);
      }
    }
    return [...found]
      .sort(compareText)
      .slice(0, limit)
      .map((id) => ({ type, id }));
  }

  /** Current versions by one statement, as far as the next one that is named itself. */
  function* read(of: readonly VersionKey[]): Generator<StoredVersion | undefined> {
    for (let at = 0; at < of.length;) {
      const { type, id, version } = of[at]!;
      if (version === undefined) {
        const named = of.findIndex((key, i) => i > at && key.version !== undefined);
        const current = of.slice(at, named < 0 ? of.length : named);
        for (const row of contents.byIds(current)) yield toVersion(of[at++]!, row);
      } else {
        at++;
        yield reader.version(type, id, version);
      }
    }
  }

  /** Up to the one with which they are larger together than there is room. */
  function readWhile(of: readonly VersionKey[], room: number): readonly (StoredVersion | undefined)[] {
    const found: (StoredVersion | undefined)[] = [];
    let left = room;
    for (const stored of read(of)) {
      interrupt.step();
      found.push(stored);
      left -= stored?.json?.length ?? 0;
      if (left < 0) break;
    }
    return found;
  }

  function answer(step: IncludeStep, trace: Trace | undefined): readonly unknown[] {
    switch (step.ask) {
      case 'references': {
        const found = references(step.of, step.params);
        trace?.read(found.reduce((sum, each) => sum + 1 + each.length, 0));
        return found;
      }
      case 'canonicals': {
        const found = canonicals(step.of, step.limit);
        trace?.read(found.length + step.of.length);
        return found;
      }
      case 'sources': {
        const found = sources(step, trace);
        trace?.read(2 * found.length + step.of.length);
        return found;
      }
      case 'within':
        return within(step, trace);
      case 'read': {
        const found = readWhile(step.of, step.room);
        trace?.read(2 * found.length);
        return found;
      }
    }
  }

  return ({ include }, { versions, size }, trace) => {
    if (include === undefined) return {};
    const room = Math.max(MAX_PAGE - size, LEAST_ROOM);
    return runSteps(collectIncludes(include, versions, room), (step) => answer(step, trace));
  };
}

function toEntry(param: string, [, , , type, id, base, version, url, fragment]: ReferenceRow): ReferenceEntry {
  return {
    kind: 'reference',
    param,
    ...(type !== null && { type }),
    ...(id !== '' && { id }),
    ...(base !== null && { base }),
    ...(version !== '' && { version }),
    ...(url !== '' && { url }),
    ...(fragment !== '' && { fragment }),
  };
}

function toVersion({ type, id }: ResourceKey, [version, updated, json, amended]: Contents): StoredVersion | undefined {
  if (version === null) return undefined;
  const stored = { type, id, version, lastUpdated: updated };
  return { ...stored, ...(json !== null && { json }), ...(amended !== null && { amended }) };
}
