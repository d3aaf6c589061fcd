import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';

import { LONGEST } from '../../longest-first.js';

it('the files that begin first are there: a name that is stale would make another file the last', () => {
  const isThere = (name: string): boolean => existsSync(new URL(`../../${name}.test.ts`, import.meta.url));
  expect(LONGEST.filter((name) => !isThere(name))).toEqual([]);
  expect(new Set(LONGEST).size).toBe(LONGEST.length);
});
