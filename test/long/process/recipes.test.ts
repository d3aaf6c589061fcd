import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { command, freePort, makeClientFolder } from '../../service/auth.js';
import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { makeCertificate } from '../../unit/http/make-certificate.js';

const root = new URL('../../..', import.meta.url).pathname;
const example = (name: string): string => readFileSync(join(root, 'examples/deploy', name), 'utf8');

/** A proxy, the file of examples/deploy that a test runs, and how it is started. */
interface Recipe {
  readonly program: string;
  /** Where its program is; its variable is for one that is not installed. */
  readonly binary: string;
  /** The arguments, once its files are there. */
  prepare(folder: string, ports: { readonly proxy: number; readonly kiln: number }): readonly string[];
}

const RECIPES: readonly Recipe[] = [
  {
    program: 'nginx',
    binary: process.env['KILN_TEST_NGINX'] ?? 'nginx',
    prepare(folder, ports) {
      const site = example('nginx/kiln.conf')
        .replace('127.0.0.1:8080', `127.0.0.1:${ports.kiln}`)
        .replace('listen 443 ssl', `listen 127.0.0.1:${ports.proxy} ssl`)
        .replace('server_name fhir.example.org', 'server_name localhost')
        .replace(/\/etc\/letsencrypt\/live\/fhir\.example\.org\/fullchain/, join(folder, 'cert'))
        .replace(/\/etc\/letsencrypt\/live\/fhir\.example\.org\/privkey/, join(folder, 'key'));
      const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${join(folder, name)};`,
      );
      writeFileSync(
        join(folder, 'nginx.conf'),
        `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {} http { access_log off; ${places.join(' ')} ${site} }`,
      );
      return ['-p', folder, '-c', join(folder, 'nginx.conf')];
    },
  },
  {
    program: 'caddy',
    binary: process.env['KILN_TEST_CADDY'] ?? 'caddy',
    prepare(folder, ports) {
      const site = example('caddy/Caddyfile')
        .replace('127.0.0.1:8080', `127.0.0.1:${ports.kiln}`)
        .replace(
          /^fhir\.example\.org \{/m,
          `{\n\tadmin off\n\tauto_https disable_redirects\n}\nhttps://localhost:${ports.proxy} {\n\ttls ${folder}/cert.pem ${folder}/key.pem`,
        );
      writeFileSync(join(folder, 'Caddyfile'), site);
      return ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
    },
  },
];

const isThere = (binary: string, ...args: string[]): boolean =>
  spawnSync(binary, args, { stdio: 'ignore' }).status === 0;

/** A request over TLS that trusts one certificate. */
function ask(url: string, ca: string, method: string, headers: Record<string, string>, body?: string) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(url, { method, headers, ca }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end(body);
  });
}

for (const recipe of RECIPES) {
  const installed = isThere(recipe.binary, recipe.program === 'nginx' ? '-v' : 'version');
  if (!installed) {
    process.stderr.write(
      `NOT TESTED: examples/deploy/${recipe.program}. It is not installed, and KILN_TEST_${recipe.program.toUpperCase()} names none.\n`,
    );
  }
  describe.skipIf(!installed)(`Kiln behind ${recipe.program}`, () => {
    const folder = mkdtempSync(join(tmpdir(), `kiln-${recipe.program}-`));
    const made = makeCertificate('ec');
    let proxy: ChildProcess;
    let kiln: KilnProcess;
    let base: string;
    let token: string;
    let startServer: () => Promise<void>;

    beforeAll(async () => {
      const ports = { proxy: await freePort(), kiln: await freePort() };
      const url = `https://localhost:${ports.proxy}`;
      base = `${url}/fhir`;
      writeFileSync(join(folder, 'cert.pem'), made.cert);
      writeFileSync(join(folder, 'key.pem'), made.key);
      mkdirSync(join(folder, 'data'));
      const store = `sqlite:${join(folder, 'data/kiln.db')}`;
      const client = await makeClientFolder();
      await command(
        'client',
        'add',
        '--id',
        'lab',
        '--scope',
        'system/*.cruds',
        '--jwks',
        client.jwks,
        '--store',
        store,
      );
      startServer = async () => {
        const trust = ['--base-url', url, '--proxy-trust', '127.0.0.1', '--log-level', 'error'];
        const env = { KILN_AUTH: 'smart' };
        kiln = startKiln(['serve', '--port', String(ports.kiln), '--store', store, ...trust], 'sources', env);
        await kiln.started;
      };
      await startServer();
      proxy = spawn(recipe.binary, recipe.prepare(folder, ports), {
        env: { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
        stdio: ['ignore', 'inherit', 'pipe'],
      });
      let errors = '';
      proxy.stderr!.on('data', (chunk) => (errors += String(chunk)));
      const isUp = async (): Promise<boolean> => {
        const answer = await ask(`${base}/metadata`, made.cert, 'GET', {}).catch(() => undefined);
        return answer?.status === 200;
      };
      for (let tries = 0; !(await isUp()); tries++, await sleep(100)) {
        if (tries > 300) throw new Error(`${recipe.program} does not answer: ${errors}`);
      }
      const asked = startKiln(['token', '--client', 'lab', '--key', client.key, '--url', base], 'sources', {
        KILN_AUTH: 'smart',
        NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem'),
      });
      expect([await asked.ended, asked.output.err]).toEqual([0, '']);
      token = asked.output.out.trim();
      rmSync(client.folder, { recursive: true });
    });
    afterAll(async () => {
      proxy?.kill('SIGTERM');
      kiln?.child.kill('SIGTERM');
      await kiln?.ended;
      rmSync(folder, { recursive: true });
    });

    const send = (method: string, path: string, body?: object, more: Record<string, string> = {}) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json', ...more };
      return ask(base + path, made.cert, method, headers, body && JSON.stringify(body));
    };

    it('has links and tokens of the base URL, and takes bodies of any size that Kiln takes', async () => {
      for (const id of ['a', 'b']) {
        const put = await send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id, active: true });
        expect([put.status, put.text]).toEqual([201, expect.stringContaining('"versionId"')]);
      }
      const page = JSON.parse((await send('GET', '/Patient?_count=1&_sort=_id')).text);
      const next: string = page.link.find(({ relation }: { relation: string }) => relation === 'next').url;
      expect(next.startsWith(`${base}/`)).toBe(true);
      expect(JSON.parse((await send('GET', next.slice(base.length))).text).entry[0].resource.id).toBe('b');
      expect(page.entry[0].fullUrl).toBe(`${base}/Patient/a`);
      expect((await ask(`${base}/Patient/a`, made.cert, 'GET', {})).status).toBe(401);
      const data = Buffer.alloc(5_000_000, 7).toString('base64');
      const binary = { resourceType: 'Binary', contentType: 'application/octet-stream', data };
      expect((await send('POST', '/Binary', binary)).status).toBe(201);
    });

    it('does not take an address from a client', async () => {
      const spoofed = { 'x-forwarded-for': '6.6.6.6', forwarded: 'for=7.7.7.7' };
      expect((await send('GET', '/Patient/a', undefined, spoofed)).status).toBe(200);
      const audit = () => readFileSync(join(folder, 'data/audit.ndjson'), 'utf8');
      await expect.poll(audit, { timeout: 10_000 }).toContain('127.0.0.1');
      await sleep(1500);
      expect(audit()).not.toMatch(/6\.6\.6\.6|7\.7\.7\.7/);
    });

    it('goes on after Kiln was restarted', async () => {
      kiln.child.kill('SIGTERM');
      expect(await kiln.ended).toBe(0);
      expect([502, 503]).toContain((await send('GET', '/Patient/a')).status);
      await startServer();
      await expect.poll(() => send('GET', '/Patient/a').then(({ status }) => status), { timeout: 30_000 }).toBe(200);
    });
  });
}

const ANALYZE = 'systemd-analyze';
const hasAnalyze = isThere(ANALYZE, '--version');
if (!hasAnalyze) process.stderr.write('NOT TESTED: examples/deploy/systemd. There is no systemd-analyze.\n');

describe.skipIf(!hasAnalyze)('the systemd unit', () => {
  it('is one that systemd-analyze verifies', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kiln-unit-'));
    try {
      const unit = join(folder, 'kiln.service');
      // Its program need not be installed here.
      writeFileSync(unit, example('systemd/kiln.service').replace('/usr/bin/node', process.execPath));
      const out = execFileSync(ANALYZE, ['verify', '--man=no', unit], { encoding: 'utf8', stdio: 'pipe' });
      expect(out).toBe('');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
