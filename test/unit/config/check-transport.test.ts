import { describe, expect, it } from 'vitest';

import { checkTransport, type Transport } from '../../../runtime/config/check-transport.js';
import { ConfigError } from '../../../runtime/config/config-error.js';
import { readConfig } from '../../../runtime/config/read-config.js';

const LOCAL: Transport = {
  host: '127.0.0.1',
  port: 8080,
  'base-url': undefined,
  'tls-cert': undefined,
  'tls-key': undefined,
  'tls.clientCa': undefined,
  'proxy.trust': [],
};
const OUTSIDE = { host: '10.0.0.5' };
const TLS = { 'tls-cert': 'c', 'tls-key': 'k' };
const NAMED = { 'base-url': 'https://fhir.example' };

describe('settings of transport that go together', () => {
  it.each<[string, Partial<Transport>]>([
    ['http on loopback', {}],
    ['http on loopback behind a local proxy', { ...NAMED, 'proxy.trust': ['127.0.0.1'] }],
    ['http behind a proxy', { ...OUTSIDE, ...NAMED, 'proxy.trust': ['10.0.0.0/8'] }],
    ['https', { ...OUTSIDE, ...TLS }],
    ['https for clients with certificates', { ...OUTSIDE, ...TLS, 'tls.clientCa': 'a' }],
    ['https at any port of loopback', { ...TLS, port: 0 }],
    ['https at any port, with a base URL', { ...OUTSIDE, ...TLS, ...NAMED, port: 0 }],
  ])('%s', (_what, settings) => {
    expect(() => checkTransport({ ...LOCAL, ...settings })).not.toThrow();
  });

  it.each<[Partial<Transport>, string]>([
    [OUTSIDE, '--host 10.0.0.5: plain http is for this machine only; give --tls-cert and --tls-key'],
    [{ host: '0.0.0.0', ...NAMED }, '--host 0.0.0.0: plain http is for this machine only'],
    [{ ...OUTSIDE, 'proxy.trust': ['10.0.0.0/8'] }, 'plain http is for this machine only'],
    [
      { ...OUTSIDE, 'base-url': 'http://localhost', 'proxy.trust': ['10.0.0.0/8'] },
      'plain http is for this machine only',
    ],
    [{ 'tls-cert': 'c' }, '--tls-cert needs --tls-key'],
    [{ ...OUTSIDE, 'tls-key': 'k' }, '--tls-key needs --tls-cert'],
    [{ 'tls.clientCa': 'a' }, 'tls.clientCa needs TLS in this process'],
    [{ ...TLS, 'base-url': 'http://localhost:8080' }, '--base-url http://localhost:8080: has to be https'],
    [{ ...OUTSIDE, ...TLS, port: 0 }, '--port 0: clients of 10.0.0.5 could not know it'],
    [{ ...TLS, host: 'fe80::1%eth0' }, '--host fe80::1%eth0: no URL can name that'],
  ])('%j is refused', (settings, message) => {
    const check = () => checkTransport({ ...LOCAL, ...settings });
    expect(check).toThrow(ConfigError);
    expect(check).toThrow(message);
  });
});

describe('settings of proxies and pages', () => {
  it('are lists, with commas where they are typed', () => {
    const { config } = readConfig(
      { 'proxy-trust': '10.0.0.7, fd00::/8', 'cors-origins': 'https://app.example,http://localhost:5173' },
      {},
    );
    expect(config['proxy.trust']).toEqual(['10.0.0.7', 'fd00::/8']);
    expect(config['cors.origins']).toEqual(['https://app.example', 'http://localhost:5173']);
  });

  it.each([
    [{ 'proxy-trust': 'proxy.example' }, '"proxy.example" is no range of addresses'],
    [{ 'proxy-trust': '10.0.0.1,0.0.0.0/0' }, '"0.0.0.0/0" is everybody'],
    [{ 'proxy-trust': '::/0' }, '"::/0" is everybody'],
    [{ 'cors-origins': '*' }, '"*" is no origin such as https://app.example'],
    [{ 'cors-origins': 'null' }, '"null" is no origin'],
    [{ 'cors-origins': 'https://app.example/' }, '"https://app.example/" is no origin'],
    [{ 'cors-origins': 'https://app.example:443' }, 'is no origin'],
    [{ 'cors-origins': 'app.example' }, 'is no origin'],
    [{ 'cors-origins': 'ftp://app.example' }, 'is no origin'],
  ])('%j is refused', (flags, message) => {
    expect(() => readConfig(flags as Record<string, string>, {})).toThrow(message);
  });
});
