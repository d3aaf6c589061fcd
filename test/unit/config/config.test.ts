import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { ConfigError } from '../../../runtime/config/config-error.js';
import { limitsOf } from '../../../runtime/config/limits.js';
import { printConfig } from '../../../runtime/config/print-config.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import type { JsonValue } from '../../../runtime/fhir/resource.js';
import { ALL_SETTINGS, LATER, optionOf, SETTINGS, variableOf } from '../../../runtime/config/settings.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';

describe('configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-config-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (content: unknown): string => {
    const path = join(folder, 'kiln.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  it('has defaults', () => {
    const { config } = readConfig({}, { HOME: '/', KILN_AUTH: '' });
    expect(config).toMatchObject({ port: 8080, host: '127.0.0.1', store: 'sqlite:./data/kiln.db', auth: 'smart' });
    expect(limitsOf(config)).toMatchObject(DEFAULT_LIMITS);
  });

  it('takes the command line before the environment before the file before the defaults', () => {
    const config = file({
      port: 1,
      host: '::1',
      auth: { mode: 'open' },
      limits: { body: '1 MB', bundle: { entries: 7 } },
    });
    const env = { KILN_PORT: '2', KILN_LIMITS_BODY: '2MB', KILN_CONFIG: '/nowhere' };
    const read = readConfig({ config, port: '3', 'limits-resource': '1.5 MB' }, env);
    expect(read.config).toMatchObject({
      port: 3,
      host: '::1',
      'limits.body': 2 * 1024 * 1024,
      'limits.resource': 1.5 * 1024 * 1024,
      'limits.bundle.entries': 7,
    });
    expect(Object.fromEntries(read.origins.map(({ key, source }) => [key, source]))).toMatchObject({
      port: '--port',
      host: `host in ${config}`,
      'limits.body': 'KILN_LIMITS_BODY',
      'limits.resource': '--limits-resource',
      'limits.bundle.entries': `limits.bundle.entries in ${config}`,
      'limits.url': undefined,
    });
  });

  it('takes keys with dots as objects in objects, but not both', () => {
    const twice = { 'limits.url': 300, limits: { url: 400 } };
    expect(readConfig({ config: file({ 'limits.url': 300 }) }, {}).config['limits.url']).toBe(300);
    expect(() => readConfig({ config: file(twice) }, {})).toThrow('limits.url appears twice');
  });

  it('gives every setting one option and one variable', () => {
    for (const name of [optionOf, variableOf]) {
      const names = [...ALL_SETTINGS.keys(), ...LATER].map(name);
      expect(new Set(names).size).toBe(names.length);
    }
    expect(variableOf('limits.bodyIdleTime')).toBe('KILN_LIMITS_BODY_IDLE_TIME');
    for (const setting of Object.values(SETTINGS)) {
      if (setting.initial !== undefined) expect(setting.parse(setting.initial as JsonValue)).toEqual(setting.initial);
    }
  });

  it('takes true and false as they are in JSON, and as they are typed', () => {
    const { parse } = SETTINGS['delete.multiple'];
    expect([true, 'true', false, 'false'].map(parse)).toEqual([true, true, false, false]);
  });

  it.each([
    [{ port: 'x' }, {}, '--port "x": has to be a number from 0 to 65535'],
    [{ port: '65536' }, {}, '--port "65536": '],
    [{ port: '-1' }, {}, '--port "-1": '],
    [{}, { KILN_PORT: '80.5' }, 'KILN_PORT "80.5": '],
    [{ host: '[localhost]' }, {}, '--host "[localhost]": has to be an address'],
    [{ auth: 'none' }, {}, '--auth "none": has to be smart or open'],
    [{ auth: 'constructor' }, {}, '--auth "constructor": has to be smart or open'],
    [{ 'base-url': 'example.org' }, {}, 'has to be a URL such as https://fhir.example.org'],
    [{ 'base-url': 'https://u:p@example.org' }, {}, 'without user, query and fragment'],
    [{ 'base-url': 'https://example.org/?x' }, {}, 'without user, query and fragment'],
    [{ 'base-url': 'http://example.org' }, {}, 'has to be https: tokens travel there'],
    [{ 'base-url': 'https://example.org/fhir/' }, {}, 'FHIR is below it: https://example.org'],
    [{ 'auth-lifetime': '301 s' }, {}, '--auth-lifetime "301 s": has to be a time from 1 s to 5 min'],
    [{ 'auth-algorithms': 'none' }, {}, '--auth-algorithms "none": has to be some of RS256'],
    [{ 'auth-algorithms': 'ES384,HS256' }, {}, 'has to be some of RS256'],
    [{ 'auth-algorithms': '' }, {}, 'has to be some of RS256'],
    [{}, { KILN_CLIENTS: '{"id":"x"}' }, 'KILN_CLIENTS "…": has to be a list of objects'],
    [{}, { KILN_CLIENTS: '[' }, 'has to be a list of objects'],
    [{ 'auth-external-scopes': '{"a":1}' }, {}, 'has to be an object of texts'],
    [{ 'auth-external-issuer': 'http://as.example' }, {}, 'has to be an https URL'],
    [{ 'log-level': 'loud' }, {}, 'has to be debug, info, warn, error or silent'],
    [{ 'delete-multiple': 'yes' }, {}, '--delete-multiple "yes": has to be true or false'],
    [{ store: 'mongo://u:s3cr@t@h/x' }, {}, '--store "mongo://u:***@h/x": has to be sqlite:PATH'],
    [{ store: 'mongodb://h', 'limits-resource': '16MB' }, {}, 'limits.resource 16 MB: with MongoDB at most 15 MB'],
    [{ store: 'kiln.db' }, {}, '--store "kiln.db": '],
    [{ store: 'sqlite:' }, {}, '--store "sqlite:": '],
    [{ 'limits.body': '1 MB' }, {}, '--limits.body: there is no such setting; did you mean limits-body?'],
    [{ 'limits-body': '1 TB' }, {}, '--limits-body "1 TB": has to be a size from 1 kB to 512 MB, such as 50 MB'],
    [{ 'limits-body': '0' }, {}, '--limits-body "0": '],
    [{ 'limits-query-time': 'soon' }, {}, 'has to be a time from 10 ms to 1 h, such as 10 s'],
    [{ 'tls-hsts': 'yes' }, {}, '--tls-hsts "yes": has to be true or false'],
    [{ zone: 'UTC' }, {}, '--zone "UTC": this setting is not available yet'],
    [{ 'integrity-paths': '{"Basic":"some"}' }, {}, 'has to be an object of modes'],
    [{}, { KILN_AUTH_EXTERNAL_MODE: 'a' }, 'KILN_AUTH_EXTERNAL_MODE "a": has to be jwks or introspection'],
    [{}, { KILN_PROT: '1' }, 'KILN_PROT: there is no such setting; did you mean KILN_PORT?'],
    [{}, { KILN_LIMIT_BODY: '1' }, 'did you mean KILN_LIMITS_BODY?'],
    // Was Node's own text.
    [{ config: '/nowhere/kiln.json' }, {}, '--config "/nowhere/kiln.json": there is no such file'],
    [{}, { KILN_CONFIG: '/' }, 'KILN_CONFIG "/": that is a folder, not a file'],
  ])('refuses %j %j in one line that names key and value', (flags, env, message) => {
    const read = () => readConfig(flags as Record<string, string>, env as Record<string, string>);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(message);
    expect(read).not.toThrow('\n');
  });

  it.each([
    [{ limits: { body: true } }, 'limits.body true in '],
    [{ limits: { boddy: 1 } }, 'there is no such setting; did you mean limits.body?'],
    [{ limit: { body: 1 } }, 'did you mean limits.body?'],
    [{ xyzzy: 1 }, /xyzzy in .*kiln.json: there is no such setting$/],
    [{ port: { x: 1 } }, 'port.x in '],
    [{ limits: 5 }, 'limits in '],
    [{ search: { handling: 'loose' } }, 'search.handling "loose" in '],
    [{ delete: { multiple: 1 } }, 'delete.multiple 1 in '],
    [{ zone: 'UTC' }, 'this setting is not available yet'],
    [{ integrity: 'some' }, 'integrity "some" in '],
    [{ auth: { external: { mode: 'saml' } } }, /auth.external.mode "saml" in .* has to be jwks or introspection/],
    [{ clients: { id: 'lab' } }, /^clients "…" in .*: has to be a list/],
    [
      { clients: [{ id: 'lab', jwks: 's3cret', keys: 1 }] },
      /^clients "…" in .*: has to be .*; \/0\/scope: is missing; \/0\/keys: is not known here; expected one of id, name/,
    ],
    [{ clients: ['s3cret'] }, /^clients "…" in .*: has to be a list of objects/],
    [{ cors: { origins: ['*'] } }, '"*" is no origin'],
    ['{"port":1,"port":2}', 'appears twice'],
    ['[]', 'has to be a JSON object'],
    ['port: 1', 'Line 1, column 1'],
  ])('refuses a file with %j', (content, message) => {
    const read = () => readConfig({ config: file(content) }, {});
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(message);
    expect(read).not.toThrow('\n');
  });

  it('takes what authorization is configured by, in a file and as text', () => {
    const clients = [{ id: 'lab', scope: 'system/Patient.rs', jwksUrl: 'https://lab.example/jwks' }];
    const external = { mode: 'jwks', issuer: 'https://as.example', scopes: { 'fhir.read': 'system/*.rs' } };
    const jwks = { allow: ['10.0.0.0/8', 'lab.example:8443'] };
    const given = {
      clients,
      auth: { mode: 'smart', lifetime: '60 s', jwks, external },
      'base-url': 'https://h.example/',
    };
    const { config, origins } = readConfig({ config: file(given) }, {});
    expect(config).toMatchObject({
      clients,
      auth: 'smart',
      'auth.lifetime': 60_000,
      'auth.jwks.allow': jwks.allow,
      'auth.external.mode': 'jwks',
      'auth.external.scopes': external.scopes,
      'base-url': 'https://h.example',
    });
    expect(printConfig(origins).join('\n')).toMatch(/^clients +lab +clients in /m);
    const env = { KILN_CLIENTS: JSON.stringify(clients), KILN_AUTH_JWKS_ALLOW: '10.0.0.0/8, lab.example:8443' };
    expect(readConfig({}, env).config).toMatchObject({ clients, 'auth.jwks.allow': jwks.allow });
  });

  it('leaves alone what Kubernetes sets for a service of that name', () => {
    const env = {
      KILN_SERVICE_HOST: '10.0.0.1',
      KILN_SERVICE_PORT: '80',
      KILN_SERVICE_PORT_HTTP: '80',
      KILN_PORT: 'tcp://10.0.0.1:80',
      KILN_PORT_80_TCP: 'tcp://10.0.0.1:80',
      KILN_PORT_80_TCP_ADDR: '10.0.0.1',
      KILN_PORT_80_TCP_PORT: '80',
      KILN_PORT_80_TCP_PROTO: 'tcp',
      // Of services named kiln-fhir-api and kiln-metrics, which is the name of a setting too.
      KILN_FHIR_API_SERVICE_HOST: '10.0.0.2',
      KILN_FHIR_API_SERVICE_PORT_HTTPS: '443',
      KILN_FHIR_API_PORT: 'tcp://10.0.0.2:443',
      KILN_FHIR_API_PORT_443_TCP_ADDR: '10.0.0.2',
      KILN_METRICS_PORT: 'tcp://10.0.0.3:9090',
      KILN_METRICS_PORT_9090_UDP: 'udp://10.0.0.3:9090',
    };
    const { config } = readConfig({}, env);
    expect([config.port, config['metrics-port']]).toEqual([8080, readConfig({}, {}).config['metrics-port']]);
    expect(readConfig({}, { ...env, KILN_PORT: '9000' }).config.port).toBe(9000);
  });

  it.each([
    ['KILN_PROT', '9000', 'KILN_PORT'],
    ['KILN_STOER', 'tcp://10.0.0.1:80', 'KILN_STORE'],
    ['KILN_PORT_80', '80', 'KILN_PORT'],
    ['KILN_SERVICE_HOTS', '10.0.0.1', 'there is no such setting'],
  ])('refuses what only looks like it, %s', (name, value, meant) => {
    expect(() => readConfig({}, { [name]: value })).toThrow(name);
    expect(() => readConfig({}, { [name]: value })).toThrow(meant);
  });

  it.each(['KILN_BASE_URL', 'KILN_AUTH_EXTERNAL_ISSUER'])('refuses a password in %s without repeating it', (name) => {
    const run = (): unknown => readConfig({}, { [name]: 'https://user:hunter2@example.org' });
    expect(run).toThrow('https://user:***@example.org');
    expect(run).not.toThrow('hunter2');
  });

  it('prints each value with its origin, secrets masked', () => {
    const { origins } = readConfig({ port: '1' }, { KILN_HOST: '::1' });
    const lines = printConfig([...origins, { key: 'store', source: '--store', value: 'mongodb://u:secret@h/db' }]);
    expect(lines[0]).toMatch(/^port +1 +--port$/);
    expect(lines[1]).toMatch(/^host +::1 +KILN_HOST$/);
    expect(lines.find((line) => line.startsWith('metrics-port'))).toMatch(/ off +default$/);
    expect(lines.at(-1)).toContain('mongodb://u:***@h/db');
    const value =
      'mongodb://h/db?tls=true&tlsCertificateKeyFilePassword=secret&authMechanismProperties=AWS_SESSION_TOKEN:secret';
    const [line] = printConfig([{ key: 'store', source: '--store', value }]);
    expect(line).toContain('tlsCertificateKeyFilePassword=***&authMechanismProperties=***');
  });
});
