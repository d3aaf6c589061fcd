import { expect } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { createExtractor, type Extractor } from '../../../runtime/indexing/extract.js';
import { createParameterContext } from '../../../runtime/indexing/parameters/parameter-context.js';
import { readParameterSet, withParameters } from '../../../runtime/indexing/parameters/parameter-set.js';
import { UNINDEXED } from '../../../runtime/indexing/unindexed.js';
import { parameter } from '../../service/stored-parameters/stored-parameters-subject.js';

/** What parameters of tests are read against. */
export const context = createParameterContext(tables);

/** An extractor with these parameters beside those of the tables; all of them are right. */
export function withStored(...more: readonly Readonly<Record<string, unknown>>[]): Extractor {
  const { parameters, refused } = readParameterSet(more, context);
  expect(refused).toEqual([]);
  return createExtractor({ ...tables, search: withParameters(tables.search, parameters) });
}

/** Those of parameters of tests. */
export const stored = (entries: readonly IndexEntry[]) => entries.filter(({ param }) => param.startsWith('x-'));

/** Codes of the parameters that failed. */
export const failed = (entries: readonly IndexEntry[]) =>
  entries.flatMap((entry) => (entry.kind === 'token' && entry.param === UNINDEXED ? [entry.code] : []));

/** What a token parameter with an expression finds a resource by. */
export function codesOf(expression: string, resource: Readonly<Record<string, unknown>>): (string | undefined)[] {
  const entries = withStored(parameter('x-a', { expression }))(resource);
  expect(failed(entries)).toEqual([]);
  return stored(entries).flatMap((entry) => (entry.kind === 'token' ? [entry.code] : []));
}

/** What is wrong with a parameter by itself, with the element; undefined: nothing. */
export function faultOf(more: Readonly<Record<string, unknown>>): string | undefined {
  const [refused] = readParameterSet([parameter('x-a', more)], context).refused;
  return refused && `${refused.fault.path.join('.')} ${refused.fault.text}`;
}
