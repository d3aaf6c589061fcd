import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { settleDevelopmentClient } from '../../../runtime/assembly/development-client.js';
import { DEVELOPMENT_CLIENT } from '../../../runtime/config/development.js';
import { openRegistration, registerConfigured } from '../../../runtime/assembly/registration.js';
import { generateKey } from '../../../runtime/auth/keys/jws.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import type { JsonObject } from '../../../runtime/fhir/resource.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import { toyTables } from '../../toy/tables.js';
import { createTestMaps } from '../auth/server/server-fixture.js';
import { EXPOSING } from './exposing.js';

let folder: string;
let notes: string[];
const log = { info: (note: string) => void notes.push(note) };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-clients-'));
  notes = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const configOf = (flags: Record<string, string> = {}, env: Record<string, string> = {}) =>
  readConfig({ store: `sqlite:${join(folder, 'kiln.db')}`, auth: 'smart', ...flags }, env).config;

function open() {
  const maps = createTestMaps({ time: Date.now() });
  return openRegistration(configOf(), maps, { tables: toyTables, zone: utc });
}

const openRegister = () => open().register;

describe('the development client', () => {
  const file = () => join(folder, 'dev-client.jwk');
  const settle = (register: ReturnType<typeof openRegister>, flags = {}) =>
    settleDevelopmentClient(configOf(flags), register, log);

  it('is registered at the first start, its key for its owner alone, and stays the same', async () => {
    const register = openRegister();
    await settle(register);
    const [client] = await register.list();
    expect(client).toMatchObject({ id: DEVELOPMENT_CLIENT, scope: 'system/*.cruds', enabled: true });
    expect(JSON.stringify(client)).not.toContain('"d"');
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const text = readFileSync(file(), 'utf8');
    await settle(register);
    expect([await register.list(), readFileSync(file(), 'utf8')]).toEqual([[client], text]);
    expect(notes).toEqual([
      expect.stringContaining(`is registered, with all scopes of data (system/*.cruds); its key is ${file()}`),
    ]);
  });

  it('of processes that start at once has one key', async () => {
    const register = openRegister();
    await Promise.all(Array.from({ length: 8 }, () => settle(register)));
    const [client] = await register.list();
    const { x } = JSON.parse(readFileSync(file(), 'utf8')) as { x: string };
    expect(client?.jwks?.keys).toMatchObject([{ x }]);
  });

  it('has the key in the file, whichever that is', async () => {
    const register = openRegister();
    await settle(register);
    rmSync(file());
    await settle(register);
    const { x } = JSON.parse(readFileSync(file(), 'utf8')) as { x: string };
    expect((await register.list())[0]?.jwks?.keys).toMatchObject([{ x }]);
    // As where the file of a store was restored in another folder.
    expect(notes.slice(1)).toEqual([expect.stringContaining(`has another key, which is ${file()}`)]);
  });

  it.each(['{}', 'no JSON', JSON.stringify({ kty: 'oct', k: 'c2VjcmV0', kid: 'k' })])(
    'is not made of a file that holds %s, and nothing of that is told',
    async (text) => {
      writeFileSync(file(), text);
      await expect(settle(openRegister())).rejects.toThrow(/dev-client.jwk is not the key .* delete it/);
      await expect(settle(openRegister())).rejects.not.toThrow('c2VjcmV0');
    },
  );

  it.each([...EXPOSING, { store: 'mongodb://h/x' }, { store: 'sqlite::memory:' }, { 'auth-external-mode': 'jwks' }])(
    'is disabled as soon as there is %j, and stays so',
    async (flags) => {
      const register = openRegister();
      await settle(register);
      notes = [];
      await settle(register, flags);
      expect((await register.list())[0]?.enabled).toBe(false);
      expect(notes[0]).toContain('the development client is disabled: ');
      await settle(register);
      expect((await register.list())[0]?.enabled).toBe(false);
      expect(notes[1]).toContain('kiln client enable --id dev-client');
    },
  );

  it.each(EXPOSING)('is not registered with %j', async (flags) => {
    const register = openRegister();
    await settle(register, flags);
    expect([await register.list(), existsSync(file())]).toEqual([[], false]);
  });
});

describe('clients of the configuration', () => {
  const keys = async () => {
    const { kty, crv, x, y, kid } = await generateKey('ES384');
    return { keys: [{ kty, crv, x, y, kid }] } as unknown as JsonObject;
  };
  const note = (text: string) => void notes.push(text);
  const clientsOf = (...clients: JsonObject[]) => configOf({}, { KILN_CLIENTS: JSON.stringify(clients) });

  it('are registered, and anew at each start', async () => {
    const registration = open();
    const { register } = registration;
    const jwks = await keys();
    await registerConfigured(clientsOf({ id: 'lab', scope: 'system/Patient.rs', jwks }), registration, note);
    await registerConfigured(
      clientsOf({ id: 'lab', scope: 'system/Patient.r', jwks, lifetime: 60 }),
      registration,
      note,
    );
    expect(await register.list()).toEqual([
      { id: 'lab', scope: 'system/Patient.r', jwks, lifetime: 60, enabled: true, registration: expect.any(String) },
    ]);
  });

  it('whom a command disabled stay so, unless the configuration says otherwise', async () => {
    const registration = open();
    const { register } = registration;
    const lab = { id: 'lab', scope: 'system/Patient.rs', jwks: await keys() };
    const isEnabled = async () => (await register.list())[0]?.enabled;
    await registerConfigured(clientsOf(lab), registration, note);
    await register.disable('lab');
    await registerConfigured(clientsOf(lab), registration, note);
    expect(await isEnabled()).toBe(false);
    await registerConfigured(clientsOf({ ...lab, enabled: true }), registration, note);
    expect(await isEnabled()).toBe(true);
    await registerConfigured(clientsOf({ ...lab, enabled: false }), registration, note);
    expect(await isEnabled()).toBe(false);
  });

  it('are registered with what means something, and the rest is told', async () => {
    const registration = open();
    const scope = 'system/Patient.rs system/Patiend.rs';
    await registerConfigured(clientsOf({ id: 'lab', scope, jwks: await keys() }), registration, note);
    expect(await registration.register.find('lab')).toMatchObject({ scope });
    expect(notes).toEqual([
      'clients: "lab": of its scope system/Patiend.rs names no resource type; did you mean Patient?',
    ]);
  });

  it('are refused by name: private keys, twins, and the place of the development client', async () => {
    const registration = open();
    const jwks = await keys();
    const lab = { id: 'lab', scope: 'system/Patient.rs', jwks };
    const own = { keys: [{ ...(await generateKey('ES384')) }] } as unknown as JsonObject;
    await expect(registerConfigured(clientsOf({ ...lab, jwks: own }), registration, note)).rejects.toThrow(
      'clients: "lab": Key 1 of the JWKS holds a private member',
    );
    await expect(registerConfigured(clientsOf(lab, lab), registration, note)).rejects.toThrow(
      'clients: "lab" is taken',
    );
    await expect(registerConfigured(clientsOf({ ...lab, id: 'dev-client' }), registration, note)).rejects.toThrow(
      'is taken',
    );
    await expect(registerConfigured(clientsOf({ ...lab, scope: 'x' }), registration, note)).rejects.toThrow(
      'clients: "lab": Nothing in the scope of the client could be granted: x does not begin with system/',
    );
  });
});
