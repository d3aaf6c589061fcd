import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import express from 'express';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { kiln, WriteRefused, type Kiln, type ReadVersion, type WrittenVersion } from '../../../runtime/index.js';
import { EVENTUALLY } from '../../eventually.js';
import { FHIR_JSON } from '../server.js';

type Json = any; // eslint-disable-line @typescript-eslint/no-explicit-any

/** Hooks of a mounted Kiln. @param store URL */
export function mountHooks(store: string): void {
  let fhir: Kiln;
  let base = '';
  let close = (): Promise<unknown> => Promise.resolve();
  const written: WrittenVersion<'*'>[] = [];
  const reads: ReadVersion<'Patient'>[] = [];

  beforeAll(async () => {
    fhir = kiln({ store, auth: 'open', 'log.level': 'silent' });
    fhir.on.beforeWrite('Patient', (patient, { interaction }) => {
      if (patient.name?.[0]?.family === 'Refused') throw new WriteRefused('No such name here');
      if (patient.name?.[0]?.family === 'Outcome') {
        const issue = [
          { severity: 'error', code: 'forbidden', expression: ['Patient.name'], details: { text: 'Not that' } },
        ];
        throw new WriteRefused({ resourceType: 'OperationOutcome', issue: issue as never });
      }
      if (patient.name?.[0]?.family === 'Defect') throw new Error('a secret');

      if (patient.name?.[0]?.family === 'Nothing') throw undefined;
      if (patient.name?.[0]?.family === 'Stolen') return { ...patient, id: 'another' };
      // In place, without a return: the copy counts.
      patient.language = interaction === 'patch' ? 'de' : 'en';
      return undefined;
    });
    fhir.on.beforeWrite('Observation', (observation) => ({ ...observation, status: observation.status ?? 'final' }));
    fhir.on.beforeWrite('Provenance', (provenance) => ({ ...provenance, language: 'fr' }));
    fhir.on.beforeWrite('Basic', () => ({ resourceType: 'Basic', code: 'no CodeableConcept' as never }));
    fhir.on.afterWrite('*', (version) => void written.push(version));
    fhir.on.afterWrite('Patient', () => Promise.reject(new Error('after')));
    fhir.on.read('Patient', (version) => void reads.push(version));
    fhir.on.read('Patient', () => Promise.reject(new Error('read')));
    const server = express().use('/fhir', fhir).listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/fhir`;
    close = async () => {
      server.close();
      server.closeAllConnections();
      await fhir.close();
    };
  });
  afterAll(() => close());

  const send = async (method: string, path: string, body?: unknown, type = FHIR_JSON) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(`${base}${path}`, { method, headers: { 'Content-Type': type }, body: text });
    const content = await answer.text();
    return { status: answer.status, text: content, json: (content === '' ? undefined : JSON.parse(content)) as Json };
  };
  const patientOf = (family: string): object => ({ resourceType: 'Patient', name: [{ family }] });
  const put = (id: string, family = 'Good') => send('PUT', `/Patient/${id}`, { ...patientOf(family), id });
  const bundle = (type: string, ...entry: object[]): object => ({ resourceType: 'Bundle', type, entry });
  const stored = async (path: string): Promise<Json> => (await (await fetch(`${base}${path}`)).json()) as Json;

  describe('beforeWrite', () => {
    it('changes what is created and updated, before it is validated', async () => {
      expect(await send('POST', '/Patient', patientOf('Good'))).toMatchObject({
        status: 201,
        json: { language: 'en' },
      });
      expect(await put('changed')).toMatchObject({ status: 201, json: { language: 'en' } });
      // Without the hook it has no status.
      const observation = { resourceType: 'Observation', code: { text: 'x' } };
      expect(await send('POST', '/Observation', observation)).toMatchObject({ status: 201, json: { status: 'final' } });
      const identified = { ...patientOf('Good'), identifier: [{ value: 'conditional' }] };
      expect(await send('PUT', '/Patient?identifier=conditional', identified)).toMatchObject({
        status: 201,
        json: { language: 'en' },
      });
    });

    it('changes the Provenance that is sent beside a write', async () => {
      const provenance = {
        resourceType: 'Provenance',
        recorded: '2026-01-02T03:04:05Z',
        agent: [{ who: { display: 'x' } }],
      };
      const answer = await fetch(`${base}/Patient/told`, {
        method: 'PUT',
        headers: { 'Content-Type': FHIR_JSON, 'X-Provenance': JSON.stringify(provenance) },
        body: JSON.stringify({ ...patientOf('Good'), id: 'told' }),
      });
      expect(answer.status).toBe(201);
      const [{ resource }] = (await stored('/Provenance?target=Patient/told')).entry;
      expect(resource).toMatchObject({ language: 'fr', target: [{ reference: 'Patient/told/_history/1' }] });
    });

    it('changes what a patch makes', async () => {
      await put('patched');
      const patch = [{ op: 'add', path: '/active', value: true }];
      const done = await send('PATCH', '/Patient/patched', patch, 'application/json-patch+json');
      expect(done).toMatchObject({ status: 200, json: { active: true, language: 'de' } });
    });

    it('changes entries of transactions and batches, and patches in them', async () => {
      const subject = { reference: 'urn:uuid:11111111-1111-4111-8111-111111111111' };
      const done = await send(
        'POST',
        '',
        bundle(
          'transaction',
          { fullUrl: subject.reference, resource: patientOf('Good'), request: { method: 'POST', url: 'Patient' } },
          {
            resource: { resourceType: 'Observation', code: { text: 'x' }, subject },
            request: { method: 'POST', url: 'Observation' },
          },
        ),
      );
      expect(done.status).toBe(200);
      const [patient, observation] = done.json.entry.map((each: Json) => each.response.location) as [string, string];
      expect(await stored(`/${patient}`)).toMatchObject({ language: 'en' });
      const reference = patient.replace(/\/_history.*/, '');
      expect(await stored(`/${observation}`)).toMatchObject({ status: 'final', subject: { reference } });
      const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/active', value: true }])).toString('base64');
      const entries = [
        { resource: { ...patientOf('Good'), id: 'in-batch' }, request: { method: 'PUT', url: 'Patient/in-batch' } },
        {
          resource: { resourceType: 'Binary', contentType: 'application/json-patch+json', data: patch },
          request: { method: 'PATCH', url: reference },
        },
      ];
      for (const [type, language] of [
        ['transaction', 'de'],
        ['batch', 'de'],
      ]) {
        expect((await send('POST', '', bundle(type!, ...entries))).status).toBe(200);
        expect((await stored('/Patient/in-batch')).language).toBe('en');
        expect(await stored(`/${reference}`)).toMatchObject({ active: true, language });
      }
    });

    it('changes and refuses lines of imports', async () => {
      const lines = ['Good', 'Refused'].map((family) => JSON.stringify({ ...patientOf(family), id: `in-${family}` }));
      const { headers } = await fetch(`${base}/Binary`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/fhir+ndjson' },
        body: lines.join('\n'),
      });
      const valueUri = /Binary\/[^/]+/.exec(headers.get('location') ?? '')![0];
      const part = [
        { name: 'url', valueUri },
        { name: 'type', valueCode: 'Patient' },
      ];
      const started = await fetch(`${base}/$import`, {
        method: 'POST',
        headers: { 'Content-Type': FHIR_JSON, Prefer: 'respond-async' },
        body: JSON.stringify({ resourceType: 'Parameters', parameter: [{ name: 'input', part }] }),
      });
      const status = started.headers.get('content-location') ?? '';
      await vi.waitFor(async () => expect((await fetch(status)).status).toBe(200), EVENTUALLY);
      const { output } = (await (await fetch(status)).json()) as Json;
      expect(output).toMatchObject([{ created: 1, failed: 1 }]);
      expect(await stored('/Patient/in-Good')).toMatchObject({ language: 'en' });
    });

    it('refuses: alone with 422, a transaction as a whole, a batch in its entry', async () => {
      expect(await put('refused', 'Refused')).toMatchObject({
        status: 422,
        json: { issue: [{ code: 'business-rule', details: { text: 'No such name here' } }] },
      });
      expect(await put('refused', 'Outcome')).toMatchObject({
        status: 422,
        json: { issue: [{ code: 'forbidden', expression: ['Patient.name'], details: { text: 'Not that' } }] },
      });
      const entry = (family: string) => ({
        resource: { ...patientOf(family), id: `all-${family}` },
        request: { method: 'PUT', url: `Patient/all-${family}` },
      });
      expect((await send('POST', '', bundle('transaction', entry('Good'), entry('Refused')))).status).toBe(422);
      expect((await fetch(`${base}/Patient/all-Good`)).status).toBe(404);
      const { json } = await send('POST', '', bundle('batch', entry('Good'), entry('Refused')));
      expect(json.entry.map((each: Json) => each.response.status.slice(0, 3))).toEqual(['201', '422']);
      const patch = [{ op: 'replace', path: '/name/0/family', value: 'Refused' }];
      const patched = await send('PATCH', '/Patient/all-Good', patch, 'application/json-patch+json');
      expect(patched.status).toBe(422);
      expect((await stored('/Patient/all-Good')).name[0].family).toBe('Good');
    });

    it('answers defects of hooks with a bare 500, and stores nothing', async () => {
      // What is thrown need not be an Error: the process goes on.
      for (const family of ['Defect', 'Stolen', 'Nothing']) {
        const answer = await put('defect', family);
        expect([answer.status, answer.text.includes('secret')]).toEqual([500, false]);
        expect((await fetch(`${base}/Patient/defect`)).status).toBe(404);
      }
    });

    it('has its result validated', async () => {
      const refused = await send('POST', '/Basic', { resourceType: 'Basic', code: { text: 'x' } });
      expect(refused.status).toBe(400);
    });

    it('keeps the precision of decimals that it leaves where they are', async () => {
      const body =
        '{"resourceType":"Observation","code":{"text":"x"},"valueQuantity":{"value":2.00},' +
        '"component":[{"code":{"text":"y"},"valueQuantity":{"value":1e3}}]}';
      const made = await send('POST', '/Observation', body);
      expect([made.status, made.text]).toEqual([201, expect.stringContaining('"value":2.00}')]);
      expect(made.text).toContain('"value":1e3}');
    });
  });

  describe('afterWrite', () => {
    it('learns of versions after they were committed, and of nothing that was refused', async () => {
      written.length = 0;
      await put('learned');
      await put('learned', 'Better');
      await put('learned', 'Refused');
      await send('DELETE', '/Patient/learned');
      await vi.waitFor(() => expect(written).toHaveLength(3), EVENTUALLY);
      expect(written.map(({ id, versionId, action }) => `${id} ${versionId} ${action}`)).toEqual([
        'learned 1 create',
        'learned 2 update',
        'learned 3 delete',
      ]);
      expect(written[1]!.resource).toMatchObject({ resourceType: 'Patient', language: 'en', meta: { versionId: '2' } });
      expect(written[2]!.resource).toBeUndefined();
    });
  });

  describe('read', () => {
    const read = (path: string, headers: Record<string, string> = {}) => fetch(`${base}${path}`, { headers });
    const gets = (...urls: string[]) =>
      bundle('batch', ...urls.map((url) => ({ request: { method: 'GET', url } }))) as never;

    it('learns of reads and vreads that found something, those of a batch included, and of no others', async () => {
      await put('seen');
      await put('seen', 'Better');
      reads.length = 0;
      expect((await read('/Patient/seen')).status).toBe(200);
      expect((await read('/Patient/seen/_history/1')).status).toBe(200);
      expect((await read('/Patient/seen?_elements=language')).status).toBe(200);
      expect((await send('POST', '', gets('Patient/seen'))).status).toBe(200);
      expect((await read('/Patient/seen', { 'If-None-Match': 'W/"2"' })).status).toBe(304);
      expect((await read('/Patient/unseen')).status).toBe(404);
      expect((await read('/Patient?_id=seen')).status).toBe(200);
      await vi.waitFor(() => expect(reads).toHaveLength(4), EVENTUALLY);
      expect(reads.map(({ interaction, type, id, versionId }) => `${interaction} ${type}/${id} ${versionId}`)).toEqual([
        'read Patient/seen 2',
        'vread Patient/seen 1',
        'read Patient/seen 2',
        'read Patient/seen 2',
      ]);
      // Whole, also where the client asked for a part.
      expect(reads[2]!.resource).toMatchObject({ name: [{ family: 'Better' }], language: 'en' });
      expect(reads[0]!.clientId).toBeUndefined();
    });
  });
}
