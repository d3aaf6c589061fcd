import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { Jwk } from '../../../runtime/auth/jwks/jwk.js';
import { requestToken } from '../../../runtime/cli/auth/request-token.js';
import { EVENTUALLY } from '../../eventually.js';
import { command } from '../auth.js';
import { complaint, parameter, startClient, type Client } from './stored-parameters-subject.js';

describe('scopes, and search parameters of the store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-parameters-'));
  const store = `sqlite:${join(folder, 'kiln.db')}`;
  const colour = parameter('x-colour', { expression: "Patient.extension('urn:colour').value.ofType(code)" });
  let client: Client;
  beforeAll(async () => {
    client = await startClient(store, { auth: 'smart' });
  });
  afterAll(async () => {
    await client.server.close();
    rmSync(folder, { recursive: true });
  });

  const token = (scope: string) =>
    requestToken({
      clientId: 'dev-client',
      key: JSON.parse(readFileSync(join(folder, 'dev-client.jwk'), 'utf8')) as Jwk,
      endpoint: new URL('/auth/token', client.server.url).href,
      scope,
    });

  it('a bound by one holds only where it is in effect and its index current', async () => {
    const all = await token('system/*.cruds');
    const put = (resource: Readonly<Record<string, unknown>>, by = all) =>
      client.send('PUT', `${String(resource['resourceType'])}/${String(resource['id'])}`, resource, by);
    const patient = (id: string, valueCode: string) => ({
      resourceType: 'Patient',
      id,
      extension: [{ url: 'urn:colour', valueCode }],
    });
    await put(patient('red', 'red'));
    await put(patient('blue', 'blue'));
    const bound = 'system/Patient.cruds?x-colour=red';
    await expect(token(bound)).rejects.toThrow('invalid_scope');

    // Who may write them is decided by the scopes of their type.
    expect((await put(colour, await token('system/Patient.cruds'))).status).toBe(403);
    expect((await put(colour, await token('system/SearchParameter.cruds'))).status).toBe(201);

    const mine = await token(bound);
    const look = (path: string) => client.send('GET', path, undefined, mine);
    expect(complaint(await look('Patient')).slice(0, 2)).toEqual([503, 'index-not-current']);
    expect([(await look('Patient/red')).status, (await look('Patient/blue')).status]).toEqual([200, 404]);
    expect((await put(patient('green', 'green'), mine)).status).toBe(403);

    expect(await command('reindex', '--store', store)).toMatchObject({ code: 0 });
    await vi.waitFor(
      async () => expect((await client.search('Patient', mine)).found).toEqual(['Patient/red']),
      EVENTUALLY,
    );

    expect((await put({ ...colour, status: 'retired' })).status).toBe(200);
    expect([(await look('Patient')).status, (await look('Patient/red')).status]).toEqual([403, 403]);
    expect((await put(colour)).status).toBe(200);
    expect([(await look('Patient')).status, (await look('Patient/red')).status]).toEqual([503, 200]);
  });

  it('no warning tells of what only an old index says that a bound shows', async () => {
    const all = await token('system/*.cruds');
    const put = async (resource: Readonly<Record<string, unknown>>) => {
      const path = `${String(resource['resourceType'])}/${String(resource['id'])}`;
      expect((await client.send('PUT', path, resource, all)).status).toBeLessThan(300);
    };
    const open = parameter('x-open', { base: ['MedicationRequest'], expression: 'MedicationRequest.status' });
    await put(open);
    await put(parameter('x-kind', { expression: 'Patient.gender' }));
    await put({
      resourceType: 'MedicationRequest',
      id: 'holds',
      status: 'active',
      intent: 'order',
      medication: { concept: { text: 'x' } },
      subject: { reference: '#p' },
      contained: [{ resourceType: 'Patient', id: 'p', gender: 'male' }],
    });
    expect(await command('reindex', '--store', store)).toMatchObject({ code: 0 });
    const mine = await token('system/Patient.rs system/Observation.rs system/MedicationRequest.rs?x-open=active');
    const chain = 'Observation?subject:Patient.x-kind=male';
    const told = [expect.stringContaining('did not look into contained resources')];
    await vi.waitFor(async () => expect((await client.search(chain, mine)).warnings).toEqual(told), EVENTUALLY);
    await put({ ...open, expression: 'MedicationRequest.intent' });
    const refused = [503, 'index-not-current'];
    expect(complaint(await client.send('GET', 'MedicationRequest', undefined, mine)).slice(0, 2)).toEqual(refused);
    // It comes unasked now, whatever is there.
    expect((await client.search(chain, mine)).warnings).toEqual(told);
    expect((await client.send('DELETE', 'MedicationRequest/holds', undefined, all)).status).toBe(200);
    expect((await client.search(chain, mine)).warnings).toEqual(told);
    expect((await client.search(chain, await token('system/Patient.rs system/Observation.rs'))).warnings).toEqual([]);
  });

  it('who may write them within bounds only puts none into effect, changes none that is, and takes none away', async () => {
    const mine = await token('system/SearchParameter.cruds?_language=de system/Patient.s');
    const shade = { ...parameter('x-shade', { expression: 'Patient.gender' }), language: 'de' };
    const send = (method: string, path: string, body: object | undefined, by: string) =>
      client.send(method, path, body, by);
    const path = 'SearchParameter/x-shade';
    const refused = async (letter: string, answer: ReturnType<typeof send>) => {
      const [status, code, , text] = complaint(await answer);
      expect([status, code, text]).toEqual([
        403,
        'scope-missing',
        expect.stringMatching(new RegExp(`changes what everybody finds.*: system/SearchParameter\\.${letter}$`)),
      ]);
      expect((await client.send('GET', 'Patient?x-shade=male', undefined, mine)).status).toBe(known);
    };
    let known = 400;
    const fresh = { ...shade, id: undefined };
    await refused('c', send('POST', 'SearchParameter', fresh, mine));
    await refused('u', send('PUT', path, shade, mine));
    expect((await send('PUT', path, { ...shade, status: 'draft' }, mine)).status).toBe(201);
    const activate = [{ op: 'replace', path: '/status', value: 'active' }];
    const patch = (value: object, by: string) =>
      fetch(`${client.server.url}/${path}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json-patch+json', authorization: `Bearer ${by}` },
        body: JSON.stringify(value),
      });
    expect((await patch(activate, mine)).status).toBe(403);
    const entry = [{ resource: shade, request: { method: 'PUT', url: path } }];
    await refused('u', send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry }, mine));

    expect((await patch(activate, await token('system/SearchParameter.u'))).status).toBe(200);
    known = 200;
    await refused('u', send('PUT', path, { ...shade, status: 'retired' }, mine));
    await refused('d', send('DELETE', path, undefined, mine));
    await refused('d', send('DELETE', 'SearchParameter?code=x-shade', undefined, mine));
    expect((await send('DELETE', path, undefined, await token('system/SearchParameter.d'))).status).toBe(200);
    // What lies outside of the bounds stays out of them whatever it would do.
    expect((await send('PUT', 'SearchParameter/x-colour', shade, mine)).status).toBe(400);
    expect((await send('DELETE', 'SearchParameter/x-colour', undefined, mine)).status).toBe(404);
  });
});
