import { OwnBases } from '../../../runtime/path/own-bases.js';
import type { Tables } from '../../../runtime/contract/index.js';
import { extractContained, type Contained } from '../../../runtime/indexing/contained.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import type { Store } from '../../../runtime/store/store.js';
import { put } from '../../contract/subject.js';
import { exampleFiles, readExample } from '../formats/examples.js';
import { createFilledResources } from '../extraction/filled-resource.js';
import { BOUNDED } from './search-oracle-places.js';

/** A resource that searches are tried on. */
export interface Sample {
  readonly id: string;
  readonly resource: Record<string, unknown>;
  readonly entries: readonly IndexEntry[];
  readonly contained?: readonly Contained[];
  /** Made for the test, because no example has what it has. */
  readonly isFilled: boolean;
}

/** Examples of a type that are looked at. */
const ENOUGH = 80;

/**
 * Resources by type. Official examples: all, or so many that each parameter that examples have entries for has some of
 * two; and made-up ones for the parameters that no example exercises. The whole has some made-up ones of each type.
 */
export function readSamples(tables: Tables, isWhole = false): ReadonlyMap<string, readonly Sample[]> {
  const extract = createExtractor(tables, { own: new OwnBases(['http://here/fhir']) });
  const samples = new Map<string, Sample[]>();
  const covered = new Map<string, number>();
  const add = (resource: Record<string, unknown>, isFilled: boolean, least: number): void => {
    const type = String(resource['resourceType']);
    const id = String(resource['id']);
    const ofType = samples.get(type) ?? [];
    if (ofType.some((other) => other.id === id)) return;
    const entries = extract(resource);
    const values = entries.filter(({ kind }) => kind !== 'words');
    const names = [...new Set(values.map(({ param }) => `${type}.${param}`))];
    const isNew = names.some((name) => (covered.get(name) ?? 0) < least);
    if (!isNew && (isFilled || (!isWhole && ofType.length >= 3))) return;
    for (const name of names) covered.set(name, (covered.get(name) ?? 0) + 1);
    const { contained } = extractContained(resource, extract, Infinity);
    samples.set(type, [...ofType, { id, resource, entries, contained, isFilled }]);
  };
  for (const resource of BOUNDED) add(resource, true, Infinity);
  const read = new Map<string, number>();
  for (const file of exampleFiles()) {
    // Of some types there are hundreds, which are much alike.
    const type = file.slice(0, file.indexOf('-'));
    read.set(type, (read.get(type) ?? 0) + 1);
    if (isWhole || read.get(type)! <= ENOUGH) add(readExample(file).resource, false, 2);
  }
  const fill = createFilledResources(tables);
  for (const type of tables.resourceTypes)
    for (let variant = 0; variant < 60; variant++)
      add(fill(type, variant), true, isWhole && variant % 10 === 0 ? Infinity : 1);
  return samples;
}

/** The same samples, but without what they contain. */
export function withoutContained(
  samples: ReadonlyMap<string, readonly Sample[]>,
  tables: Tables,
): ReadonlyMap<string, readonly Sample[]> {
  const extract = createExtractor(tables, { own: new OwnBases(['http://here/fhir']) });
  const bare = ({ resource: { contained: _none, ...resource }, id, isFilled }: Sample): Sample => {
    return { id, resource, entries: extract(resource), isFilled };
  };
  return new Map([...samples].map(([type, each]) => [type, each.map(bare)]));
}

/** Puts them into a store; their content is not asked for. */
export async function writeSamples(store: Store, samples: ReadonlyMap<string, readonly Sample[]>): Promise<void> {
  const changes = [...samples].flatMap(([type, each]) =>
    each.map(({ id, entries, contained }) => ({ ...put(id, 0, 'x', entries, type), ...(contained && { contained }) })),
  );
  // Few at a time: some are large, and a transaction of MongoDB has to fit into its cache and its time.
  for (let at = 0; at < changes.length; at += 20) await store.write(changes.slice(at, at + 20));
}
