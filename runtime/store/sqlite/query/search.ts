import { FhirError } from '../../../fhir/errors.js';
import type { Condition } from '../../../search/query/query.js';
import { choosePlan, type Order } from '../../plan/choose.js';
import { conjunctsOf } from '../../plan/conjuncts.js';
import type { PlanUsed } from '../../plan/explain.js';
import type { ArmPlace, Path, CursorPlace, SourceName } from '../../plan/cursor.js';
import { walkArms } from './arms.js';
import { driven, selectDriven, selectOfType, walk } from './by-key.js';
import { findDrivers } from './compile/driver.js';
import { restOf, type Driver } from './compile/index-range.js';
import type { Hit } from './hit.js';
import type { SearchRun } from './run.js';
import { inOrderOf } from './sort-values.js';
import { isSortable, sortedWalk } from './sorted-walk.js';

/** Result of a search for a page. */
export interface FoundPage {
  /** From the place on, as many as were wanted. */
  readonly hits: readonly Hit[];
  /** All that match, from the beginning, where that came to light. */
  readonly total?: number | undefined;
  /** What has the order of the hits. */
  readonly source: SourceName;
  /** What could drive the search, where that was asked. */
  readonly drivers?: readonly Driver[];
}

/**
 * Finds a page: what each request of the planner asks.
 *
 * @param where as `simplify` made it
 * @param place absent: the first page. A later one goes on in what the first came from; in an order that was asked for, it may come
 * from anything that has this order
 */
export function findHits(
  run: SearchRun,
  where: Condition,
  place: CursorPlace<number> | undefined,
  wanted: number,
): FoundPage {
  if (place !== undefined && place.source !== 'sort') return goOn(run, where, place, wanted);
  const plan = choosePlan<Driver, FoundPage>(orderOf(run), run.limits);
  let drivers: readonly Driver[] | undefined;
  let counted: number | undefined;
  let step = plan.next();
  while (step.done !== true) {
    const { value: request } = step;
    if (request.ask === 'sources') {
      counted = request.most;
      drivers = [...findDrivers(run, conjunctsOf(where), { limit: counted })];
      step = plan.next(drivers);
    } else {
      run.trace?.planned(where, { request, counted });
      step = plan.next(page(run, where, place?.after, wanted, request));
    }
  }
  return { ...step.value, ...(drivers && { drivers }) };
}

function orderOf(run: SearchRun): Order {
  if (run.sort.length === 0) return 'any';
  return isSortable(run) ? 'indexed' : 'computed';
}

/** The page that the planner asks for; undefined: too many rows would have to be looked at. */
function page(
  run: SearchRun,
  where: Condition,
  after: Hit | undefined,
  wanted: number,
  request: PlanUsed<Driver>['request'],
): FoundPage | undefined {
  if (request.ask === 'collect') return collected(run, where, request.from, after, wanted);
  const { by, rows } = request;
  const found = (): FoundPage => {
    if (typeof by === 'object') return through(run, where, by, undefined, wanted);
    return by === 'type' ? ofType(run, where, undefined, wanted) : inOrder(run, where, after, wanted);
  };
  return rows === Infinity ? found() : run.interrupt.within({ rows }, found);
}

function goOn(
  run: SearchRun,
  where: Condition,
  place: Exclude<CursorPlace<number>, { source: 'sort' }>,
  wanted: number,
): FoundPage {
  const from = place.source === 'type' ? 'type' : findAgain(run, where, place.source[1]);
  if ('at' in place || from === 'type')
    run.trace?.planned(where, { request: { ask: 'walk', by: from, rows: Infinity } });
  else run.trace?.planned(where, { request: { ask: 'collect', from } });
  if (from === 'type') return ofType(run, where, 'after' in place ? place.after : undefined, wanted);
  return 'at' in place ? through(run, where, from, place.at, wanted) : collected(run, where, from, place.after, wanted);
}

/** The driver that a page before had. @throws FhirError `page-invalid` */
function findAgain(run: SearchRun, where: Condition, path: Path): Driver {
  const [driver] = findDrivers(run, conjunctsOf(where), { limit: 0, path });
  if (driver === undefined) throw new FhirError('page-invalid');
  return driver;
}

/** In the order of the ranges of a driver. */
function through(
  run: SearchRun,
  where: Condition,
  driver: Driver,
  after: ArmPlace | undefined,
  wanted: number,
): FoundPage {
  const hits = driver.isLazy ? walkArms(run, driver, restOf(where, driver), after, wanted) : undefined;
  if (hits === undefined) throw new FhirError('page-invalid');
  return { hits, source: ['arms', driver.path] };
}

/** All of the type, in the order of keys. */
function ofType(run: SearchRun, where: Condition, after: Hit | undefined, wanted: number): FoundPage {
  const keys = firstOf(walk(run, where, after?.key), wanted);
  return { hits: keys.map((key) => ({ key, values: [] })), source: 'type' };
}

function inOrder(run: SearchRun, where: Condition, after: Hit | undefined, wanted: number): FoundPage {
  return { hits: firstOf(sortedWalk(run, where, after), wanted), source: 'sort' };
}

function firstOf<T>(all: Iterable<T>, wanted: number): readonly T[] {
  const first: T[] = [];
  if (wanted === 0) return first;
  for (const each of all) if (first.push(each) === wanted) break;
  return first;
}

/** All that a driver finds, or all of the type, collected, and put in the order that was asked for, or in that of keys. */
function collected(
  run: SearchRun,
  where: Condition,
  from: Driver | 'type',
  after: Hit | undefined,
  wanted: number,
): FoundPage {
  const isOfAll = from === 'type';
  const rest = isOfAll ? where : restOf(where, from);
  if (orderOf(run) === 'any') {
    const all = isOfAll ? [...walk(run, rest, undefined)] : driven(run, from, rest);
    const left = after === undefined ? all : all.filter((key) => key > after.key);
    const hits = left.slice(0, wanted).map((key) => ({ key, values: [] }));
    return { hits, total: all.length, source: isOfAll ? 'type' : ['keys', from.path] };
  }
  const all = isOfAll ? selectOfType(run, rest) : selectDriven(run, from, rest);
  // What is asked for its total alone gets one.
  const { hits, total } = inOrderOf(run, run.sort, all, after, Math.max(wanted, 1));
  return { hits: hits.slice(0, wanted), total, source: 'sort' };
}
