import { BSON, type Document } from 'mongodb';

import { FhirError } from '../../../fhir/errors.js';
import { printCondition } from '../../../search/query/print.js';
import type { Condition } from '../../../search/query/query.js';
import type { Access } from './access.js';
import { NONE, type Compiled } from './compiled.js';
import { compileLeaf } from './leaf.js';

/** A condition that has to be fulfilled beside others. */
export interface Conjunct extends Compiled {
  /** As `printCondition` has it. */
  readonly name: string;
}

/** One way into a query. */
export interface Way {
  readonly access: Access;
  readonly conjunct: Conjunct;
}

/** Greatest size of the filters of a query in bytes: a command holds 16 MB. */
const MAX_FILTERS = 12 * 1024 * 1024;

/**
 * The conditions that all have to be fulfilled.
 *
 * @throws FhirError for what is too large to be asked
 */
export function compile(type: string, where: Condition): Conjunct[] {
  const conjuncts = flatten(where).map((condition) => ({
    ...compileCondition(type, condition),
    name: printCondition(condition),
  }));
  if (BSON.calculateObjectSize(conjuncts.map(({ filter }) => filter)) > MAX_FILTERS) {
    throw new FhirError('parameter-invalid', 'The search has too many values to be done at once');
  }
  return conjuncts;
}

function flatten(where: Condition): Condition[] {
  return 'all' in where ? where.all.flatMap(flatten) : [where];
}

function compileCondition(type: string, condition: Condition): Compiled {
  if ('all' in condition) return { filter: everyOf(condition.all.map(filterOf)), accesses: [] };
  if ('some' in condition) {
    const [only] = condition.some;
    if (only !== undefined && condition.some.length === 1) return compileCondition(type, only);
    return { filter: someOf(condition.some.map(filterOf)), accesses: [] };
  }
  if ('not' in condition) return { filter: { $nor: [filterOf(condition.not)] }, accesses: [] };
  return compileLeaf(type, condition);

  function filterOf(each: Condition): Document {
    return compileCondition(type, each).filter;
  }
}

/** All of these; of none: everything. */
export function everyOf(filters: readonly Document[]): Document {
  const [only = {}] = filters;
  return filters.length < 2 ? only : { $and: [...filters] };
}

function someOf(filters: readonly Document[]): Document {
  return filters.length === 0 ? NONE : { $or: [...filters] };
}

/** All ways into a query. */
export function waysInto(conjuncts: readonly Conjunct[]): Way[] {
  return conjuncts.flatMap((conjunct) => conjunct.accesses.map((access) => ({ access, conjunct })));
}
