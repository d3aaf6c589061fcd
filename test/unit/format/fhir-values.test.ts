import { describe, expect, it } from 'vitest';

import { equalJson } from '../../../runtime/fhir/equal.js';
import { ERRORS, FhirError } from '../../../runtime/fhir/errors.js';
import { isId, newId, versionNumber } from '../../../runtime/fhir/id.js';
import { parseHttpDate } from '../../../runtime/fhir/instant.js';
import { errorOutcome } from '../../../runtime/fhir/operation-outcome.js';
import { readJson } from '../../../runtime/format/read-json.js';

describe('ids (datatypes.html#id)', () => {
  it.each(['1', 'a', 'A.b-9', 'x'.repeat(64), '...', '-'])('%s is one', (text) => expect(isId(text)).toBe(true));
  it.each(['', 'x'.repeat(65), 'a_b', 'a b', 'ä', 'a\n', '\na', 'a/b', '.', '..'])('%j is none', (text) => {
    expect(isId(text)).toBe(false);
  });

  it('new ones are UUIDv7: version, variant, and the time in front (RFC 9562, 5.7)', () => {
    const id = newId(0x0123456789ab);
    expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(Array.from({ length: 1000 }, () => newId(1))).size).toBe(1000);
    expect(newId(1)).toMatch(/^00000000-0001-7/);
    expect(newId(2 ** 40) > newId(2 ** 40 - 1)).toBe(true);
  });

  it.each([
    ['1', 1],
    ['10', 10],
    ['0', undefined],
    ['01', undefined],
    ['-1', undefined],
    ['1.0', undefined],
    ['1e3', undefined],
    ['', undefined],
    ['9'.repeat(16), undefined],
  ])('version id %j is %s', (text, number) => expect(versionNumber(text)).toBe(number));
});

describe('equal content (decisions.md, Interactions)', () => {
  it.each([
    ['{"a":1,"b":2}', '{"b":2,"a":1}', true],
    ['[1,2]', '[2,1]', false],
    ['[1]', '[1,null]', false],
    ['1.0', '1.0', true],
    ['1.0', '1.00', false],
    ['1.0', '1', false],
    ['1', '"1"', false],
    ['{"a":null}', '{}', false],
    ['{"a":null}', '{"b":null}', false],
    ['{"a":[{"b":[]}]}', '{"a":[{"b":[]}]}', true],
    ['{"a":[]}', '{"a":{}}', false],
    ['{"constructor":1}', '{"x":1}', false],
    ['null', 'null', true],
  ])('%s and %s: %s', (a, b, equal) => {
    expect(equalJson(readJson(a), readJson(b))).toBe(equal);
    expect(equalJson(readJson(b), readJson(a))).toBe(equal);
  });
});

describe('HTTP dates (RFC 9110, 5.6.7)', () => {
  it.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', 784_111_777_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 784_111_777_000],
    ['1994-11-06', undefined],
    ['1', undefined],
    ['yesterday', undefined],
  ])('%s', (text, time) => expect(parseHttpDate(text)).toBe(time));
});

describe('the error catalogue', () => {
  /** https://hl7.org/fhir/R5/valueset-issue-type.html */
  const issueTypes =
    'invalid structure required value invariant security login unknown expired forbidden suppressed processing ' +
    'not-supported duplicate multiple-matches not-found deleted too-long code-invalid extension too-costly ' +
    'business-rule conflict limited-filter transient lock-error no-store exception timeout incomplete throttled';

  it.each(Object.entries(ERRORS))('%s has a status of failure and an issue type of FHIR', (code, row) => {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(row.status).toBeGreaterThanOrEqual(400);
    expect(issueTypes.split(' ')).toContain(row.issue);
  });

  it('becomes an OperationOutcome (operationoutcome.html)', () => {
    const error = new FhirError('structure', 'wrong', { expression: 'Patient.meta', diagnostics: 'detail' });
    expect(errorOutcome(error)).toEqual({
      resourceType: 'OperationOutcome',
      issue: [
        {
          severity: 'error',
          code: 'structure',
          details: { coding: [{ system: 'urn:kiln:error', code: 'structure' }], text: 'wrong (detail)' },
          diagnostics: 'wrong (detail)',
          expression: ['Patient.meta'],
        },
      ],
    });
  });
});
