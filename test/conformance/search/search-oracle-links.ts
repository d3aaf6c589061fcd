import { OwnBases } from '../../../runtime/path/own-bases.js';
import type { SearchRow, Tables } from '../../../runtime/contract/index.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import type { Random } from '../../contract/random.js';
import type { Sample } from './search-matrix-data.js';
import { nameOf, type Criterion } from './search-oracle-criteria.js';
import type { SearchOracle } from './search-oracle.js';
import type { Item, ReferenceItem } from './search-oracle-values.js';

/** Base of the server that is searched. */
const HERE = 'http://here/fhir';

/** A sample and its type. */
export interface Located {
  readonly type: string;
  readonly sample: Sample;
}

/** A reference of a sample by a parameter, and a sample that it leads to. */
export interface Edge {
  readonly from: Located;
  readonly row: SearchRow;
  readonly to: Located;
}

/** A criterion that may lead to other resources. */
export type Linked =
  | { readonly is: 'leaf'; readonly row: SearchRow; readonly criterion: Criterion }
  /** `type` absent: the name says none, and all of the targets are meant. */
  | {
      readonly is: 'chain';
      readonly row: SearchRow;
      readonly type?: string;
      readonly targets: ReadonlyMap<string, Linked>;
    }
  | { readonly is: 'has'; readonly type: string; readonly row: SearchRow; readonly inner: Linked };

/** Name of a parameter as a client writes it, and its value. */
export function writeLinked(linked: Linked): readonly [name: string, value: string] {
  if (linked.is === 'leaf') return [nameOf(linked.row, linked.criterion), linked.criterion.text];
  const [name, value] = writeLinked(linked.is === 'has' ? linked.inner : [...linked.targets.values()][0]!);
  if (linked.is === 'has') return [`_has:${linked.type}:${linked.row.code}:${name}`, value];
  return [`${linked.row.code}${linked.type === undefined ? '' : `:${linked.type}`}.${name}`, value];
}

/** Decides links on the JSON of samples, by looking at all of them. */
export interface LinkOracle {
  /** Whether a reference leads to a sample. */
  leads(item: Item, to: Located): boolean;
  finds(linked: Linked, at: Located): boolean;
  /** All references of parameters that are tried. */
  readonly edges: readonly Edge[];
}

/** @param rowsOf the parameters of a type that are tried */
export function createLinkOracle(
  oracle: SearchOracle,
  samples: ReadonlyMap<string, readonly Sample[]>,
  rowsOf: (type: string) => readonly SearchRow[],
): LinkOracle {
  const all: readonly Located[] = [...samples].flatMap(([type, each]) => each.map((sample) => ({ type, sample })));
  const ofType = (type: string): readonly Located[] => all.filter((each) => each.type === type);
  const names = new Map<Located, ReturnType<typeof namesOf>>();

  function namesOf({ type, sample }: Located) {
    const rows = rowsOf(type).filter(({ code }) => code === 'url' || code === 'version');
    const items = rows.flatMap((row) => oracle.items(row, sample.resource));
    return {
      urls: items.flatMap((item) => (item.is === 'uri' ? [item.text] : [])),
      versions: items.flatMap((item) => (item.is === 'token' ? [item.code] : [])),
    };
  }

  /** A place by type and id, whichever version; a canonical by what the target calls itself. */
  function leads(item: Item, to: Located): boolean {
    if (item.is !== 'reference' || (item.type !== undefined && item.type !== to.type)) return false;
    if (item.url === undefined)
      return item.type === to.type && item.id === to.sample.id && (item.base ?? HERE) === HERE;
    const { urls, versions } = names.get(to) ?? namesOf(to);
    names.set(to, { urls, versions });
    return urls.includes(item.url) && (item.version === undefined || versions.includes(item.version));
  }

  function finds(linked: Linked, { type, sample }: Located): boolean {
    if (linked.is === 'leaf') {
      return oracle.finds(linked.row, linked.criterion.modifier, linked.criterion.text, sample.resource);
    }
    if (linked.is === 'has') {
      return ofType(linked.type).some(
        (source) =>
          oracle.items(linked.row, source.sample.resource).some((item) => leads(item, { type, sample })) &&
          finds(linked.inner, source),
      );
    }
    const items = oracle.items(linked.row, sample.resource);
    return [...linked.targets].some(([target, inner]) =>
      ofType(target).some((to) => items.some((item) => leads(item, to)) && finds(inner, to)),
    );
  }

  const byPlace = new Map(all.map((each) => [`${each.type}/${each.sample.id}`, each]));
  const edges = all.flatMap((from) =>
    rowsOf(from.type)
      .filter(({ type }) => type === 'reference')
      .flatMap((row) => {
        const items = oracle.items(row, from.sample.resource) as readonly ReferenceItem[];
        const near = items.flatMap((item) => {
          if (item.url !== undefined) return all.filter((to) => leads(item, to));
          const to = byPlace.get(`${item.type}/${item.id}`);
          return to !== undefined && leads(item, to) ? [to] : [];
        });
        return [...new Set(near)].filter(({ type }) => refersTo(row, type)).map((to): Edge => ({ from, row, to }));
      }),
  );
  return { leads, finds, edges };
}

/** Whether a parameter may refer to a type. */
function refersTo({ targets }: SearchRow, type: string): boolean {
  return targets === undefined || targets.includes(type);
}

/**
 * The same samples, referring to each other: where a reference leads to none of them, it gets another of that type, and a
 * canonical that of one that may be meant, with its version or without.
 */
export function linkSamples(
  tables: Tables,
  samples: ReadonlyMap<string, readonly Sample[]>,
  oracle: SearchOracle,
  random: Random,
): ReadonlyMap<string, readonly Sample[]> {
  const extract = createExtractor(tables, { own: new OwnBases([HERE]) });
  const searchTables = new Map(tables.search.map((table) => [table.type, table]));
  const named = [...samples].flatMap(([type, each]) => {
    const urls = each.flatMap(({ resource }) => (typeof resource['url'] === 'string' ? [resource] : []));
    return urls.map(({ url, version }) => ({ type, url: String(url), version: typeof version === 'string' ? version : undefined })); // prettier-ignore
  });
  const link = (type: string, sample: Sample): Sample => {
    let text = JSON.stringify(sample.resource);
    text = text.replace(/"reference":"([A-Z]\w+)\/[\w.-]+"/g, (whole, target: string) => {
      const some = samples.get(target) ?? [];
      return some.length === 0 || random.chance(0.2) ? whole : `"reference":"${target}/${random.pick(some).id}"`;
    });
    for (const row of parametersOf(type, searchTables).values()) {
      if (row.type !== 'reference') continue;
      for (const item of oracle.items(row, sample.resource)) {
        if (item.is !== 'reference' || item.url === undefined || item.type !== undefined) continue;
        const meant = named.filter((each) => row.targets?.includes(each.type) === true);
        if (meant.length === 0 || random.chance(0.1)) continue;
        const { url, version } = random.pick(meant);
        const old = item.version === undefined ? item.url : `${item.url}|${item.version}`;
        const wanted = random.chance(0.6) ? version : random.pick([undefined, '0.0.7']);
        text = text.replaceAll(JSON.stringify(old), JSON.stringify(wanted === undefined ? url : `${url}|${wanted}`));
      }
    }
    const resource = JSON.parse(text) as Sample['resource'];
    return { ...sample, resource, entries: extract(resource) };
  };
  return new Map([...samples].map(([type, each]) => [type, each.map((sample) => link(type, sample))]));
}
