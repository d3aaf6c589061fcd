import type { Database } from 'better-sqlite3';

import { compareText } from '../../../../search/query/compare-text.js';
import type { ReferenceEntry } from '../../../../search/entry.js';
import { runSteps, type CanonicalTarget, type IncludeStep, type VersionKey } from '../../../include-steps.js';
import { collectIncludes, type Included } from '../../../includes.js';
import type { PageQuery, ResourceKey, StoredVersion } from '../../../store.js';
import { MAX_PAGE } from '../../read/history.js';
import { openReader } from '../../read/read.js';
import type { ContentReader, Contents } from '../contents.js';
import { openNamed } from './named.js';
import type { ReadPage } from '../page.js';
import { beginRun, type FindParts, type Trace } from '../run.js';
import { openReferring } from './referring.js';
import { simplify } from '../compile/simplify.js';
import { findHits } from '../strategy.js';

/** What comes with a page; nothing where nothing is asked for. Inside its transaction. */
export type Includer = (
  query: Pick<PageQuery, 'include' | 'base'>,
  page: Pick<ReadPage, 'versions' | 'size'>,
  trace?: Trace,
) => Included | Record<string, never>;

/** Beside a page that is large itself there is room for so much still, in characters. */
const LEAST_ROOM = 4 * 1024 * 1024;

interface ReferenceRow {
  readonly param: string;
  readonly type: string | null;
  readonly id: string;
  readonly base: string | null;
  readonly version: string;
  readonly url: string;
  readonly fragment: string;
}

/** Prepares the statements. */
export function openIncluded(db: Database, parts: FindParts, contents: ContentReader): Includer {
  const { dictionary, interrupt } = parts;
  const reader = openReader(db, dictionary);
  const named = openNamed(db, parts);
  const referring = openReferring(db, parts);
  const selectKey = db
    .prepare<[number, string], number>('SELECT key FROM resource WHERE type = ? AND id = ? AND deleted = 0')
    .pluck();
  const selectId = db.prepare<[number], string>('SELECT id FROM resource WHERE key = ?').pluck();
  const selectReferences = db.prepare<[number], ReferenceRow>(
    `SELECT p.code AS param, t.text AS type, r.target_id AS id, b.text AS base, r.target_version AS version, r.url, r.fragment
     FROM reference r INDEXED BY sqlite_autoindex_reference_1 CROSS JOIN param p ON p.id = r.param
     LEFT JOIN term t ON t.id = r.target_type LEFT JOIN term b ON b.id = r.base
     WHERE r.resource = ? AND p.part = 0 ORDER BY r.n`,
  );

  function keyOf({ type, id }: ResourceKey): number | undefined {
    const number = dictionary.findTerm(type);
    return number === undefined ? undefined : selectKey.get(number, id);
  }

  function references(of: ResourceKey): readonly ReferenceEntry[] {
    const key = keyOf(of);
    const rows = key === undefined ? [] : selectReferences.all(key);
    interrupt.step();
    return rows.map(({ param, type, id, base, version, url, fragment }) => ({
      kind: 'reference',
      param,
      ...(type !== null && { type }),
      ...(id !== '' && { id }),
      ...(base !== null && { base }),
      ...(version !== '' && { version }),
      ...(url !== '' && { url }),
      ...(fragment !== '' && { fragment }),
    }));
  }

  /** In the order of types and ids. */
  function canonicals(of: readonly CanonicalTarget[], limit: number): readonly ResourceKey[] {
    const found = new Map<string, ResourceKey>();
    for (const target of of) for (const key of named(target, limit)) found.set(`${key.type}/${key.id}`, key);
    return [...found.values()].sort((a, b) => compareText(a.type, b.type) || compareText(a.id, b.id)).slice(0, limit);
  }

  function within(
    { type, where, of }: Extract<IncludeStep, { ask: 'within' }>,
    base: string | undefined,
    trace: Trace | undefined,
  ): readonly string[] {
    const all = { all: [{ ids: of }, where] };
    const asked = { type, where: all, sort: [], count: of.length, total: 'none' } as const;
    const run = beginRun(parts, { ...asked, ...(base !== undefined && { base }) }, trace);
    if (run === undefined) return [];
    return findHits(run, simplify(all), undefined, of.length).hits.map(({ key, id }) => id ?? selectId.get(key)!);
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

  function answer(step: IncludeStep, base: string | undefined, trace: Trace | undefined): readonly unknown[] {
    switch (step.ask) {
      case 'references': {
        const found = step.of.map(references);
        trace?.read(found.reduce((sum, each) => sum + 1 + each.length, 0));
        return found;
      }
      case 'canonicals': {
        const found = canonicals(step.of, step.limit);
        trace?.read(found.length + step.of.length);
        return found;
      }
      case 'sources': {
        const found = referring(step, base);
        trace?.read(2 * found.length + step.of.length);
        return found;
      }
      case 'within':
        return within(step, base, trace);
      case 'read': {
        const found = readWhile(step.of, step.room);
        trace?.read(2 * found.length);
        return found;
      }
    }
  }

  return ({ include, base }, { versions, size }, trace) => {
    if (include === undefined) return {};
    const room = Math.max(MAX_PAGE - size, LEAST_ROOM);
    return runSteps(collectIncludes(include, versions, room, base), (step) => answer(step, base, trace));
  };
}

function toVersion({ type, id }: ResourceKey, [version, updated, json]: Contents): StoredVersion | undefined {
  if (version === null) return undefined;
  return { type, id, version, lastUpdated: updated, ...(json !== null && { json }) };
}
