import { BSON, type Document } from 'mongodb';

import { FhirError } from '../../../../fhir/errors.js';
import { anyOf, everyOf, inexact, type Compiled } from './compiled.js';
import { compileLeaf } from './leaf.js';
import { hasManyPlaces } from './many-types.js';
import { mergeTests } from '../plan/merge.js';
import { overlaps } from '../plan/overlap.js';
import { conjunctsOf, hasLinks, isLink, printPlan, relax, type Plan } from '../plan/plan.js';
import { compileRows } from './rows.js';

export { everyOf } from './compiled.js';

/** A condition that has to be fulfilled beside others. */
export interface Conjunct extends Compiled {
  /** As `printCondition` has it; made when it is asked for, as it can be long. */
  readonly name: () => string;
  /** The others imply it: it is a way to them, and need not be asked. */
  readonly isImplied?: boolean;
  /** More fulfils it than is asked for: where links lead is left out. */
  readonly isRelaxed?: boolean;
}

/** Deletions have no entries, but ids and times. */
export const LIVING: Document = { deleted: { $exists: false } };

/** Greatest size of the filters of a query in bytes: a command holds 16 MB. */
const MAX_FILTERS = 12 * 1024 * 1024;

/**
 * The conditions that all have to be fulfilled.
 *
 * @param where what links lead to is left out
 * @throws FhirError for what is too large to be asked
 */
export function compile(type: string, where: Plan): Conjunct[] {
  const conditions = conjunctsOf(where);
  const isWide = hasManyPlaces(where);
  const overlapping = overlaps(type, conditions);
  const overlapped = new Set(overlapping.flatMap(({ of }) => of));
  const single = conditions.map((condition, place) => {
    // Where links lead is asked when it is known what is there.
    const isRelaxed = hasLinks(condition);
    const own = isRelaxed ? relax(condition) : condition;
    const compiled = isAnything(own) ? { filter: EVERYTHING, ways: [] } : compileCondition(type, own, isWide);
    const name = () => printPlan(condition);
    // What several ask for together is less than what each does, or little more.
    const conjunct = { ...compiled, name, ...(isRelaxed && { isRelaxed }) };
    // What has any reference is most of all.
    return overlapped.has(place) || isLink(condition) ? { ...conjunct, ways: [] } : conjunct;
  });
  const together = overlapping.map(({ filter, access, of }) => {
    const name = () => printPlan({ all: of.flatMap((place) => conditions[place] ?? []) });
    return { filter, ways: [access], name, isImplied: true };
  });
  const conjuncts = [...single, ...together];
  if (BSON.calculateObjectSize(conjuncts.map(({ filter }) => filter)) > MAX_FILTERS) {
    throw new FhirError('parameter-invalid', 'The search has too many values to be done at once');
  }
  return conjuncts;
}

/** The filter that everything fulfils. */
const EVERYTHING: Document = {};

function isAnything(plan: Plan): boolean {
  return 'all' in plan && plan.all.length === 0;
}

function compileCondition(type: string, condition: Plan, isWide: boolean): Compiled {
  const compiled = (one: Plan): Compiled => compileCondition(type, one, isWide);
  if ('all' in condition) {
    const all = condition.all.map(compiled);
    return { filter: everyOf(all.map(({ filter }) => filter)), ways: all.flatMap(({ ways }) => inexact(ways)) };
  }
  if ('some' in condition) return anyOf(condition.some.map(compiled));
  if ('not' in condition) return { filter: { $nor: [compiled(condition.not).filter] }, ways: [] };
  if ('rows' in condition) return compileRows(type, mergeTests(condition.rows));
  if (isLink(condition)) throw new Error('a link is compiled when it is known what it leads to');
  return compileLeaf(type, condition, isWide);
}

/**
 * A filter that no index is chosen for: where several of one kind could use the index that is hinted, the server would take either.
 */
export function asRest(filter: Document): Document {
  return { $nor: [{ $nor: [filter] }] };
}

/** Returns the filters that candidates are asked for. @param but the condition that found them, which need not be asked */
export function restOf(conjuncts: readonly Conjunct[], but?: Conjunct): Document[] {
  const asked = conjuncts.filter((each) => each !== but && each.isImplied !== true && each.filter !== EVERYTHING);
  return asked.map(({ filter }) => asRest(filter));
}

/** Returns the filters of `restOf` as text, each with what its links lead to. */
export function namesOfRest(conjuncts: readonly Conjunct[], but?: Conjunct): string[] {
  const asked = conjuncts.filter((each) => each.isRelaxed === true || (each !== but && each.isImplied !== true && each.filter !== EVERYTHING)); // prettier-ignore
  return asked.map(({ name }) => name());
}
