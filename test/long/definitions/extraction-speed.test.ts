import { expect, it } from 'vitest';
import { tables } from '../../../generated/tables.js';
import { atMost } from '../../at-most.js';
import { benchExtraction } from '../../bench/extraction.js';

// Single-threaded, half official and half Synthea-like Patients, best of several rounds of each way in turns
// (../bench/extraction.ts). A loaded machine gets more rounds before the goal counts as missed.
it('reads index entries off at least 60,000 Patients a second, 5 times as fast as the FHIRPath library', () => {
  let rates = benchExtraction(tables);
  for (let again = 0; again < 3 && (rates.kiln < 80_000 || rates.ratio < 5); again++) rates = benchExtraction(tables);
  console.log(
    `${Math.round(rates.kiln)} Patients/s, library ${Math.round(rates.library)}/s (${rates.ratio.toFixed(1)} times), ` +
      `${rates.entries.toFixed(1)} entries each`,
  );
  expect(rates.kiln).toBeGreaterThanOrEqual(60_000 / atMost(1));
  // Mostly 6.7 times; how V8 compiles the walk differs from process to process, and makes it 5.9 in some.
  expect(rates.ratio).toBeGreaterThanOrEqual(5);
}, 120_000);
