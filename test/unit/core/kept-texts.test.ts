import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const MB = 1024 * 1024;

/** Bytes that are held after a collection; long texts are outside the heap. */
function held(): number {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A type as a reader finds it: a slice of the text that it stands in. */
function sliceOf(type: string): string {
  const text = Buffer.alloc(32 * MB, ' ');
  text.write(type, 1000);
  return text.toString('latin1').slice(1000, 1000 + type.length);
}

it.each([
  ['validator', createValidator(tables)],
  ['extractor', createExtractor(tables)],
])('the %s kept the whole text in which a type came first', (_name, use) => {
  const types = ['StructureDefinition', 'CapabilityStatement', 'MedicationRequest'];
  const before = held();
  for (const type of types) use({ resourceType: sliceOf(type) });
  // The last of the three may still be in a register or on the stack.
  expect(held() - before).toBeLessThan(40 * MB);
});
