import type { SearchRow } from '../../contract/search.js';
import type { Criterion, LinkCriterion } from '../query/query.js';
import { FhirError } from '../../fhir/errors.js';
import type { LinkContext } from './criterion-context.js';
import type { ChainStep, Filter, HasStep, LinkName } from './link-step.js';
import { splitName } from './parse-plain.js';
import { isMembership, isInline, isSearchable, refersTo } from '../../indexing/parameter-kinds.js';
import { whyNoChain, whyNoHas, whyNone, whyNoTarget } from './why-no-link.js';
import { quote } from '../../fhir/quote.js';
import { attempt } from '../../fhir/attempt.js';
import { sum } from '../../fhir/lists.js';

/** Meaning of a name with links, or of the rest of it, for one type. Equal parts are one object. */
export type ResolvedName = FoundRow | FoundChain | FoundHas;

/** The parameter at the end. */
export interface FoundRow {
  readonly is: 'row';
  readonly type: string;
  readonly row: SearchRow;
}

/** A reference, and what the rest means for each type that it may lead to. */
export interface FoundChain {
  readonly is: 'chain';
  readonly param: string;
  /** What each of the targets has to fulfil, too. */
  readonly filter?: Filter;
  readonly targets: readonly { readonly type: string; readonly found: ResolvedName }[];
}

/** A reference of another type, and what the rest means for that. */
export interface FoundHas {
  readonly is: 'has';
  readonly type: string;
  readonly param: string;
  readonly found: ResolvedName;
}

/** The name means nothing for a type. */
interface Miss {
  readonly is: 'miss';
  /** How many steps went well. */
  readonly at: number;
  /** Made where it is reported: most misses are those of types that are left out. */
  readonly why: () => FhirError;
}

/** Looks a part of a name up for a type. */
type Resolver = (type: string, at: number) => ResolvedName | Miss;

type Definitions = LinkContext['definitions'];

/** Ways through one name, by the types that it leads over: a reference to any type has some 150. Stores compile each. */
export const MAX_WAYS = 256;

/**
 * Finds out what a name with links means: the parameters that it goes by and the types that it leads to. Types that lack
 * what comes next are left out, if there are others.
 *
 * @param name the whole name, for messages
 * @throws FhirError `parameter-unknown`, `modifier-unknown`, `parameter-invalid`: which part is wrong, and what would be right
 */
export function resolveLinks(parts: LinkName, name: string, { type, definitions }: LinkContext): ResolvedName {
  const found = createResolver(parts, definitions)(type, 0);
  if (found.is === 'miss') throw found.why();
  if (countWays(found) > MAX_WAYS) throw tooManyWays(name, found);
  return found;
}

/** Each type is looked at once for each place in the name, however many ways lead there. */
function createResolver({ steps, last }: LinkName, definitions: Definitions): Resolver {
  const known = [...steps, last].map(() => new Map<string, ResolvedName | Miss>());
  const { code: lastCode } = splitName(last);
  const resolve: Resolver = (type, at) => {
    const here = known[at]!;
    let found = here.get(type);
    if (found === undefined) here.set(type, (found = look(type, at)));
    return found;
  };
  const look: Resolver = (type, at) => {
    const step = steps[at];
    if (step?.by === 'has') return has(type, step, at);
    if (step?.by === 'chain') return chain(type, step, at);
    const row = definitions.rowsOf(type).get(lastCode);
    if (row !== undefined && (isSearchable(row) || isMembership(row.code))) return { is: 'row', type, row };
    return { is: 'miss', at, why: () => whyNone(type, lastCode, definitions) };
  };
  const chain = (type: string, step: ChainStep, at: number): ResolvedName | Miss => {
    const row = definitions.rowsOf(type).get(step.code);
    const types = row !== undefined && isSearchable(row) ? targetsOf(row, step, definitions) : [];
    if (row === undefined || types.length === 0)
      return { is: 'miss', at, why: () => whyNoChain(type, step, definitions) };
    const targets: { readonly type: string; readonly found: ResolvedName }[] = [];
    let furthest: Miss | undefined;
    for (const target of types) {
      const found = resolve(target, at + 1);
      if (found.is !== 'miss') targets.push({ type: target, found });
      else if (furthest === undefined || found.at > furthest.at) furthest = found;
    }
    if (targets.length > 0)
      return { is: 'chain', param: row.code, targets, ...(step.filter && { filter: step.filter }) };
    if (furthest !== undefined && (types.length === 1 || furthest.at > at + 1)) return furthest;
    const next = steps[at + 1] ?? lastCode;
    return { is: 'miss', at: at + 1, why: () => whyNoTarget(`${type}.${step.code}`, types, next, definitions) };
  };
  const has = (type: string, step: HasStep, at: number): ResolvedName | Miss => {
    const row = definitions.resourceTypes.includes(step.type)
      ? definitions.rowsOf(step.type).get(step.code)
      : undefined;
    if (row === undefined || !isSearchable(row) || !refersTo(row, type)) {
      return { is: 'miss', at, why: () => whyNoHas(type, step, definitions) };
    }
    const found = resolve(step.type, at + 1);
    return found.is === 'miss' ? found : { is: 'has', type: step.type, param: row.code, found };
  };
  return resolve;
}

/** Types that a step may lead to; none: it cannot be. */
function targetsOf(row: SearchRow, step: ChainStep, { resourceTypes }: Definitions): readonly string[] {
  if (row.type !== 'reference' || isInline(row)) return [];
  const all = row.targets === undefined ? resourceTypes : knownOf(row, row.targets, resourceTypes);
  return step.type === undefined ? all : all.filter((each) => each === step.type);
}

const known = new WeakMap<readonly string[], Map<SearchRow, readonly string[]>>();

/** Those of its targets that there are: definitions may be of a few types only, and share rows with others. */
function knownOf(row: SearchRow, targets: readonly string[], resourceTypes: readonly string[]): readonly string[] {
  const rows = known.get(resourceTypes) ?? new Map<SearchRow, readonly string[]>();
  known.set(resourceTypes, rows);
  let found = rows.get(row);
  if (found === undefined) rows.set(row, (found = targets.filter((each) => resourceTypes.includes(each))));
  return found;
}

/** How many ways there are through a name, each from the type that is searched to one at the end; all bounds may be passed. */
export function countWays(found: ResolvedName): number {
  const known = new Map<ResolvedName, number>();
  const count = (each: ResolvedName): number => {
    const ways = known.get(each) ?? (each.is === 'row' ? 1 : sum(nextOf(each).map(count)));
    known.set(each, ways);
    return ways;
  };
  return count(found);
}

function nextOf(link: FoundChain | FoundHas): readonly ResolvedName[] {
  return link.is === 'has' ? [link.found] : link.targets.map(({ found }) => found);
}

function tooManyWays(name: string, found: ResolvedName): FhirError {
  const { param = '', targets = [] } = untypedOf(found) ?? {};
  const example = `${param}:${targets[0]?.type ?? ''}`;
  const text = `The parameter ${quote(name)} leads over more than ${MAX_WAYS} combinations of types; say which are meant, as in ${quote(example)}`;
  return new FhirError('parameter-invalid', text);
}

/** The first reference that leads to several types. */
function untypedOf(found: ResolvedName): FoundChain | undefined {
  if (found.is === 'row') return undefined;
  if (found.is === 'chain' && found.targets.length > 1) return found;
  return nextOf(found).map(untypedOf)[0];
}

/** Reads what is at the end of links, for one type. Both throw a FhirError where that type does not take it. */
export interface EndReaders<C extends Criterion> {
  row(found: FoundRow): C;
  /** Where links have filters: what is asked of a type, and what the filter asks besides. */
  within?(where: C, filter: Filter, type: string): C;
}

/**
 * Puts links around what is read at their ends, each part once, however many ways lead to it. Types that do not take it are
 * left out, if there are others.
 *
 * @throws FhirError what the first type says where none takes it
 */
export function readFound<C extends Criterion>(found: ResolvedName, readers: EndReaders<C>): C {
  const read = createReader(readers)(found);
  if (read instanceof FhirError) throw read;
  return read;
}

function createReader<C extends Criterion>(readers: EndReaders<C>) {
  const known = new Map<ResolvedName, C | FhirError>();
  const read = (found: ResolvedName): C | FhirError => {
    const made = known.get(found) ?? make(found);
    known.set(found, made);
    return made;
  };
  const make = (found: ResolvedName): C | FhirError => {
    switch (found.is) {
      case 'row':
        return attempt(() => readers.row(found));
      case 'has': {
        const where = read(found.found);
        return where instanceof FhirError ? where : link<C>({ has: { type: found.type, param: found.param, where } });
      }
      case 'chain': {
        const all = found.targets.map(({ type, found: next }) => ({ type, where: within(read(next), found, type) }));
        const chain = all.flatMap(({ type, where }) => (where instanceof FhirError ? [] : [{ type, where }]));
        if (chain.length > 0) return link<C>({ param: found.param, chain });
        return all.map(({ where }) => where).find((where) => where instanceof FhirError)!;
      }
    }
  };
  const within = (where: C | FhirError, { filter }: FoundChain, type: string): C | FhirError =>
    where instanceof FhirError || filter === undefined ? where : attempt(() => readers.within!(where, filter, type));
  return read;
}

/** What leads to conditions is one. */
function link<C extends Criterion>(criterion: LinkCriterion): C {
  return criterion as Criterion as C;
}
