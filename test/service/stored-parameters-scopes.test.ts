import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { Jwk } from '../../runtime/auth/jwks/jwk.js';
import { requestToken } from '../../runtime/cli/request-token.js';
import { command, SOON } from './auth.js';
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
    await vi.waitFor(async () => expect((await client.search('Patient', mine)).found).toEqual(['Patient/red']), {
      ...SOON,
      timeout: 3000,
    });

    expect((await put({ ...colour, status: 'retired' })).status).toBe(200);
    expect([(await look('Patient')).status, (await look('Patient/red')).status]).toEqual([403, 403]);
    expect((await put(colour)).status).toBe(200);
    expect([(await look('Patient')).status, (await look('Patient/red')).status]).toEqual([503, 200]);
  });
});
