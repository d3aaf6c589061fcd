import { describe, expect, it } from 'vitest';

import { codeOf, useToyServer } from '../server.js';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('create: POST [base]/[type] (http.html#create)', () => {
  const server = useToyServer();

  it('answers 201 with Location, ETag and Last-Modified, and the resource with id and meta', async () => {
    const answer = await server.send('POST', '/Patient', { resourceType: 'Patient', active: true });
    expect(answer.status).toBe(201);
    expect(answer.headers['content-type']).toBe('application/fhir+json; charset=utf-8');
    const patient = answer.json();
    expect(patient.id).toMatch(UUID_V7);
    expect(patient.active).toBe(true);
    expect(patient.meta.versionId).toBe('1');
    expect(Math.abs(Date.parse(patient.meta.lastUpdated) - Date.now())).toBeLessThan(60_000);
    expect(answer.headers.location).toBe(`${server.url}/fhir/Patient/${patient.id}/_history/1`);
    expect(answer.headers.etag).toBe('W/"1"');
    expect(answer.headers['last-modified']).toBe(new Date(patient.meta.lastUpdated).toUTCString());
    const read = await server.send('GET', `/Patient/${patient.id}`);
    expect(read.json()).toEqual(patient);
  });

  it('ignores an id in the body, and version and time in its meta', async () => {
    const meta = { versionId: '77', lastUpdated: '1999-01-01T00:00:00Z', source: 'urn:x' };
    const answer = await server.send('POST', '/Patient', { resourceType: 'Patient', id: 'mine', meta });
    const patient = answer.json();
    expect(patient.id).not.toBe('mine');
    expect(patient.meta).toEqual({ versionId: '1', lastUpdated: expect.not.stringMatching(/^1999/), source: 'urn:x' });
    expect((await server.send('GET', '/Patient/mine')).status).toBe(404);
  });

  it('keeps the text of every number', async () => {
    const body = '{"resourceType":"Observation","valueQuantity":{"value":66.899999999999991,"a":1.0,"b":1e3,"c":-0}}';
    const { text } = await server.send('POST', '/Observation', body);
    expect(text).toContain('"value":66.899999999999991,"a":1.0,"b":1e3,"c":-0}');
    const { id } = JSON.parse(text);
    expect((await server.send('GET', `/Observation/${id}`)).text).toBe(text);
    expect((await server.send('GET', `/Observation/${id}?_pretty=true`)).text).toContain('"b": 1e3');
  });

  it.each([
    ['minimal', (text: string) => expect(text).toBe('')],
    ['representation', (text: string) => expect(JSON.parse(text).resourceType).toBe('Patient')],
    ['OperationOutcome', (text: string) => expect(JSON.parse(text).resourceType).toBe('OperationOutcome')],
  ])('honours Prefer: return=%s', async (wish, check) => {
    const answer = await server.send('POST', '/Patient', { resourceType: 'Patient' }, { prefer: `return=${wish}` });
    expect(answer.status).toBe(201);
    expect(answer.headers.location).toContain('/Patient/');
    check(answer.text);
  });

  it.each([
    ['no body', undefined, 'body-missing'],
    ['no JSON', '{"resourceType":', 'json-syntax'],
    ['an array', '[]', 'not-a-resource'],
    ['no resourceType', '{}', 'not-a-resource'],
    ['another type', '{"resourceType":"Basic"}', 'type-mismatch'],
    ['a property twice', '{"resourceType":"Patient","a":1,"a":1}', 'json-duplicate-key'],
    ['__proto__', '{"resourceType":"Patient","__proto__":{"x":1}}', 'json-forbidden-key'],
    ['meta of a wrong form', '{"resourceType":"Patient","meta":7}', 'structure'],
    ['tags of a wrong form', '{"resourceType":"Patient","meta":{"tag":{}}}', 'structure'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'json-encoding'],
    ['half a surrogate pair', '{"resourceType":"Patient","a":"\\ud800"}', 'json-encoding'],
    ['50,000 levels', '['.repeat(50_000), 'json-depth'],
  ])('refuses %s with 400', async (_name, body, code) => {
    const answer = await server.send('POST', '/Patient', body);
    expect(answer.status).toBe(400);
    expect(codeOf(answer)).toBe(code);
    expect(server.defects).toEqual([]);
  });

  it('says line and column of a fault in the JSON', async () => {
    const answer = await server.send('POST', '/Patient', '{\n  "resourceType": "Patient",\n  "active": yes\n}');
    expect(answer.json().issue[0]).toMatchObject({ severity: 'error', code: 'structure' });
    expect(answer.json().issue[0].details.text).toContain('Line 3, column 13');
  });
});
