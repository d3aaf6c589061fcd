import type { Order as OrderAsked } from '../../plan/choose.js';
import { choosePlan } from '../../plan/choose.js';
import {
  partsOf,
  type ArmPlace,
  type Path,
  type CursorPlace,
  type Placed,
  type SourceName,
} from '../../plan/cursor.js';
import type { PlanUsed } from '../../plan/explain.js';
import { FhirError } from '../../../fhir/errors.js';
import { compareText } from '../../../search/query/compare-text.js';
import type { Order } from './compile/order.js';
import { driverAgain, onlyDriver, RELAXED, typeDriver } from './drivers.js';
import type { Hits, HitWalk } from './hit.js';
import { resolve } from './links/resolve.js';
import { linkAgain, sourcesOf, type AnyDriver } from './links/link-driver.js';
import { throughLink } from './links/through.js';
import { askedFor, conjunctsOf, hasLinks, type Plan } from './plan/plan.js';
import { openScope, type Scope } from './scope.js';
import { allOf, KEYS, pageOf, sortedThrough, throughArms, throughType, type Reading } from './walks.js';

/** Resources that were found for a page. */
export interface FoundPage extends Hits {
  /** Whether what was to be read of them is in their bytes; else they are read by their keys. */
  readonly isRead: boolean;
  /** All that match, from the beginning, where that came to light. */
  readonly total?: number | undefined;
  /** The source that has the order of the hits. */
  readonly source: SourceName;
  readonly plan: PlanUsed<AnyDriver>;
}

/** A search: what is looked for, in which order, and what is read of it. */
export interface Search {
  readonly scope: Scope;
  /** Absent: as whatever drives the search gives them. */
  readonly order: Order | undefined;
  readonly reading: Reading;
  /** Whether rows are counted even where there is no choice. */
  readonly isExplained?: boolean;
}

/** A page as a request of the planner finds it, and what drove it, where that was not what was asked for. */
type Page = Omit<FoundPage, 'plan'> & { readonly from?: 'type' };

/**
 * Finds a page: what each request of the planner asks.
 *
 * @param place absent: the first page. A later one goes on in what the first came from; in an order that was asked for, it may come
 * from anything that has this order
 */
export async function findHits(
  search: Search,
  place: CursorPlace<string> | undefined,
  wanted: number,
): Promise<FoundPage> {
  if (place !== undefined && place.source !== 'sort') return goOn(search, place, wanted);
  const plan = choosePlan<AnyDriver, FoundPage>(orderAsked(search), search.scope.limits);
  let counted: number | undefined;
  let step = plan.next();
  while (step.done !== true) {
    const { value: request } = step;
    if (request.ask === 'sources') {
      counted = request.most;
      step = plan.next(await sources(search, counted));
    } else {
      const page = await pageFor(search, place?.after, wanted, request);
      step = plan.next(page && { ...page, plan: { request: page.from === undefined ? request : { ask: 'collect', from: page.from }, counted } }); // prettier-ignore
    }
  }
  return step.value;
}

/** Returns the sources of a search. A single one is not counted: however many rows it has, there are more without it. */
async function sources({ scope, order, isExplained }: Search, most: number): Promise<readonly AnyDriver[]> {
  const only = order === undefined && !scope.isLinked && isExplained !== true ? onlyDriver(scope.conjuncts) : undefined;
  return only === undefined ? sourcesOf(scope, most) : [only];
}

function orderAsked({ order }: Search): OrderAsked {
  if (order === undefined) return 'any';
  return order.by === 'computed' ? 'computed' : 'indexed';
}

async function pageFor(
  search: Search,
  after: Placed<string> | undefined,
  wanted: number,
  request: PlanUsed<AnyDriver>['request'],
): Promise<Page | undefined> {
  if (request.ask === 'collect') return collected(search, request.from, after, wanted);
  const { by, rows } = request;
  if (typeof by === 'object') return driven(search, by, undefined, wanted, rows);
  return inOrder(search, by === 'type' ? undefined : search.order, after, wanted, rows);
}

/** Returns a walk in the order of the ranges of a driver, and the scope whose links are still to be asked. */
function opened(scope: Scope, driver: AnyDriver, reading: Reading): [Scope, HitWalk<ArmPlace>] {
  if (driver.isFar) return [{ ...scope, isLinked: false }, throughLink(driver, reading)];
  return [scope, throughArms(scope, driver, reading)];
}

async function driven(
  { scope, reading }: Search,
  driver: AnyDriver,
  after: ArmPlace | undefined,
  wanted: number,
  rows: number,
): Promise<Page | undefined> {
  if (!driver.isLazy) throw new FhirError('page-invalid');
  const [own, walk] = opened(scope, driver, reading);
  const found = await pageOf(own, walk, after, wanted, rows);
  // Where links are asked, no more is read of candidates at first than these need.
  const isRead = !(driver.isFar ? driver.rest : scope).isLinked;
  return found && { ...found, isRead, source: ['arms', driver.path] };
}

/** Finds a page of all of the type in an order that an index has. @param order absent: that of ids */
async function inOrder(
  { scope, reading }: Search,
  order: Order | undefined,
  after: Placed<string> | undefined,
  wanted: number,
  rows: number,
): Promise<Page | undefined> {
  const walk = throughType(scope, reading, order);
  const found = await pageOf(scope, walk, after, wanted, rows);
  const source = order === undefined ? 'type' : 'sort';
  return found && { ...found, isRead: !scope.isLinked, source };
}

/** Collects all that a driver finds, or all of the type, and finds a page in the order that was asked for, or in that of ids. */
async function collected(
  search: Search,
  from: AnyDriver | 'type',
  after: Placed<string> | undefined,
  wanted: number,
): Promise<Page> {
  const { scope, order, reading } = search;
  if (order === undefined) {
    if (from !== 'type') return byKeys(search, from, undefined, wanted);
    return (await inOrder(search, undefined, undefined, wanted, Infinity))!;
  }
  const { walk, from: used } = await sortedThrough(
    scope,
    from === 'type' || from.isFar ? undefined : from,
    order,
    reading,
  );
  const found = await pageOf(scope, walk, after, wanted, Infinity);
  return { ...found!, isRead: !scope.isLinked, source: 'sort', ...(used === 'type' && { from: used }) };
}

/** Finds a page in the order of ids, for which all that a driver finds is collected. */
async function byKeys({ scope }: Search, driver: AnyDriver, after: string | undefined, wanted: number): Promise<Page> {
  const [own, walk] = opened(scope, driver, KEYS);
  const all = (await allOf(own, walk)) ?? [];
  const hits = all.toSorted((a, b) => compareText(a.key, b.key));
  const left = after === undefined ? hits : hits.filter(({ key }) => compareText(key, after) > 0);
  return {
    hits: left.slice(0, wanted).map(({ key, values, bytes }) => ({ key, values, bytes })),
    isOver: left.length < wanted,
    isRead: false,
    ...(after === undefined && { total: all.length }),
    source: ['keys', driver.path],
  };
}

async function goOn(
  search: Search,
  place: Exclude<CursorPlace<string>, { source: 'sort' }>,
  wanted: number,
): Promise<FoundPage> {
  if (place.source === 'type') {
    const found = await inOrder(search, undefined, place.after, wanted, Infinity);
    return { ...found!, plan: { request: { ask: 'walk', by: 'type', rows: Infinity } } };
  }
  const [scope, driver] = await findAgain(search.scope, place.source[1]);
  const own = { ...search, scope };
  if (!('at' in place)) {
    const found = await byKeys(own, driver, place.after.key, wanted);
    return { ...found, plan: { request: { ask: 'collect', from: driver } } };
  }
  const found = await driven(own, driver, place.at, wanted, Infinity);
  return { ...found!, plan: { request: { ask: 'walk', by: driver, rows: Infinity } } };
}

/** The other side of a link that a page before was found by is collected, however many are there now. */
const MOST = 50_000;

/** A condition as it was for a page before: without where its links lead, or with all that they lead to. Undefined: as it is. */
async function resolvedAgain({ links, type }: Scope, condition: Plan, isRelaxed: boolean): Promise<Plan | undefined> {
  if (isRelaxed) return hasLinks(condition) ? undefined : askedFor(condition);
  return hasLinks(condition) ? resolve(links, type, condition, MOST) : undefined;
}

/** The driver that a page before had. @throws FhirError `page-invalid` */
async function findAgain(scope: Scope, path: Path): Promise<[Scope, AnyDriver]> {
  const [place] = partsOf(path);
  const conditions = conjunctsOf(scope.plan);
  if (path === 'between') return [scope, typeDriver(scope.type, 0)];
  if (typeof place === 'number' && place < 0) {
    const driver = await linkAgain(scope, partsOf(path));
    if (driver !== undefined) return [scope, driver];
  } else if (typeof place === 'number') {
    const condition = conditions[place];
    const resolved = condition && (await resolvedAgain(scope, condition, partsOf(path)[2] === RELAXED));
    const own =
      resolved === undefined ? scope : openScope(scope.links, scope.type, { all: conditions.with(place, resolved) });
    const driver = driverAgain(own.conjuncts, path, scope.type);
    if (driver !== undefined) return [own, driver];
  }
  throw new FhirError('page-invalid');
}
