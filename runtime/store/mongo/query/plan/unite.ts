import { MaxKey, MinKey, type Document } from 'mongodb';

import { BY_ENTRY } from '../../indexes.js';
import { MAX_MERGED, type Access, type Stretch } from './access.js';
import type { Compiled } from '../compile/compiled.js';
import { prefixRange } from '../compile/text.js';

/** Alternatives of a condition that are looked at one by one. */
const MAX_ALTERNATIVES = 8;

/** The condition that one of several has to be fulfilled. */
export function anyOf(compiled: readonly Compiled[]): Compiled {
  const accesses = unite(compiled);
  const isApart = accesses.length === 0 && compiled.length <= MAX_ALTERNATIVES && compiled.every((each) => each.accesses.length > 0); // prettier-ignore
  return {
    filter: { $or: compiled.map(({ filter }) => filter) },
    accesses,
    ...(isApart && { alternatives: compiled }),
  };
}

/** The ways to what fulfils one of several conditions, as one: where each has one way, and all go by one index. */
function unite(compiled: readonly Compiled[]): Access[] {
  const each = compiled.flatMap(({ accesses }) => accesses.slice(0, 1));
  const [first] = each;
  const isOne = compiled.every(({ accesses }) => accesses.length === 1) && each.every(({ index }) => index === first?.index); // prettier-ignore
  if (first === undefined || !isOne || each.length > MAX_MERGED) return [];
  const { index, hint } = first;
  const stretches = each.flatMap((access) => access.stretches);
  const size = each.reduce((sum, access) => sum + access.size, 0);
  // The server merges the alternatives, each in the order of ids; it does not take them apart further for that.
  const isOrdered = each.every((access) => access.isOrdered && access.size === 1);
  const isAround = index === 'reference' && size === stretches.length;
  const parts = compiled.flatMap(({ filter, accesses: [access] }) => alternativesIn(access?.part ?? filter));
  const part = each.some((access) => access.part !== undefined) ? { part: { $or: parts } } : {};
  return [{ index, hint, stretches, size, isOrdered, ...part, ...(isAround && { around: stretches.map(kindOf) }) }];
}

/** The alternatives of a filter that is nothing but these; any other filter is the only one. */
function alternativesIn(filter: Document): readonly Document[] {
  const { $or: alternatives, ...others } = filter as { $or?: readonly Document[] };
  return alternatives !== undefined && Object.keys(others).length === 0 ? alternatives : [filter];
}

/** All references of a parameter to the same type: for many parameters there are none. */
export function kindOf({ min, max }: Stretch): Stretch | undefined {
  const [, , keyField = ''] = Object.keys(BY_ENTRY.reference);
  const [first, last] = [min[keyField] as unknown, max[keyField] as unknown];
  const slash = typeof first === 'string' ? first.lastIndexOf('/') : -1;
  if (first !== last || slash < 0) return undefined;
  const { gte, lt } = prefixRange(String(first).slice(0, slash + 1));
  return {
    min: { ...min, [keyField]: gte, _id: new MinKey() },
    max: { ...max, [keyField]: lt ?? new MaxKey(), _id: new MinKey() },
  };
}
