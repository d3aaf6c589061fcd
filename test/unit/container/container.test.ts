import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { checkTransport } from '../../../runtime/config/check-transport.js';
import { checkExposure } from '../../../runtime/config/exposure.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import { createProxies } from '../../../runtime/http/transport/client-address.js';

const root = new URL('../../..', import.meta.url).pathname;
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const dockerfile = read('Dockerfile');
const compose = read('compose.yaml');

/** The arguments of each instruction of a kind, lines that go on joined. */
function instructions(name: string): string[] {
  const lines = dockerfile.replace(/\\\n/g, ' ').split('\n');
  return lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1).trim());
}

/** `KILN_…` variables of a text, with their values. */
function variables(text: string, pair: RegExp): Record<string, string> {
  return Object.fromEntries([...text.matchAll(pair)].map(([, name = '', value = '']) => [name, value]));
}

const imageEnvironment = variables(dockerfile, /(KILN_[A-Z_]+)=(\S+)/g);

/** One service of compose.yaml: what is indented below its name. */
function service(name: string): string {
  const [, text] = new RegExp(`\\n  ${name}:\\n((?:    .*\\n|\\n)+)`).exec(compose) ?? [];
  if (text === undefined) throw new Error(`no service ${name}`);
  return text;
}

describe('Dockerfile', () => {
  it('has two stages, of which the second runs as a user of its own, without what only builds', () => {
    const stages = dockerfile.split(/^FROM /m).slice(1);
    expect(stages).toHaveLength(2);
    expect(stages[1]).toMatch(/^USER node$/m);
    expect(stages[1]).not.toMatch(/npm|apt-get|COPY \. /);
    expect(stages[0]).toContain('npm prune --omit=dev');
    const [major] = /\d+/.exec(read('.nvmrc')) ?? [];
    for (const stage of stages) expect(stage).toMatch(new RegExp(`^node:${major}-`));
  });

  it('names scripts and files that there are, and that are sent to the build', () => {
    const { scripts, bin } = JSON.parse(read('package.json')) as Record<'scripts' | 'bin', Record<string, string>>;
    for (const [, script = ''] of dockerfile.matchAll(/npm run (\S+)/g)) expect(scripts).toHaveProperty(script);
    expect(dockerfile).toContain(`/kiln/${bin['kiln']} /usr/local/bin/kiln`);
    const sent = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    for (const line of sent) expect(existsSync(join(root, line.slice(1))), line).toBe(true);
    const built = new Set(['dist', 'node_modules']);
    for (const copy of instructions('COPY')) {
      const sources = copy
        .split(' ')
        .filter((word) => !word.startsWith('--'))
        .slice(0, -1);
      for (const source of sources.map((each) => each.replace('/kiln/', ''))) {
        if (source === '.' || built.has(source)) continue;
        expect(existsSync(join(root, source)), source).toBe(true);
        expect(
          sent.some((line) => `${source}/`.startsWith(`${line.slice(1)}/`)),
          source,
        ).toBe(true);
      }
    }
    expect(read('tsconfig.build.json')).toContain('"include": ["generator", "runtime", "generated"]');
  });

  it('by itself refuses to serve, and says what is missing', () => {
    const { config } = readConfig({}, { ...imageEnvironment, KILN_BASE_URL: 'https://fhir.example' });
    expect(() => checkTransport(config)).toThrow('--tls-cert and --tls-key, or, behind a proxy with TLS');
  });
});

describe('compose.yaml', () => {
  const given = variables(service('kiln'), /^ {6}(KILN_[A-Z_]+): (.+)$/gm);
  const environment = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value.replace(/\$\{\w+:-(\w+)\}/g, '$1')]),
  );

  it('gives Kiln settings that go together, with authorization', () => {
    const { config } = readConfig({}, { ...imageEnvironment, ...environment });
    expect(() => checkExposure(config)).not.toThrow();
    expect(() => checkTransport(config)).not.toThrow();
    expect([config.auth, config['base-url']]).toEqual(['smart', 'https://localhost']);
  });

  it('has Kiln trust its proxy alone, which alone can be reached', () => {
    const [, address = ''] = /ipv4_address: (\S+)/.exec(service('proxy')) ?? [];
    const { config } = readConfig({}, { ...imageEnvironment, ...environment });
    const proxies = createProxies(config['proxy.trust']);
    const isPeer = (remoteAddress: string) => proxies.isPeer({ socket: { remoteAddress }, headers: {} } as never);
    expect([isPeer(address), isPeer(address.replace(/\d+$/, '3'))]).toEqual([true, false]);
    for (const name of ['kiln', 'mongo', 'mongo-init']) expect(service(name)).not.toContain('ports:');
    expect(compose).toContain(`reverse_proxy kiln:${readConfig({}, {}).config.port}`);
  });

  it('starts Kiln when there is a replica set', () => {
    expect(service('kiln')).toMatch(/mongo-init:\n +condition: service_completed_successfully/);
    expect(service('mongo')).toContain("'--replSet', 'rs0'");
    expect(service('mongo-init')).toContain("rs.initiate({ _id: 'rs0'");
    expect(environment['KILN_STORE']).toBe('mongodb://mongo/kiln?replicaSet=rs0');
  });
});

describe('the health check', () => {
  const check = (env: Record<string, string>): Promise<number | null> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [join(root, 'scripts/container-health.mjs')], { env });
      child.once('exit', resolve);
    });

  it('is 0 where the server is ready, and 1 where it is not, or is not there', async () => {
    expect(instructions('HEALTHCHECK')[0]).toMatch(/CMD \["node", "\/kiln\/scripts\/container-health\.mjs"\]$/);
    let status = 200;
    const server = createServer((req, res) => res.writeHead(req.url === '/health/ready' ? status : 404).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const env = { KILN_PORT: String((server.address() as AddressInfo).port) };
    expect(await check(env)).toBe(0);
    status = 503;
    expect(await check(env)).toBe(1);
    expect(await check({ ...env, KILN_TLS_CERT: '/cert.pem' })).toBe(1);
    await new Promise((resolve) => server.close(resolve));
    expect(await check(env)).toBe(1);
  });
});
