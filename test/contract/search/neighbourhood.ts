import type { ReferenceEntry } from '../../../runtime/indexing/entry.js';
import { leadsTo, type Candidate, type Neighbours } from '../../../runtime/search/query/match.js';
import type { IncludePlan, ResourceKey } from '../../../runtime/store/store.js';

/** A resource of a store, as tests know it. */
export interface Neighbour extends Candidate {
  readonly type: string;
  readonly version: number;
}

/** All that lives in a store, as tests know it, and the plain way from one to the other. */
export interface Neighbourhood {
  /** By `Type/id`. */
  readonly living: Map<string, Neighbour>;
  /** `Type/id/version` of all that were ever written, deletions left out. */
  readonly versions: Set<string>;
  /** What `matches` asks. */
  readonly neighboursOf: (type: string) => Neighbours;
}

export function createNeighbourhood(): Neighbourhood {
  const living = new Map<string, Neighbour>();
  const ofType = (type: string): Neighbour[] => [...living.values()].filter((each) => each.type === type);
  const neighboursOf = (type: string): Neighbours => ({
    type,
    *targets(target, { url, id }) {
      const one = url === undefined ? living.get(`${target}/${id}`) : undefined;
      if (url !== undefined) yield* ofType(target);
      else if (one !== undefined) yield one;
    },
    sources: (source) => ofType(source),
    of: (other) => neighboursOf(other),
  });
  return { living, versions: new Set(), neighboursOf };
}

/**
 * What comes with a page, found by looking at everything: names as `Type/id/version`, in order, however many; and whether
 * further rounds would bring more.
 */
export function naiveIncludes(
  { living, versions }: Neighbourhood,
  { directives, rounds }: IncludePlan,
  page: readonly (ResourceKey & { readonly version: number })[],
): { readonly names: readonly string[]; readonly isOver: boolean } {
  const nameOf = ({ type, id, version }: Neighbour): string => `${type}/${id}/${version}`;
  const all = [...living.values()];
  const onPage = new Set(page.map(({ type, id, version }) => `${type}/${id}/${version}`));
  const shown = new Set<string>();
  const followed = new Set<Neighbour>();
  let from = page.map(({ type, id }) => living.get(`${type}/${id}`)!);
  for (let round = 0; from.length > 0; round++) {
    for (const each of from) followed.add(each);
    const names = new Set<string>();
    const next = new Set<Neighbour>();
    const reach = (each: Neighbour): void => {
      names.add(nameOf(each));
      next.add(each);
    };
    for (const { isReverse, source, params, targets, iterates } of directives) {
      if (round > 0 && !iterates) continue;
      const isWanted = (type: string | undefined): boolean => targets === undefined || targets.includes(type!);
      const referencesOf = ({ entries }: Neighbour): ReferenceEntry[] =>
        entries.filter((entry): entry is ReferenceEntry => entry.kind === 'reference' && params.includes(entry.param));
      if (isReverse) {
        const pointing = all.filter(
          (each) =>
            each.type === source &&
            referencesOf(each).some((one) => from.some((to) => isWanted(to.type) && leadsTo(one, to.type, to))),
        );
        pointing.forEach(reach);
        continue;
      }
      for (const reference of from.filter(({ type }) => type === source).flatMap(referencesOf)) {
        const { type, id, base, url, version } = reference;
        if (url === undefined && version !== undefined) {
          const name = `${type}/${id}/${version}`;
          if (base === undefined && isWanted(type) && versions.has(name)) names.add(name);
        } else {
          all.filter((each) => isWanted(each.type) && leadsTo(reference, each.type, each)).forEach(reach);
        }
      }
    }
    const fresh = [...names].filter((name) => !onPage.has(name) && !shown.has(name));
    if (round > rounds) return { names: [...shown].sort(), isOver: fresh.length > 0 };
    for (const name of fresh) shown.add(name);
    from = [...next].filter((each) => !followed.has(each));
  }
  return { names: [...shown].sort(), isOver: false };
}
