import { describe, expect, it } from 'vitest';

import { ConfigError } from '../../../runtime/config/config-error.js';
import { checkExposure, rootOf, whyExposed } from '../../../runtime/config/exposure.js';
import { tokenCommand } from '../../../runtime/config/development.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import { EXPOSING } from './exposing.js';

const configOf = (flags: Record<string, string>) => readConfig(flags, {}).config;

describe('what opens a server to more than this machine', () => {
  it.each(['127.0.0.1', '127.9.9.9', '::1', '[::1]', 'localhost'])('is not --host %s', (host) => {
    expect(whyExposed(configOf({ host }))).toBeUndefined();
    expect(() => checkExposure(configOf({ host, auth: 'open' }))).not.toThrow();
  });

  it.each(EXPOSING)('is %j: open mode is refused in one line that names it', (flags) => {
    expect(whyExposed(configOf(flags))).toContain(`--${Object.keys(flags)[0]!}`);
    const check = () => checkExposure(configOf({ ...flags, auth: 'open' }));
    expect(check).toThrow(ConfigError);
    expect(check).toThrow(/^[^\n]+: without authorization \(--auth open\) only this machine is served, and directly$/);
  });

  it.each(EXPOSING)('is %j: pages keep no tokens there', (flags) =>
    expect(() => checkExposure(configOf({ ...flags, 'pages-keep-token': 'true' }))).toThrow(
      /: pages keep tokens \(--pages-keep-token\) only of a server for this machine alone$/,
    ),
  );

  it('on this machine alone pages may keep tokens', () =>
    expect(() => checkExposure(configOf({ 'pages-keep-token': 'true' }))).not.toThrow());

  it('with authorization it is allowed, where clients know the name', () => {
    const ofAll = { host: '0.0.0.0', auth: 'smart' };
    expect(() => checkExposure(configOf(ofAll))).toThrow('--base-url');
    expect(() => checkExposure(configOf({ ...ofAll, 'base-url': 'https://fhir.example.org' }))).not.toThrow();
  });
});

describe('the root under which clients know the server', () => {
  it.each([
    [{}, 'http://127.0.0.1:8080'],
    [{ host: '::1', port: '81' }, 'http://[::1]:81'],
    [{ host: 'h.example', 'tls-cert': 'a', 'tls-key': 'b' }, 'https://h.example:8080'],
    [{ 'base-url': 'https://fhir.example.org/r5/' }, 'https://fhir.example.org/r5'],
  ])('%j: %s', (flags, root) => expect(rootOf(configOf(flags as Record<string, string>))).toBe(root));
});

describe('the command that prints a token, in the start line and in a 401', () => {
  it.each<[Record<string, string>, number, string | undefined]>([
    [{}, 8080, 'npx kiln token'],
    [{ port: '0' }, 40_001, 'npx kiln token --port 40001'],
    [{ host: '::1' }, 8080, 'npx kiln token --host ::1'],
    [{ store: "sqlite:it's here.db" }, 8080, "npx kiln token --store 'sqlite:it'\\''s here.db'"],
    [{ auth: 'open' }, 8080, undefined],
    [{ store: 'sqlite::memory:' }, 8080, undefined],
    [{ store: 'mongodb://h/x' }, 8080, undefined],
  ])('%j at port %i: %s', (flags, port, command) =>
    expect(tokenCommand(configOf(flags), { port }, 'operator')).toBe(command),
  );

  it('names no path to clients', () => {
    expect(tokenCommand(configOf({ store: 'sqlite:/home/ada/x.db' }), { port: 8080 }, 'everybody')).toBe(
      'npx kiln token --store …',
    );
    expect(tokenCommand(configOf({}), { port: 8080 }, 'everybody')).toBe('npx kiln token');
  });

  it.each(EXPOSING)('is for nobody where the server is open to others: %j', (flags) =>
    expect(tokenCommand(configOf(flags), { port: 8080 }, 'operator')).toBeUndefined(),
  );
});
