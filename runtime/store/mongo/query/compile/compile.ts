import { BSON, type Document } from 'mongodb';

import { FhirError } from '../../../../fhir/errors.js';
import { idAccess, type Access } from '../plan/access.js';
import { everyOf, NONE, type Compiled } from './compiled.js';
import { compileLeaf } from './leaf.js';
import { hasManyPlaces } from './many-types.js';
import { mergeTests } from '../plan/merge.js';
import { overlaps } from '../plan/overlap.js';
import { isLink, printPlan, type Plan } from '../plan/plan.js';
import { compileRows } from './rows.js';
import { anyOf } from '../plan/unite.js';

export { everyOf } from './compiled.js';

/** A condition that has to be fulfilled beside others. */
export interface Conjunct extends Compiled {
  /** As `printCondition` has it; made when it is asked for, as it can be long. */
  readonly name: () => string;
  /** The others imply it: it is a way to them, and need not be asked where another is taken. */
  readonly isImplied?: boolean;
  /** One that is implied is the way to what fulfils it, and leads to little else. */
  readonly isOverlapped?: boolean;
}

/** One way into a query. */
export interface Way {
  readonly access: Access;
  readonly conjunct: Conjunct;
}

/** Deletions have no entries, but ids and times. */
export const LIVING: Document = { deleted: { $exists: false } };

/** Greatest size of the filters of a query in bytes: a command holds 16 MB. */
const MAX_FILTERS = 12 * 1024 * 1024;

/**
 * The conditions that all have to be fulfilled.
 *
 * @param where without links that are not known yet
 * @throws FhirError for what is too large to be asked
 */
export function compile(type: string, where: Plan): Conjunct[] {
  const conditions = flatten(where);
  const isWide = hasManyPlaces(where);
  const overlapping = overlaps(type, conditions);
  const overlapped = new Set(overlapping.flatMap(({ of }) => of));
  const single = conditions.map((condition, place) => {
    const compiled = compileCondition(type, condition, isWide);
    const name = () => printPlan(condition);
    // What several ask for together is less than what each does, or little more.
    return overlapped.has(place) ? { ...compiled, accesses: [], name, isOverlapped: true } : { ...compiled, name };
  });
  const together = overlapping.map(({ filter, access, of }) => {
    const name = () => printPlan({ all: of.flatMap((place) => conditions[place] ?? []) });
    return { filter, accesses: [access], name, isImplied: true };
  });
  const conjuncts = [...single, ...together];
  if (BSON.calculateObjectSize(conjuncts.map(({ filter }) => filter)) > MAX_FILTERS) {
    throw new FhirError('parameter-invalid', 'The search has too many values to be done at once');
  }
  return conjuncts;
}

function flatten(where: Plan): Plan[] {
  return 'all' in where ? where.all.flatMap(flatten) : [where];
}

function compileCondition(type: string, condition: Plan, isWide: boolean): Compiled {
  if ('all' in condition) return { filter: everyOf(condition.all.map(filterOf)), accesses: [] };
  if ('some' in condition) {
    const [only] = condition.some;
    if (only === undefined) return nothing(type);
    if (condition.some.length === 1) return compileCondition(type, only, isWide);
    return anyOf(condition.some.map((one) => compileCondition(type, one, isWide)));
  }
  if ('not' in condition) return { filter: { $nor: [filterOf(condition.not)] }, accesses: [] };
  if ('rows' in condition) {
    const rows = mergeTests(condition.rows);
    return rows.length === 0 ? nothing(type) : compileRows(type, rows);
  }
  if (isLink(condition)) throw new Error('a link is compiled when it is known what it leads to');
  return compileLeaf(type, condition, isWide);

  function filterOf(each: Plan): Document {
    return compileCondition(type, each, isWide).filter;
  }
}

/** The way to nothing is the shortest. */
function nothing(type: string): Compiled {
  return { filter: NONE, accesses: [idAccess(type, [])] };
}

/**
 * A filter that no index is chosen for: where several of one kind could use the index that is hinted, the server would take either.
 */
export function asRest(filter: Document): Document {
  return { $nor: [{ $nor: [filter] }] };
}

/** What is asked beside a way into a query; absent: beside none. */
export function restOf(conjuncts: readonly Conjunct[], way?: Way): Document[] {
  const isWhole = way !== undefined && way.access.part === undefined;
  const asked = conjuncts.filter((each) => !(isWhole && each === way.conjunct) && each.isImplied !== true);
  return [...asked.map(({ filter }) => asRest(filter)), LIVING];
}

/** All ways into a query. */
export function waysInto(conjuncts: readonly Conjunct[]): Way[] {
  return conjuncts.flatMap((conjunct) => conjunct.accesses.map((access) => ({ access, conjunct })));
}
