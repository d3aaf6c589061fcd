import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { OPERATIONS } from '../../../runtime/operations/registry.js';

it('docs/operations.md lists exactly the operations that are wired', () => {
  const text = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  const part = /<!-- begin wired-operations\b[^]*<!-- end wired-operations -->/.exec(text)?.[0] ?? '';
  const rows = part.split('\n').filter((line) => line.startsWith('| [`$'));
  const listed = new Set(
    rows.flatMap((line) => [...line.split('|')[1]!.matchAll(/\$([a-z-]+(?:\.[a-z-]+)*)/g)].map(([, name]) => name)),
  );
  const wired = new Set(tables.operations.filter(({ id }) => OPERATIONS.has(id)).map(({ name }) => name));
  expect([...listed].sort()).toEqual([...wired].sort());
});
