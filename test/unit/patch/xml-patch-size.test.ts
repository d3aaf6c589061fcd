import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { FhirError } from '../../../runtime/fhir/errors.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { createPatchers } from '../../../runtime/patch/apply/patchers.js';
import { processorTime } from '../../processor-time.js';

const patchers = createPatchers(tables);
const GIVEN = 'f:Patient/f:contact/f:name/f:given';
const patient = (count: number): Resource => ({
  resourceType: 'Patient',
  contact: [{ name: { given: Array.from({ length: count }, () => 'x') } }],
});
const narrative = (count: number): Resource => ({
  resourceType: 'Patient',
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${'<b/>'.repeat(count)}</div>` },
  active: true,
});

/** The result of an XML Patch, and the processor time that it took, in seconds. */
async function run(resource: Resource, operations: string) {
  const text = `<diff xmlns:f="http://hl7.org/fhir">${operations}</diff>`;
  const took = processorTime();
  const outcome = await patchers.xml!(resource, { format: 'xml', text }, DEFAULT_LIMITS).catch((e: unknown) => e);
  return { outcome, seconds: took() / 1000 };
}

describe('What XML Patch takes', () => {
  it.each([
    ['a list', patient(300_000)],
    ['a narrative', narrative(300_000)],
  ])('not a resource with very many elements: %s', async (_, resource) => {
    const { outcome, seconds } = await run(resource, '<remove sel="f:Patient/f:active"/>');
    expect(outcome).toMatchObject({ code: 'patch-too-large', status: 413 });
    expect((outcome as FhirError).message).toMatch(/more than 50000 elements.*FHIRPath Patch.*application\/json-patch/);
    expect(seconds).toBeLessThan(1);
  });

  it('a resource with many elements, or with a long text', async () => {
    const replaced = await run(patient(40_000), `<replace sel="${GIVEN}[5]/@value">y</replace>`);
    const contact = [{ name: { given: Array.from({ length: 40_000 }, (__, i) => (i === 4 ? 'y' : 'x')) } }];
    expect(replaced.outcome).toEqual({ resourceType: 'Patient', contact });
    const binary = { resourceType: 'Binary', contentType: 'a/b', data: 'A'.repeat(4_000_000) };
    const { outcome } = await run(binary, '<replace sel="f:Binary/f:contentType/@value">c/d</replace>');
    expect(outcome).toEqual({ ...binary, contentType: 'c/d' });
  });

  it('not a patch with very many tags', async () => {
    const { outcome, seconds } = await run(patient(1), `<add sel="f:Patient">${'<x/>'.repeat(300_000)}</add>`);
    expect(outcome).toMatchObject({ code: 'patch-too-large', message: 'An XML Patch has at most 50000 tags' });
    expect(seconds).toBeLessThan(1);
  });

  it('not selectors that look at many elements again and again', async () => {
    const { outcome, seconds } = await run(patient(40_000), `<remove sel="${GIVEN}[5]"/>`.repeat(1000));
    expect(outcome).toMatchObject({ code: 'patch-too-large', status: 413 });
    expect(seconds).toBeLessThan(3);
  });
});
