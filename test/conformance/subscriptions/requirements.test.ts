import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { REQUIREMENTS } from './requirements.js';

const read = (file: string): string => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8');

it.each(REQUIREMENTS.map((each) => [`${each.source}: ${each.says}`, each] as const))(
  '%s',
  (_, { tests = [], reason }) => {
    // A requirement without a test has a reason, and no other has one.
    expect(tests.length === 0).toBe(reason !== undefined);
    for (const [file, title] of tests) expect(read(file), file).toContain(title);
  },
);
