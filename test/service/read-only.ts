import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnProcess } from './kiln-process.js';

const JSON_PATCH = 'application/json-patch+json';
const FHIR = 'application/fhir+json';

/** The suite on a store that is not there yet. */
export function itIsReadOnly(newStore: () => string): void {
  describe('a server with the setting readOnly', { timeout: 120_000 }, () => {
    let base: string;
    let kiln: KilnProcess;

    const send = async (method: string, path: string, body?: unknown, type = FHIR) => {
      const headers = { accept: FHIR, ...(body !== undefined && { 'content-type': type }) };
      const answer = await fetch(`${base}${path}`, {
        method,
        headers,
        body: body && JSON.stringify(body),
      } as RequestInit);
      const text = await answer.text();
      return { status: answer.status, json: text === '' ? undefined : JSON.parse(text), text };
    };
    const start = async (store: string, ...more: string[]): Promise<void> => {
      kiln = startKiln(['serve', '--port', '0', '--store', store, '--log-level', 'error', ...more]);
      base = await kiln.started;
    };
    const stop = async (): Promise<void> => {
      kiln.child.kill('SIGTERM');
      expect(await kiln.ended).toBe(0);
    };

    beforeAll(async () => {
      const store = newStore();
      await start(store, '--admin-expunge', 'true');
      await send('PUT', '/Patient/a', { resourceType: 'Patient', id: 'a', active: true });
      await send('PUT', '/Patient/a', { resourceType: 'Patient', id: 'a', active: false });
      await send('PUT', '/Composition/c', {
        ...{ resourceType: 'Composition', id: 'c', status: 'final', date: '2024', title: 't' },
        ...{ type: { text: 't' }, author: [{ reference: 'Patient/a' }], subject: [{ reference: 'Patient/a' }] },
      });
      await stop();
      await start(store, '--admin-expunge', 'true', '--read-only', 'true');
    }, 120_000);
    afterAll(stop);

    const put = { resourceType: 'Patient', id: 'a' };
    it.each<[string, string, unknown?, string?]>([
      ['POST', '/Patient', { resourceType: 'Patient' }],
      ['PUT', '/Patient/a', put],
      ['PUT', '/Patient/new', { ...put, id: 'new' }],
      ['PUT', '/Patient?active=false', { resourceType: 'Patient' }],
      ['PATCH', '/Patient/a', [{ op: 'add', path: '/gender', value: 'male' }], JSON_PATCH],
      ['PATCH', '/Patient?active=false', [{ op: 'add', path: '/gender', value: 'male' }], JSON_PATCH],
      ['DELETE', '/Patient/a'],
      ['DELETE', '/Patient?active=false'],
      ['DELETE', '/Patient/a/_history'],
      ['DELETE', '/Patient/a/_history/1'],
      ['POST', '/Binary', { resourceType: 'Binary', contentType: 'text/plain', data: 'AAAA' }],
      ['POST', '/Patient/a/$meta-add', metaOf('urn:x')],
      ['POST', '/$reindex'],
      ['POST', '/Patient/a/$expunge'],
      ['POST', '/$import', { resourceType: 'Parameters' }],
    ])('refuses %s %s, and says which setting does', async (method, path, body, type) => {
      const { status, json } = await send(method, path, body, type);
      expect([status, json.issue[0].code]).toEqual([405, 'not-supported']);
      expect(json.issue[0].details.text).toBe('This server is read-only (setting readOnly)');
    });

    it('refuses entries that write, one by one in a batch and the whole transaction', async () => {
      const entry = [
        { request: { method: 'GET', url: 'Patient/a' } },
        { request: { method: 'PUT', url: 'Patient/a' }, resource: put },
      ];
      const batch = await send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
      expect(
        batch.json.entry.map(({ response }: { response: { status: string } }) => response.status.slice(0, 3)),
      ).toEqual(['200', '405']);
      const all = await send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
      expect(all.status).toBe(405);
      expect(all.text).toContain('readOnly');
    });

    it('keeps no entries that write for later', async () => {
      const entry = [{ resource: { resourceType: 'Patient' }, request: { method: 'POST', url: 'Patient' } }];
      for (const type of ['batch', 'transaction']) {
        const answer = await fetch(base, {
          method: 'POST',
          headers: { 'content-type': FHIR, prefer: 'respond-async' },
          body: JSON.stringify({ resourceType: 'Bundle', type, entry }),
        });
        expect(answer.status, await answer.text()).toBe(405);
      }
    });

    it('refuses what an operation would store beside its answer', async () => {
      const { status, text } = await send('GET', '/Composition/c/$document?persist=true');
      expect([status, text.includes('readOnly')]).toEqual([405, true]);
      expect((await send('GET', '/Composition/c/$document')).status).toBe(200);
    });

    it('leaves the store as it was, and reads, searches and validates', async () => {
      expect((await send('GET', '/Patient/a')).json.meta.versionId).toBe('2');
      expect((await send('GET', '/_history')).json.total).toBe(3);
      expect((await send('GET', '/Patient?active=false')).json.total).toBe(1);
      expect((await send('POST', '/Patient/_search?active=false')).json.total).toBe(1);
      expect((await send('POST', '/Patient/$validate', put)).status).toBe(200);
    });

    it('claims in /metadata, Allow and OpenAPI nothing that writes', async () => {
      const { rest } = (await send('GET', '/metadata')).json;
      const codes = new Set<string>();
      for (const { interaction = [] } of rest[0].resource) for (const { code } of interaction) codes.add(code);
      expect([...codes].sort()).toEqual(['history-instance', 'history-type', 'read', 'search-type', 'vread']);
      const names = JSON.stringify(rest[0]);
      expect(names).not.toMatch(
        /"(?:conditionalCreate|conditionalUpdate|conditionalDelete)":(?!false|"not-supported")/,
      );
      const options = await fetch(`${base}/Patient/a`, { method: 'OPTIONS' });
      expect(options.headers.get('allow')).toBe('GET, HEAD');
      const answer = await fetch(`${new URL(base).origin}/openapi/Patient.json`);
      const document = (await answer.json()) as { paths: Record<string, object> };
      expect(Object.keys(document.paths['/Patient/{id}']!)).toEqual(['get']);
    });

    it('works on exports', async () => {
      const accepted = await fetch(`${base}/$export`, { headers: { accept: FHIR, prefer: 'respond-async' } });
      expect(accepted.status).toBe(202);
      const place = accepted.headers.get('content-location')!;
      await expect.poll(async () => (await fetch(place)).status, { timeout: 60_000 }).toBe(200);
      const view = {
        ...{ resourceType: 'ViewDefinition', status: 'active', resource: 'Patient' },
        select: [{ column: [{ name: 'id', path: 'id' }] }],
      };
      const subject = { name: 'subject', part: [{ name: 'subjectResource', resource: view }] };
      const tables = await fetch(`${base}/$sql-export`, {
        method: 'POST',
        headers: { 'content-type': FHIR, accept: FHIR, prefer: 'respond-async' },
        body: JSON.stringify({ resourceType: 'Parameters', parameter: [subject] }),
      });
      expect(tables.status).toBe(202);
      const status = tables.headers.get('content-location')!;
      await expect.poll(async () => (await fetch(status)).status, { timeout: 60_000 }).toBe(200);
    });
  });
}

function metaOf(tag: string): object {
  const valueMeta = { tag: [{ system: tag, code: 'x' }] };
  return { resourceType: 'Parameters', parameter: [{ name: 'meta', valueMeta }] };
}
