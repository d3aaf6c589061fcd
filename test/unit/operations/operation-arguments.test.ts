import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { OPERATOR } from '../../../runtime/auth/scopes/principal.js';
import type { Level } from '../../../runtime/contract/index.js';
import type { Call } from '../../../runtime/core/call.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import type { JsonValue } from '../../../runtime/fhir/resource.js';
import { readArguments, valueOf, type Arguments } from '../../../runtime/operations/common/arguments.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';

const services = { tables, validate: createValidator(tables) };

function read(operation: string, query: string, body?: unknown, more: Partial<Call> = {}): Arguments {
  const call: Call = {
    interaction: 'operation',
    operation,
    level: 'system' as Level,
    principal: OPERATOR,
    params: new URLSearchParams(query),
    ...(body !== undefined && { body: body as JsonValue }),
    conditions: {},
    prefer: {},
    base: 'http://localhost/fhir',
    ...more,
  };
  return readArguments(call, services);
}

function fault(operation: string, query: string, body?: unknown, more: Partial<Call> = {}): FhirError {
  try {
    read(operation, query, body, more);
  } catch (error) {
    if (error instanceof FhirError) return error;
    throw error;
  }
  throw new Error('nothing is wrong');
}

const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });

describe('arguments of operations (operations.html#request)', () => {
  it('are typed by their rows, from the query and from Parameters alike', () => {
    const query = read('expunge', 'limit=10&expungeDeletedResources=true&_format=json&_pretty=true');
    expect([valueOf(query, 'limit'), valueOf(query, 'expungeDeletedResources')]).toEqual([10, true]);
    const body = parameters(
      { name: 'limit', valueInteger: 10 },
      { name: 'expungeDeletedResources', valueBoolean: true },
    );
    expect([...read('expunge', '', body)]).toEqual([...query]);
    expect(valueOf(query, 'expungeEverything')).toBeUndefined();
  });

  it.each([
    ['limit=x', '"limit" is a integer, and "x" is none'],
    ['limit=1.5', '"limit" is a integer, and "1.5" is none'],
    ['limit=1%202', '"1 2" is none'],
    ['expungeEverything=yes', '"expungeEverything" is a boolean'],
    ['limit=1&limit=2', '"limit" may be given once'],
  ])('of a wrong form are refused: %s', (query, text) => {
    const error = fault('expunge', query);
    expect([error.status, error.code]).toEqual([400, 'parameter-invalid']);
    expect(error.message).toContain(text);
  });

  it('of another type in Parameters are refused with the right one', () => {
    const error = fault('expunge', '', parameters({ name: 'limit', valueString: '10' }));
    expect(error.message).toContain('has valueString; valueInteger is right');
    expect(error.issues[0].expression).toBe('Parameters.parameter[0]');
    const none = fault('expunge', '', parameters({ name: 'limit', part: [{ name: 'x', valueInteger: 1 }] }));
    expect(none.message).toContain('"limit" has no value');
  });

  it('that are unknown are refused with those that are known; lenient clients go without', () => {
    const error = fault('expunge', 'limt=10');
    expect([error.code, error.message]).toEqual(['parameter-unknown', expect.stringContaining('limit')]);
    const lenient = read('expunge', 'limt=10&limit=3', undefined, { prefer: { handling: 'lenient' } });
    expect([...lenient.keys()]).toEqual(['limit']);
    expect(fault('expunge', 'limit=x', undefined, { prefer: { handling: 'lenient' } }).code).toBe('parameter-invalid');
  });

  it('that are required and missing are named', () => {
    const error = fault('Resource-meta-add', '', { resourceType: 'Parameters' }, { level: 'instance' });
    expect([error.code, error.message]).toEqual(['parameter-invalid', 'The parameter "meta" is required']);
    const meta = { tag: [{ code: 'x' }] };
    expect(valueOf(read('Resource-meta-add', '', parameters({ name: 'meta', valueMeta: meta })), 'meta')).toEqual(meta);
  });

  it('that the query cannot hold have to come in a body', () => {
    expect(fault('Resource-meta-add', 'meta=x').message).toContain('is a Meta; send it in the body of a POST');
  });

  it('may be a resource by itself, where the row has one such parameter', () => {
    const patient = { resourceType: 'Patient', active: true };
    expect(valueOf(read('Resource-validate', '', patient, { level: 'type' }), 'resource')).toEqual(patient);
    const wrapped = parameters({ name: 'resource', resource: patient });
    expect(valueOf(read('Resource-validate', '', wrapped, { level: 'type' }), 'resource')).toEqual(patient);
    expect(fault('expunge', '', patient).code).toBe('type-mismatch');
  });

  it('exist at the levels of their rows alone', () => {
    const atType = read('ActivityDefinition-apply', 'subject=Patient/1', undefined, { level: 'instance' });
    expect(valueOf(atType, 'subject')).toBe('Patient/1');
    const body = parameters(
      { name: 'subject', valueString: 'Patient/1' },
      { name: 'activityDefinition', resource: { resourceType: 'ActivityDefinition', status: 'draft' } },
    );
    expect(fault('ActivityDefinition-apply', '', body, { level: 'instance' }).code).toBe('parameter-unknown');
    expect([...read('ActivityDefinition-apply', '', body, { level: 'type' }).keys()]).toContain('activityDefinition');
  });

  it('of every operation with a row are read without a defect', () => {
    for (const { id, levels } of tables.operations) {
      for (const level of levels) {
        try {
          read(id, 'x=1', undefined, { level });
        } catch (error) {
          expect(error).toBeInstanceOf(FhirError);
        }
      }
    }
  });
});
