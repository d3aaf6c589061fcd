import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { checkTls } from '../../../runtime/doctor/check-tls.js';
import { judgeSpace } from '../../../runtime/doctor/check-machine.js';
import { judgeServers } from '../../../runtime/doctor/check-mongo.js';
import { runProgram } from '../../../runtime/cli/program.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../../runtime/store/store.js';
import { NOTHING_SENT, SubscriptionRows } from '../../../runtime/subscriptions/engine/rows.js';
import { put } from '../../contract/subject.js';
import { makeCertificate } from '../http/make-certificate.js';

const folder = mkdtempSync(join(tmpdir(), 'kiln-doctor-'));
afterAll(() => rmSync(folder, { recursive: true }));
const SOUND = join(folder, 'sound.db');
const DAY = 86_400_000;
const GIB = 1024 ** 3;

async function doctor(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runProgram(['doctor', ...args], {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    env: {},
  });
  return { code, out, faults: out.filter((line) => line.startsWith('FAULT')), err };
}

/** Makes a store of its own with a resource in it, in a file that is closed to others. */
async function makeStore(name: string, now?: () => number, more?: (store: Store) => Promise<unknown>): Promise<string> {
  const file = join(folder, name);
  const store = openSqliteStore(`sqlite:${file}`, now === undefined ? {} : { now });
  await store.write([put('a', 0)]);
  await more?.(store);
  await store.close();
  chmodSync(file, 0o600);
  return file;
}

describe('kiln doctor', () => {
  beforeAll(async () => {
    await doctorMakes(SOUND);
  });

  it('finds nothing in what is sound', async () => {
    const { code, faults, out } = await doctor('--store', `sqlite:${SOUND}`);
    expect({ code, faults }).toEqual({ code: 0, faults: [] });
    for (const check of [
      'config',
      'files',
      'tls',
      'base-url',
      'disk',
      'store',
      'clock',
      'index',
      'jobs',
      'subscriptions',
    ])
      expect(out.join('\n')).toMatch(new RegExp(`^(ok|WARN) +${check} `, 'm'));
  });

  const FAULTS: Record<string, { readonly args: () => Promise<string[]>; readonly says: RegExp }> = {
    'settings that do not go together': {
      args: () => Promise.resolve(['--store', `sqlite:${SOUND}`, '--auth', 'open', '--host', '0.0.0.0']),
      says: /config .*without authorization/,
    },
    'a store that is not there': {
      args: () => Promise.resolve(['--store', `sqlite:${join(folder, 'none.db')}`]),
      says: /store .*there is no store/,
    },
    'a file that is no store': {
      args: () => {
        const file = join(folder, 'text.db');
        writeFileSync(file, 'no database', { mode: 0o600 });
        return Promise.resolve(['--store', `sqlite:${file}`]);
      },
      says: /store .*mend this first/,
    },
    'a store that others may read': {
      args: async () => {
        const file = await makeStore('open.db');
        chmodSync(file, 0o644);
        return ['--store', `sqlite:${file}`];
      },
      says: /files .*others may read the store .*chmod 600/,
    },
    'the key of the development client that others may read': {
      args: async () => {
        const own = mkdtempSync(join(folder, 'own-'));
        const file = await doctorMakes(join(own, 'kiln.db'));
        writeFileSync(join(own, 'dev-client.jwk'), '{}', { mode: 0o644 });
        return ['--store', `sqlite:${file}`];
      },
      says: /files .*others may read the key of the development client/,
    },
    'a private key that others may write': {
      args: () => {
        const { cert, key } = makeCertificate('ec');
        const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
        writeFileSync(certFile, cert);
        writeFileSync(keyFile, key);
        chmodSync(keyFile, 0o666);
        return Promise.resolve(['--store', `sqlite:${SOUND}`, '--tls-cert', certFile, '--tls-key', keyFile]);
      },
      says: /files .*others may write the private key/,
    },
    'data from the future': {
      args: async () => ['--store', `sqlite:${await makeStore('future.db', () => Date.now() + 3_600_000)}`],
      says: /clock .*1 version in the store is later/,
    },
    'index entries of other definitions': {
      args: async () => ['--store', `sqlite:${await makeStore('stale.db')}`],
      says: /index .*were made by other definitions/,
    },
    'a job that no process works on': {
      args: async () => {
        const job = {
          ...{ id: 'j1', type: 'export', state: 'in-progress', input: {}, owner: { clientId: 'c' } },
          ...{ created: 0, failures: 0, run: 1, progress: { done: 0, unit: 'resources' } },
          lease: { holder: 'dead', until: 1 },
        };
        const file = await doctorMakes(join(folder, 'stuck.db'), (store) =>
          store.maps.swap('job', 'j1', undefined, JSON.stringify(job)),
        );
        return ['--store', `sqlite:${file}`];
      },
      says: /jobs .*job j1 \(export, in-progress\).*kiln jobs --cancel j1/,
    },
    'a Subscription in error': {
      args: async () => {
        const row = { born: 1, version: 1, owner: { clientId: '', granted: 0 }, number: 3, isLive: true };
        const file = await doctorMakes(join(folder, 'failing.db'), async (store) => {
          const rows = new SubscriptionRows(store.maps);
          await rows.save([rows.rowStep('s1', undefined, row)]);
          const errors = [{ code: 'no-response', text: 'the receiver answered with 500', at: 0 }];
          await rows.saveSent('s1', row, await rows.sent('s1', row), { ...NOTHING_SENT, errors });
        });
        return ['--store', `sqlite:${file}`];
      },
      says: /subscriptions .*Subscription\/s1 .*answered with 500.*retry s1/,
    },
    'a base URL that leads elsewhere': {
      args: async () => {
        const other = createServer((_req, res) => res.end('{"token_endpoint":"https://other.example/token"}'));
        await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
        afterAll(() => void other.close());
        const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
        return ['--store', `sqlite:${SOUND}`, '--base-url', url];
      },
      says: /base-url .*another token endpoint: https:\/\/other\.example\/token/,
    },
  };

  it.each(Object.entries(FAULTS))('finds %s', async (_name, { args, says }) => {
    const { code, faults, err } = await doctor(...(await args()));
    expect({ code, err }).toEqual({ code: 1, err: [] });
    expect(faults.join('\n')).toMatch(says);
  });

  it('says that a memory store has nothing to look at', async () => {
    expect(await doctor('--store', 'sqlite::memory:')).toMatchObject({ code: 2 });
  });

  it('says how much room is left', () => {
    expect(judgeSpace(500 * GIB, GIB).level).toBe('fine');
    expect(judgeSpace(2 * GIB, 3 * GIB).level).toBe('warning');
    expect(judgeSpace(1e6, GIB).level).toBe('fault');
  });

  it('judges certificates: names, chain and how long they are good', () => {
    const one = makeCertificate('ec');
    const other = makeCertificate('ec', '-subj', '/CN=other');
    const check = (cert: string, now = Date.now(), root = 'https://localhost:1') => {
      const [certFile, keyFile] = [join(folder, 'c.pem'), join(folder, 'k.pem')];
      writeFileSync(certFile, cert);
      writeFileSync(keyFile, one.key);
      const { config } = readConfig({ 'tls-cert': certFile, 'tls-key': keyFile, 'base-url': root }, {});
      return checkTls(config, now).map(({ level, text }) => `${level}: ${text}`);
    };
    expect(check(one.cert)).toEqual(['warning: the certificates are good for 1 more days']);
    expect(check(one.cert, Date.now() + 3 * DAY)[0]).toMatch(/^fault: the certificate has expired/);
    expect(check(one.cert, Date.now(), 'https://fhir.example.org')[0]).toMatch(/^fault: .*not for fhir\.example\.org/);
    expect(check(one.cert + other.cert)[0]).toMatch(/^fault: certificate 2 of the file/);
  });

  it('judges the servers of MongoDB', () => {
    const member = (name: string, state: string, more: object = {}) => ({ name, state, isUp: true, lag: 0, ...more });
    const three = [member('a', 'PRIMARY'), member('b', 'SECONDARY'), member('c', 'SECONDARY')];
    const sound = { skew: 3, members: three, isJournaled: true, cache: { size: 4 * GIB, dirty: 0 }, refused: [] };
    const told = (more: object) => judgeServers({ ...sound, ...more }).map(({ level, text }) => `${level}: ${text}`);
    expect(told({})).toEqual(['fine: 3 servers, all well']);
    expect(told({ skew: -9000 })).toEqual([expect.stringMatching(/^fault: the clock of the primary .* -9\.0 s/)]);
    expect(told({ isJournaled: false })).toEqual([expect.stringMatching(/^fault: .*before they are in the journal/)]);
    expect(told({ cache: { size: GIB / 4, dirty: GIB / 8 } })).toEqual([
      'warning: the cache has 0.25 GiB',
      'fault: 50 % of the cache waits to be written',
    ]);
    const members = [three[0], member('b', '(not reachable/healthy)', { isUp: false }), member('c', 'RECOVERING')];
    expect(told({ members })).toEqual(['fault: b does not answer', 'fault: c is RECOVERING']);
    expect(told({ members: [three[0], member('b', 'SECONDARY', { lag: 60_000 }), member('c', 'ARBITER')] })).toEqual([
      'fault: b is 60 s behind the primary',
      expect.stringMatching(/^warning: the set has an arbiter/),
    ]);
    expect(told({ members: undefined, refused: ['serverStatus'] })).toEqual([
      'unknown: the user may not ask for serverStatus',
    ]);
  });

  /** Makes a store by the command line, whose index entries are those of the definitions. */
  async function doctorMakes(file: string, more?: (store: Store) => Promise<unknown>): Promise<string> {
    const data = join(folder, 'data.ndjson');
    writeFileSync(data, '{"resourceType":"Patient","id":"a"}\n');
    const quiet = { out: () => {}, err: () => {}, env: {} };
    expect(await runProgram(['load', data, '--store', `sqlite:${file}`], quiet)).toBe(0);
    const store = openSqliteStore(`sqlite:${file}`);
    await more?.(store);
    await store.close();
    chmodSync(file, 0o600);
    return file;
  }
});
