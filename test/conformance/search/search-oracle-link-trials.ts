import { expect } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import type { SearchRow, Tables } from '../../../runtime/contract/index.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { matches, type Candidate, type Neighbours } from '../../../runtime/search/query/match.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { IncludeDirective, Store } from '../../../runtime/store/store.js';
import { idsOf, query } from '../../contract/search/behaviour-search-helpers.js';
import { namesOf } from '../../contract/search/behaviour-search-includes.js';
import { createRandom, type Random } from '../../contract/random.js';
import type { Sample } from './search-matrix-data.js';
import { createLinkOracle, linkSamples, writeLinked, type Edge, type LinkOracle, type Linked, type Located } from './search-oracle-links.js'; // prettier-ignore
import { BASE, drawCriterion, isTried, NOW } from './search-oracle-trials.js';
import type { OracleContext } from './search-oracle-rules.js';
import { createSearchOracle, type SearchOracle } from './search-oracle.js';

/** Samples that refer to each other, and all that decides searches of them. */
export interface LinkWorld {
  readonly oracle: SearchOracle;
  readonly context: OracleContext;
  readonly links: LinkOracle;
  readonly rowsOf: (type: string) => readonly SearchRow[];
  readonly located: readonly Located[];
  readonly leaving: ReadonlyMap<Sample, readonly Edge[]>;
  readonly arriving: ReadonlyMap<Sample, readonly Edge[]>;
  /** Fails where a store, `matches` and the oracle do not find the same. @returns how many are found */
  compare(stores: readonly Store[], type: string, sent: readonly [name: string, value: string], finds: (at: Located) => boolean, what: string): Promise<number>; // prettier-ignore
}

/** What random links are about. */
export interface LinkTrials {
  readonly world: LinkWorld;
  /** The samples, referring to each other: what stores have to hold. */
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
  /** Fails where a store, `matches` and the oracle do not find the same by links. @returns how many found something */
  run(stores: readonly Store[], seed: number, count: number): Promise<number>;
  /** A random chain, and the type that it begins at; undefined: not this time. */
  draw(random: Random): { readonly type: string; readonly linked: Linked } | undefined;
  /** The same with what comes with all resources of a type. @returns how many brought something */
  runIncludes(stores: readonly Store[], seed: number, count: number): Promise<number>;
}

export function createLinkTrials(
  tables: Tables,
  unlinked: ReadonlyMap<string, readonly Sample[]>,
  seed: number,
): LinkTrials {
  const resourceTypes = new Set(tables.resourceTypes);
  const searchTables = new Map(tables.search.map((table) => [table.type, table]));
  const context = { resourceTypes, baseUrl: BASE, now: NOW };
  const oracle = createSearchOracle(context);
  const samples = linkSamples(tables, unlinked, oracle, createRandom(seed));
  const rows = new Map<string, readonly SearchRow[]>();
  const rowsOf = (type: string): readonly SearchRow[] => {
    const known = rows.get(type) ?? [...parametersOf(type, searchTables).values()].filter(isTried);
    rows.set(type, known);
    return known;
  };
  const links = createLinkOracle(oracle, samples, rowsOf);
  const definitions = searchDefinitions(tables);
  const all: readonly Located[] = [...samples].flatMap(([type, each]) => each.map((sample) => ({ type, sample })));
  const candidates = new Map(
    [...samples].map(([type, each]) => [type, each.map(({ id, entries }): Candidate => ({ id, lastUpdated: 0, entries }))]), // prettier-ignore
  );
  const neighboursOf = (type: string): Neighbours => ({
    type,
    targets: (target) => candidates.get(target) ?? [],
    sources: (source) => candidates.get(source) ?? [],
    of: neighboursOf,
  });
  const [leaving, arriving] = [new Map<Sample, Edge[]>(), new Map<Sample, Edge[]>()];
  const codes = new Map<string, Edge[]>();
  for (const edge of links.edges) {
    leaving.set(edge.from.sample, [...(leaving.get(edge.from.sample) ?? []), edge]);
    arriving.set(edge.to.sample, [...(arriving.get(edge.to.sample) ?? []), edge]);
    const code = `${edge.from.type}.${edge.row.code}`;
    codes.set(code, [...(codes.get(code) ?? []), edge]);
  }
  // Each parameter has its turn, though some have many references.
  const kinds = [...codes.values()];

  /** A criterion that a sample may fulfil, or one near it. */
  function draw(random: Random, at: Located, depth: number): Linked | undefined {
    const forwards = leaving.get(at.sample) ?? [];
    const backwards = arriving.get(at.sample) ?? [];
    const next = [...(forwards.length > 0 ? [forwards] : []), ...(backwards.length > 0 ? [backwards] : [])];
    if (depth > 0 && next.length > 0 && random.chance(0.6)) {
      const way = random.pick(next);
      return follow(random, random.pick(way), way === forwards, depth);
    }
    for (let tries = 0; tries < 10; tries++) {
      const row = random.pick(rowsOf(at.type));
      const criterion = drawCriterion(random, oracle, row, [at.sample]);
      if (criterion !== undefined) return { is: 'leaf', row, criterion };
    }
    return undefined;
  }

  function follow(random: Random, { from, row, to }: Edge, isForwards: boolean, depth: number): Linked | undefined {
    const inner = draw(random, isForwards ? to : from, depth - 1);
    if (inner === undefined) return undefined;
    if (!isForwards) return { is: 'has', type: from.type, row, inner };
    const meant = random.chance(0.3) ? untyped(row, inner) : undefined;
    if (meant !== undefined) return { is: 'chain', row, targets: meant };
    return { is: 'chain', row, type: to.type, targets: new Map([[to.type, inner]]) };
  }

  /** The same asked of all types that a reference may lead to; undefined: it would be something else for some of them. */
  function untyped(row: SearchRow, inner: Linked): ReadonlyMap<string, Linked> | undefined {
    if (inner.is !== 'leaf' || row.targets === undefined) return undefined;
    const { code, type } = inner.row;
    const found = row.targets.flatMap((target) => {
      const own = parametersOf(target, searchTables).get(code);
      return own === undefined ? [] : [[target, own] as const];
    });
    if (found.some(([, own]) => own.type !== type || !isTried(own) || type === 'reference' || type === 'composite')) return undefined; // prettier-ignore
    return new Map(found.map(([target, own]) => [target, { ...inner, row: own }]));
  }

  const compare: LinkWorld['compare'] = async (stores, type, [name, value], finds, what) => {
    const where = parseCriterion(name, value, {
      rows: definitions.rowsOf(type),
      isResourceType: definitions.isResourceType,
      zone: utc,
      now: NOW,
      own: new OwnBases([BASE]),
      maxAlternatives: 10,
      links: { type, definitions },
    });
    const own = all.filter((each) => each.type === type);
    const said = own.filter(finds).map(({ sample }) => sample.id).sort(); // prettier-ignore
    const matched = candidates.get(type)!.filter((each) => matches(where, each, neighboursOf(type))).map(({ id }) => id).sort(); // prettier-ignore
    expect(matched, `matches, ${what}`).toEqual(said);
    for (const [n, store] of stores.entries()) {
      expect(idsOf(await store.find(query(type, { where }))).sort(), `store ${n}, ${what}`).toEqual(said);
    }
    return said.length;
  };

  /** What comes with all resources of the type that a directive is about. */
  function saidIncluded({ isReverse, source, params, targets }: IncludeDirective, page: string): string[] {
    const [row] = rowsOf(source).filter(({ code }) => code === params[0]);
    const isWanted = (type: string): boolean => targets === undefined || targets.includes(type);
    const names = all
      .filter(({ type }) => type === source)
      .flatMap((from) => {
        const items = oracle.items(row!, from.sample.resource);
        const leading = all.filter((to) => isWanted(to.type) && items.some((item) => links.leads(item, to) && isThere(item))); // prettier-ignore
        if (isReverse) return leading.some(({ type }) => type === page) ? [from] : [];
        return leading;
      });
    return [...new Set(names.filter(({ type }) => type !== page).map(({ type, sample }) => `${type}/${sample.id}/1`))].sort(); // prettier-ignore

    // There is only the first version of each.
    function isThere(item: Parameters<typeof links.leads>[0]): boolean {
      if (item.is !== 'reference' || isReverse || item.url !== undefined) return true;
      return item.version === undefined || item.version === '1';
    }
  }

  return {
    samples,
    world: { oracle, context, links, rowsOf, located: all, leaving, arriving, compare },
    draw(random) {
      const edge = random.pick(random.pick(kinds));
      const linked = follow(random, edge, true, 1 + random.below(3));
      return linked && { type: edge.from.type, linked };
    },
    async run(stores, seed, count) {
      const random = createRandom(seed);
      let fruitful = 0;
      for (let n = 0; n < count;) {
        const edge = random.pick(random.pick(kinds));
        const isForwards = random.chance(0.5);
        const linked = follow(random, edge, isForwards, 1 + random.below(3));
        if (linked === undefined) continue;
        n++;
        const { type } = isForwards ? edge.from : edge.to;
        const sent = writeLinked(linked);
        const what = `seed ${seed}, ${n}: ${type}?${sent.join('=')}`;
        if ((await compare(stores, type, sent, (at) => links.finds(linked, at), what)) > 0) fruitful++;
      }
      return fruitful;
    },
    async runIncludes(stores, seed, count) {
      const random = createRandom(seed);
      let fruitful = 0;
      for (let n = 1; n <= count; n++) {
        const { from, row, to } = random.pick(random.pick(kinds));
        const isReverse = random.chance(0.5);
        const targets = random.chance(0.5) ? { targets: [to.type] } : {};
        const directive = { isReverse, source: from.type, params: [row.code], iterates: false, ...targets };
        const page = isReverse ? to.type : from.type;
        const said = saidIncluded(directive, page);
        const what = `seed ${seed}, ${n}: ${page} with ${JSON.stringify(directive)}`;
        const include = { directives: [directive], most: 10_000, rounds: 0 };
        for (const store of stores) {
          const found = await store.find(query(page, { count: 5000, include }));
          expect([namesOf(found), found.cut], what).toEqual([said, undefined]);
        }
        if (said.length > 0) fruitful++;
      }
      return fruitful;
    },
  };
}
