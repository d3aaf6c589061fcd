import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createClientRegister } from '../../../../runtime/auth/clients/client-register.js';
import { readAllowList } from '../../../../runtime/auth/jwks/allow-list.js';
import { decodeJws } from '../../../../runtime/auth/keys/jws.js';
import { grantScopes } from '../../../../runtime/auth/scopes/grant.js';
import {
  createAuthorizationServer,
  type AuthorizationServer,
} from '../../../../runtime/auth/server/authorization-server.js';
import type { OAuthReply } from '../../../../runtime/auth/server/messages.js';
import { tokenForm } from '../../../../runtime/auth/server/client-assertion.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../../../runtime/store/store.js';
import { ADDRESSES, clientKeys, contentOf, NO_JWKS, publicHalf, SETTINGS } from './server-fixture.js';

const TYPES = ['Patient', 'DocumentReference'];
const CUSTOM = ['__admin', '__introspect'];
const grant: Parameters<typeof createAuthorizationServer>[0]['grant'] = (requested, registered) =>
  grantScopes(requested, registered, (type) => TYPES.includes(type), CUSTOM);

let folder: string;
let stores: Store[];
let servers: AuthorizationServer[];
/** How much later it is for the servers than it is, in milliseconds. */
let later: number;

beforeEach(async () => {
  later = 0;
  folder = mkdtempSync(join(tmpdir(), 'kiln-auth-'));
  stores = [0, 1].map(() => openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`));
  servers = stores.map((store) => open(store));
  const rules = {
    allow: readAllowList([]),
    isScope: ({ scope, ...rest }: { readonly scope: string }) => grant(scope, { scope, ...rest }) !== undefined,
  };
  const { ec } = await clientKeys();
  const scope = 'system/DocumentReference.create system/Patient.read system/Patient.search __introspect';
  const register = createClientRegister(stores[0]!.maps, rules);
  await register.add({ id: 'app', scope, dialect: 'eu-0.1', jwks: { keys: [publicHalf(ec)] } });
  await expect(register.add({ id: 'x', scope: 'system/Nothing.r', jwks: { keys: [publicHalf(ec)] } })).rejects.toThrow(
    /could be granted/,
  );
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  rmSync(folder, { recursive: true, force: true });
});

function open(store: Store): AuthorizationServer {
  return createAuthorizationServer({
    settings: SETTINGS,
    maps: store.maps,
    jwks: NO_JWKS,
    grant,
    now: () => Date.now() + later,
    events: {
      happened: () => {},
      defect: (error) => {
        throw error;
      },
    },
  });
}

async function form(scope: string): Promise<string> {
  const { ec } = await clientKeys();
  return await tokenForm({ clientId: 'app', key: ec, audience: ADDRESSES.token, scope }, Date.now());
}

const post = (endpoint: AuthorizationServer['token'], body: string, authorization?: string): Promise<OAuthReply> =>
  endpoint({
    method: 'POST',
    contentType: 'application/x-www-form-urlencoded',
    query: '',
    headers: { authorization },
    body,
    address: '127.0.0.1',
  });

describe('two servers on one SQLite store', () => {
  it('give one token for an assertion that is posted 50 times at once', async () => {
    const body = await form('system/Patient.read');
    const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => post(servers[n % 2]!.token, body)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(49);
  });

  it('make one key, and take each other at their word', async () => {
    const found = await Promise.all(servers.map(({ keys }) => keys.current()));
    expect(found[0]).toEqual(found[1]);
    const { access_token: text } = contentOf(await post(servers[0]!.token, await form('system/Patient.read')));
    expect(await servers[1]!.verifier.verify(text as string)).toHaveProperty('token');
  });

  it('speak the dialect of the client, and enforce canonical scopes', async () => {
    const asked = 'system/DocumentReference.create system/Patient.read system/Patient.search system/Patient.write';
    const { access_token: text, scope } = contentOf(await post(servers[0]!.token, await form(asked)));
    expect(scope).toBe('system/DocumentReference.create system/Patient.read system/Patient.search');
    expect(decodeJws(text as string)?.payload['scope']).toBe('system/DocumentReference.c system/Patient.rs');
    const { access_token: bearer } = contentOf(await post(servers[1]!.token, await form('__introspect')));
    const told = await post(servers[1]!.introspection, `token=${String(text)}`, `Bearer ${String(bearer)}`);
    expect(contentOf(told)).toMatchObject({ active: true, scope, client_id: 'app' });
  });

  it('remember used assertions over a restart', async () => {
    const body = await form('system/Patient.read');
    expect((await post(servers[0]!.token, body)).status).toBe(200);
    await Promise.all(stores.map((store) => store.close()));
    stores = [openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`)];
    expect((await post(open(stores[0]!).token, body)).status).toBe(401);
  });

  it('honour a revocation and a disabled client within 2 s', async () => {
    const tokens = await Promise.all(
      [0, 1].map(
        async (n) => contentOf(await post(servers[n]!.token, await form('system/Patient.read')))['access_token'],
      ),
    );
    const [revoked, other] = tokens as [string, string];
    const check = async (text: string) => 'token' in (await servers[1]!.verifier.verify(text));
    expect([await check(revoked), await check(other)]).toEqual([true, true]);
    const reply = await post(servers[0]!.revocation, `${await form('x')}&token=${revoked}`);
    expect(reply.status).toBe(200);
    later = 2000;
    expect([await check(revoked), await check(other)]).toEqual([false, true]);
    const rules = { allow: readAllowList([]), isScope: () => true };
    await createClientRegister(stores[0]!.maps, rules).disable('app');
    later = 4000;
    expect(await check(other)).toBe(false);
  });

  it('take no token of a client that was removed, also where one of its id is added again', async () => {
    const issue = async () => contentOf(await post(servers[0]!.token, await form('system/Patient.read')))['access_token'] as string; // prettier-ignore
    const check = async (text: string) => 'token' in (await servers[1]!.verifier.verify(text));
    const old = await issue();
    expect(await check(old)).toBe(true);
    const register = createClientRegister(stores[0]!.maps, { allow: readAllowList([]), isScope: () => true });
    const { registration: _registration, ...client } = (await register.find('app'))!;
    await register.remove('app');
    await register.add(client);
    later = 2000;
    expect([await check(old), await check(await issue())]).toEqual([false, true]);
    // Registered anew without having been removed it is the same client.
    const kept = await issue();
    await register.add(client, true);
    later = 4000;
    expect(await check(kept)).toBe(true);
  });
});
