import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { subset } from '../../../runtime/server.js';
import type { Store } from '../../../runtime/store/store.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { batch, entry, responsesOf, transaction } from '../bundles/bundle-server.js';
import type { Answer } from '../server.js';
import { patient, useWriteServer, word } from '../write-server.js';

const FHIR_XML = 'application/fhir+xml';
const JSON_PATCH = 'application/json-patch+json';

interface OutcomeIssue {
  readonly details: { readonly text: string };
  readonly diagnostics?: string;
}

/** What widespread clients send and read: HAPI's reads the text of an error from `diagnostics`, and ids from `Location`. */
export function whatClientsRead(store: Store): void {
  const server = useWriteServer(store, { rules: createRuleChecker(tables), validation: 'full', subset });
  const created = async (): Promise<string> => {
    const path = `/Patient/${word()}`;
    const answer = await server.send('PUT', path, patient(word(), { id: path.slice('/Patient/'.length) }));
    expect(answer.status, answer.text).toBe(201);
    return path;
  };

  describe('an error has its text in diagnostics as well', () => {
    const refused: [string, string, string, unknown, string][] = [
      ['no such resource', 'GET', '/Patient/none', undefined, 'not-found'],
      ['an unknown parameter', 'GET', '/Patient?nonsense=1', undefined, 'parameter-unknown'],
      ['no JSON', 'POST', '/Patient', '{"resourceType"', 'json-syntax'],
      [
        'faults with places',
        'POST',
        '/Patient',
        '{"resourceType":"Patient",\n"nam":[],"gender":1}',
        'unknown-property',
      ],
      ['broken rules', 'POST', '/Patient', patient('x', { contact: [{}] }), 'empty'],
    ];
    const same = (issues: readonly OutcomeIssue[]): void => {
      expect(issues.length).toBeGreaterThan(0);
      for (const { details, diagnostics } of issues) expect(diagnostics).toBe(details.text);
    };

    it.each(refused)('%s', async (_, method, path, body) => {
      const answer = await server.send(method, path, body);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      same(answer.json().issue);
      const xml = await server.send(method, path, body, { accept: FHIR_XML });
      const texts = [...xml.text.matchAll(/<(text|diagnostics) value="([^"]*)"/g)];
      expect(texts.length).toBeGreaterThan(1);
      expect(new Set(texts.map(([, , text]) => text)).size).toBe(texts.length / 2);
    });

    it('and the place in a body', async () => {
      const answer = await server.send('POST', '/Patient', '{"resourceType":"Patient",\n"gender":1}');
      expect(answer.json().issue[0].diagnostics).toMatch(/ \(line 2, column \d+\)$/);
    });

    it('in entries of a batch, of a transaction, and where all went well', async () => {
      const [first] = responsesOf(await server.send('POST', '', batch(entry('GET', 'Patient/none'))));
      same(first.outcome.issue);
      same((await server.send('POST', '', transaction(entry('PUT', 'Patient', patient('x'))))).json().issue);
      const told = await server.send('POST', '/Patient', patient('x'), { prefer: 'return=OperationOutcome' });
      same(told.json().issue);
    });
  });

  describe('an update by id names the version', () => {
    const versionOf = (answer: Answer) => [answer.headers.location, answer.headers['content-location']];

    it.each(['representation', 'minimal', 'OperationOutcome'])('in both headers, return=%s', async (form) => {
      const path = await created();
      const prefer = { prefer: `return=${form}` };
      const id = path.slice('/Patient/'.length);
      const url = (version: number) => `${server.url}/fhir${path}/_history/${version}`;
      const updated = await server.send('PUT', path, patient('x', { id, active: true }), prefer);
      expect([updated.status, ...versionOf(updated)]).toEqual([200, url(2), url(2)]);
      const unchanged = await server.send('PUT', path, patient('x', { id, active: true }), prefer);
      expect([unchanged.status, ...versionOf(unchanged)]).toEqual([200, url(2), url(2)]);
      const operations = JSON.stringify([{ op: 'replace', path: '/active', value: false }]);
      const patched = await server.send('PATCH', path, operations, { ...prefer, 'content-type': JSON_PATCH });
      expect([patched.status, ...versionOf(patched)]).toEqual([200, url(3), url(3)]);
    });

    it('and entries of Bundles tell it', async () => {
      const path = await created();
      const id = path.slice('/Patient/'.length);
      for (const [version, bundle] of [batch, transaction].entries()) {
        const update = patient('x', { id, active: version === 0 });
        const [first] = responsesOf(await server.send('POST', '', bundle(entry('PUT', path.slice(1), update))));
        expect(first).toMatchObject({ status: '200 OK', location: `${path.slice(1)}/_history/${version + 2}` });
      }
    });
  });

  describe('a version without quotes is taken as W/"…"', () => {
    it('where it is read', async () => {
      const path = await created();
      const read = (tag: string) => server.send('GET', path, undefined, { 'if-none-match': tag });
      const statuses = await Promise.all(['1', '2', '2, 1', 'W/"2", 1'].map(async (tag) => (await read(tag)).status));
      expect(statuses).toEqual([304, 200, 304, 304]);
      expect((await server.send('GET', path, undefined, { 'if-match': '7' })).status).toBe(412);
      for (const tag of ['seven', '1"', 'W/1', '1 2', '-1']) expect((await read(tag)).status, tag).toBe(400);
    });

    it('where it is written, patched and deleted', async () => {
      const path = await created();
      const update = patient('x', { id: path.slice('/Patient/'.length) });
      const operations = JSON.stringify([{ op: 'add', path: '/active', value: false }]);
      const send = async (method: string, tag: string): Promise<number> => {
        const headers = { 'if-match': tag, ...(method === 'PATCH' && { 'content-type': JSON_PATCH }) };
        const body = method === 'PUT' ? update : method === 'PATCH' ? operations : undefined;
        return (await server.send(method, path, body, headers)).status;
      };
      expect([await send('PUT', '2'), await send('PUT', '1')]).toEqual([412, 200]);
      expect([await send('PATCH', '1'), await send('PATCH', '2')]).toEqual([412, 200]);
      expect([await send('DELETE', '1'), await send('DELETE', '3')]).toEqual([412, 200]);
    });

    it.each([
      ['batch', batch],
      ['transaction', transaction],
    ])('in entries of a %s', async (_, bundle) => {
      const path = (await created()).slice(1);
      const update = patient('x', { id: path.slice('Patient/'.length) });
      const late = await server.send('POST', '', bundle(entry('PUT', path, update, { request: { ifMatch: '7' } })));
      expect(late.text).toContain('precondition-failed');
      const answer = await server.send(
        'POST',
        '',
        bundle(
          entry('PUT', path, update, { request: { ifMatch: '1' } }),
          entry('GET', path, undefined, { request: { ifNoneMatch: '2' } }),
        ),
      );
      expect(responsesOf(answer).map(({ status }) => status.slice(0, 3))).toEqual(['200', '304']);
    });
  });

  it('_elements=resourceType is no element, and none of the others', async () => {
    const path = await created();
    const id = path.slice('/Patient/'.length);
    const elements = ['resourceType', 'resourceType,id', 'Patient.resourceType', 'resourceType,identifier'];
    for (const names of elements) {
      const read = await server.send('GET', `${path}?_elements=${names}`);
      const found = await server.send('GET', `/Patient?_id=${id}&_elements=${names}`);
      expect([read.status, found.status], read.text + found.text).toEqual([200, 200]);
      for (const each of [read.json(), found.json().entry[0].resource]) {
        expect('identifier' in each).toBe(names.endsWith('identifier'));
        expect(each).toMatchObject({ resourceType: 'Patient', id });
      }
    }
    expect((await server.send('GET', `${path}?_elements=resourceTyp`)).status).toBe(400);
  });
}
