import { expect, it } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { tables } from '../../../generated/tables.js';
import type { SearchInput } from '../../../runtime/search-execution/parse/search-context.js';
import { readSearchRequest } from '../../../runtime/search-execution/parse/search-request.js';
import { processorTime } from '../../processor-time.js';

const input = (names: readonly string[]): SearchInput => ({
  type: 'Observation',
  params: names.map((name) => ({ name, value: '1', isInUrl: false })),
  isLenient: true,
  isPosted: true,
  now: 0,
});

const services = { ...DEFAULT_SERVICES, tables };

it('what is ignored counts among the criteria, before anything is made of it', () => {
  const names = Array.from({ length: 990 }, (_, i) => `focus.focus.focus.focus.focus.focus.focus.zzz${i}`);
  expect(() => readSearchRequest(input(names), services)).toThrow(/200 criteria/);
});

it('names of many links that mean nothing are told quickly', () => {
  const names = Array.from({ length: 150 }, (_, i) => `focus.focus.focus.focus.focus.focus.focus.zzz${i}`);
  readSearchRequest(input(names.slice(0, 1)), services);
  const took = processorTime();
  const { notes } = readSearchRequest(input(names), services);
  const spent = took();
  expect(notes).toHaveLength(50);
  // Up to 514 was seen beside other programs: the process has to collect what other files left, too.
  expect(spent).toBeLessThan(2000);
});

it('an empty modifier is none', () => {
  const strict = { ...input(['subject:']), isLenient: false };
  expect(() => readSearchRequest(strict, services)).toThrow(/not :/);
});
