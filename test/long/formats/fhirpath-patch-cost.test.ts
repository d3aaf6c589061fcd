import { describe, expect, test } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { JsonObject, Resource } from '../../../runtime/fhir/resource.js';
import { createPatchModel } from '../../../runtime/patch/fhirpath/fhirpath-model.js';
import { applyFhirPathPatch } from '../../../runtime/patch/fhirpath/fhirpath-patch.js';
import { atMost } from '../../at-most.js';
import { patchOf } from '../../conformance/patch/fhirpath-patch.js';
import type { Step } from '../../conformance/patch/fhirpath-patch-cases.js';

const model = createPatchModel(tables);
/** Seconds of processor time: some tenths, and what a busy machine adds. */
const MOST = 4;

const GIVEN = 'Patient.contact[0].name.given';
const long = (length: number): JsonObject => ({ given: Array.from({ length }, () => 'x') });
const twins = (length: number): JsonObject => ({
  ...long(length),
  _given: Array.from({ length }, () => ({ id: 'i' })),
});
const patient = (name: JsonObject): Resource => ({ resourceType: 'Patient', contact: [{ name }] });

/** Processor time of a patch whose operations are all alike, and what becomes of it. */
async function run(resource: Resource, step: Step, count: number) {
  const before = process.cpuUsage();
  const outcome = await applyFhirPathPatch(resource, patchOf(...Array.from({ length: count }, () => step)), model).then(
    () => 'done',
    (error: unknown) => (error as { readonly code?: string }).code,
  );
  return { outcome, seconds: process.cpuUsage(before).user / 1e6 };
}

const MOVE: Step = { type: 'move', path: GIVEN, source: 0, destination: 9 };
const INSERT: Step = { type: 'insert', path: GIVEN, index: 0, value: { valueString: 'x' } };
const ADD: Step = { type: 'add', path: 'Patient.contact[0].name', name: 'given', value: { valueString: 'x' } };
const DELETE: Step = { type: 'delete', path: `${GIVEN}[0]` };
const REPLACE: Step = { type: 'replace', path: `${GIVEN}[0]`, value: { valueString: 'y' } };
const ID: Step = { type: 'add', path: `${GIVEN}[0]`, name: 'extension', value: { valueString: 'y' } };
const STEPS: readonly Step[] = [MOVE, INSERT, ADD, DELETE, REPLACE];

describe('What a FHIRPath Patch may cost', () => {
  test.each(STEPS)('a very long list, again and again: %j', async (step) => {
    for (const name of [long(300_000), twins(100_000)]) {
      const { outcome, seconds } = await run(patient(name), step, 1000);
      expect(outcome).toBe('patch-too-large');
      expect(seconds).toBeLessThan(atMost(MOST));
    }
  });

  test('a short list in a very long one', async () => {
    const contact = Array.from({ length: 300_000 }, () => ({ name: long(10) }));
    const { outcome, seconds } = await run({ resourceType: 'Patient', contact }, MOVE, 1000);
    expect(outcome).toBe('patch-too-large');
    expect(seconds).toBeLessThan(atMost(MOST));
  });

  test('extensions of a primitive in a very long list', async () => {
    const extension = {
      part: [
        { name: 'url', valueUri: 'http://example.org/x' },
        { name: 'value', valueString: 'v' },
      ],
    };
    const { outcome, seconds } = await run(patient(long(100_000)), { ...ID, value: extension }, 1000);
    expect(outcome).toBe('patch-too-large');
    expect(seconds).toBeLessThan(atMost(MOST));
  });

  test.each(STEPS)('a list of some thousands, 1,000 times: %j', async (step) => {
    expect(await run(patient(long(5000)), step, 1000)).toMatchObject({ outcome: 'done' });
  });

  test('a value of very many parts of one name', async () => {
    const part = Array.from({ length: 100_000 }, () => ({ name: 'given', valueString: 'x' }));
    const step: Step = { type: 'add', path: 'Patient', name: 'name', value: { part } };
    const { outcome, seconds } = await run({ resourceType: 'Patient' }, step, 1);
    expect(outcome).toBe('done');
    expect(seconds).toBeLessThan(atMost(MOST));
  });

  test('a very long list, by a call and by a position', async () => {
    const first: Step = { type: 'delete', path: `${GIVEN}.first()` };
    expect(await run(patient(long(300_000)), first, 1)).toMatchObject({ outcome: 'done' });
    expect(await run(patient(long(300_000)), DELETE, 1)).toMatchObject({ outcome: 'done' });
  });

  test('operations', async () => {
    const step: Step = { type: 'delete', path: 'Patient.active' };
    expect(await run({ resourceType: 'Patient' }, step, 1000)).toMatchObject({ outcome: 'done' });
    expect(await run({ resourceType: 'Patient' }, step, 1001)).toMatchObject({ outcome: 'patch-too-large' });
  });
});
