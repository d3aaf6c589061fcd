import { expect } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import type { Tables } from '../../../runtime/contract/index.js';
import { resolveCriteria, type HierarchySource } from '../../../runtime/search-execution/execute/resolve-criteria.js';
import { extractContained } from '../../../runtime/indexing/contained.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { Put, Store } from '../../../runtime/store/store.js';
import { idsOf, query } from '../../contract/search/behaviour-search-helpers.js';
import { createRandom, type Random } from '../../contract/random.js';
import { put } from '../../contract/subject.js';
import type { Sample } from './search-matrix-data.js';
import type { LinkTrials } from './search-oracle-link-trials.js';
import { writeLinked, type Linked } from './search-oracle-links.js';
import { BASE, NOW } from './search-oracle-trials.js';

type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Values of these are other references in copies. */
const REFERRING = new Set(['reference', 'composite']);

/** What goes by the place of a resource, which one that is contained has not. */
const BY_PLACE = new Set(['_id', '_lastUpdated']);

/**
 * Writes samples that refer to each other, some of which have a copy of what they refer to within them and refer to that: chains find
 * the same then as where nothing is contained, which the oracle knows.
 *
 * @param isWithin whether a reference leads to a copy
 * @returns how many references do
 */
export async function writeMoved(tables: Tables, samples: Samples, store: Store, seed: number): Promise<number> {
  const extract = createExtractor(tables, { own: new OwnBases([BASE]) });
  const random = createRandom(seed);
  let moved = 0;
  const changes = [...samples].flatMap(([type, all]) =>
    all.map((sample): Put => {
      const { resource, count } = moveInto(sample, samples, random);
      moved += count;
      const { contained } = extractContained(resource, extract, Infinity);
      return { ...put(sample.id, 0, 'x', extract(resource) as never, type), contained };
    }),
  );
  for (let at = 0; at < changes.length; at += 50) await store.write(changes.slice(at, at + 50));
  return moved;
}

/** A sample with copies within it of some of the samples that it refers to. */
export function moveInto({ resource }: Sample, samples: Samples, random: Random) {
  const { contained: _none, ...rest } = resource;
  const contained: object[] = [];
  const text = JSON.stringify(rest).replace(
    /"reference":"([A-Z]\w+)\/([\w.-]+)"/g,
    (whole, type: string, id: string) => {
      const target = samples.get(type)?.find((each) => each.id === id);
      if (target === undefined || random.chance(0.5)) return whole;
      const { contained: _inner, ...copy } = target.resource;
      contained.push({ ...copy, id: `c${contained.length}` });
      return `"reference":"#c${contained.length - 1}"`;
    },
  );
  const moved = JSON.parse(text) as Sample['resource'];
  return { resource: contained.length === 0 ? moved : { ...moved, contained }, count: contained.length };
}

/** Fails where a store that `writeMoved` wrote does not find by random chains what the oracle finds. @returns how many found something */
export async function runMoved(
  tables: Tables,
  { world, draw }: Pick<LinkTrials, 'world' | 'draw'>,
  stores: readonly Store[],
  seed: number,
  count: number,
): Promise<number> {
  const random = createRandom(seed);
  const definitions = searchDefinitions(tables);
  let fruitful = 0;
  for (let n = 0; n < count;) {
    const drawn = draw(random);
    if (drawn === undefined || !isAlike(drawn.linked)) continue;
    n++;
    const { linked, type } = drawn;
    const [name, value] = writeLinked(linked);
    const said = world.located.filter((at) => at.type === type && world.links.finds(linked, at)).map(({ sample }) => sample.id).sort(); // prettier-ignore
    const links = { type, definitions };
    const context = { rows: definitions.rowsOf(type), isResourceType: definitions.isResourceType, zone: utc, now: NOW, own: new OwnBases([BASE]) }; // prettier-ignore
    const criterion = parseCriterion(name, value, { ...context, maxAlternatives: 10, links });
    const where = await resolveCriteria([criterion], { tables } as unknown as HierarchySource);
    for (const [i, store] of stores.entries()) {
      const found = idsOf(await store.find(query(type, { where, count: 5000 }))).sort();
      expect(found, `store ${i}, seed ${seed}, ${n}: ${type}?${name}=${value}`).toEqual(said);
    }
    if (said.length > 0) fruitful++;
  }
  return fruitful;
}

/** Whether copies fulfil it as what they are copies of. */
function isAlike(linked: Linked): boolean {
  if (linked.is === 'has') return false;
  if (linked.is === 'leaf') return !BY_PLACE.has(linked.row.code) && !REFERRING.has(linked.row.type);
  return [...linked.targets.values()].every(isAlike);
}
