import { describe, expect, it } from 'vitest';

import { ConfigError, readServeConfig } from '../../runtime/config.js';

describe('configuration of serve', () => {
  it('has defaults', () => {
    expect(readServeConfig({}, {})).toEqual({
      port: 8080,
      host: '127.0.0.1',
      store: 'sqlite:./data/kiln.db',
      auth: 'open',
    });
  });

  it('takes the command line before the environment', () => {
    const env = { KILN_PORT: '1', KILN_HOST: '::1', KILN_STORE: 'sqlite::memory:', KILN_AUTH: '' };
    expect(readServeConfig({ port: '2' }, env)).toEqual({
      port: 2,
      host: '::1',
      store: 'sqlite::memory:',
      auth: 'open',
    });
    expect(readServeConfig({ host: '[::1]' }, {}).host).toBe('::1');
  });

  it.each([
    [{ port: 'x' }, {}, '--port "x": '],
    [{ port: '65536' }, {}, '--port "65536": '],
    [{ port: '-1' }, {}, '--port "-1": '],
    [{}, { KILN_PORT: '80.5' }, 'KILN_PORT "80.5": '],
    [{ host: '0.0.0.0' }, {}, '--host "0.0.0.0": '],
    [{ host: 'example.org' }, {}, '--host "example.org": '],
    [{ auth: 'smart' }, {}, '--auth "smart": authorization is not available yet'],
    [{ auth: 'none' }, {}, '--auth "none": '],
    [{ store: 'mongodb://localhost/x' }, {}, '--store "mongodb://localhost/x": MongoDB is not available yet'],
    [{ store: 'kiln.db' }, {}, '--store "kiln.db": '],
    [{ store: 'sqlite:' }, {}, '--store "sqlite:": '],
    [{ 'base-url': 'https://x' }, {}, '--base-url ("https://x") is not available yet'],
    [{ 'tls-cert': 'a' }, {}, '--tls-cert'],
    [{}, { KILN_TLS_KEY: 'a' }, 'KILN_TLS_KEY'],
    [{}, { KILN_CONFIG: 'a' }, 'KILN_CONFIG'],
    [{ workers: '2' }, {}, '--workers'],
    [{}, { KILN_METRICS_PORT: '9' }, 'KILN_METRICS_PORT'],
  ])('refuses %j %j in one line that names key and value', (flags, env, message) => {
    const read = () => readServeConfig(flags as Record<string, string>, env as Record<string, string>);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(message);
    expect(read).not.toThrow('\n');
  });
});
