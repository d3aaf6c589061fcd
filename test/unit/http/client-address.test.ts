import { describe, expect, it } from 'vitest';

import { createProxies, type Origin } from '../../../runtime/http/transport/client-address.js';
import { processorTime } from '../../processor-time.js';

function from(remoteAddress: string | undefined, headers: Record<string, string> = {}): Origin {
  return { socket: { remoteAddress } as Origin['socket'], headers };
}

describe('where a request is from', () => {
  const proxies = createProxies(['10.0.0.0/8', 'fd00::1']);

  it.each([
    ['10.1.2.3', true],
    ['::ffff:10.1.2.3', true],
    ['fd00::1', true],
    ['11.0.0.1', false],
    ['::ffff:11.0.0.1', false],
    ['fd00::2', false],
    ['127.0.0.1', false],
    [undefined, false],
  ])('%s is a proxy: %s', (address, expected) => {
    expect(proxies.isPeer(from(address))).toBe(expected);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1, 198.51.100.7', '198.51.100.7'],
    ['192.0.2.1, 198.51.100.7, 10.0.0.2', '198.51.100.7'],
    ['192.0.2.1,10.0.0.2,10.0.0.3', '192.0.2.1'],
    ['10.0.0.2', '10.0.0.2'],
    ['192.0.2.1:5678', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]:5678', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    // Made up by the client, before what the proxy wrote.
    ['127.0.0.1, unknown, 192.0.2.1', '192.0.2.1'],
    // What nobody can read ends the way at the proxy that wrote it.
    ['192.0.2.1, unknown', '10.0.0.1'],
    ['192.0.2.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['192.0.2.1, 1.2.3', '10.0.0.1'],
    ['', '10.0.0.1'],
    [',', '10.0.0.1'],
    ['<script>', '10.0.0.1'],
  ])('X-Forwarded-For: %s, through a proxy: %s', (header, expected) => {
    expect(proxies.clientAddress(from('10.0.0.1', { 'x-forwarded-for': header }))).toBe(expected);
  });

  it.each([
    ['for=192.0.2.1', '192.0.2.1'],
    ['for=192.0.2.9, For="[2001:db8::1]:47", by=x;for=10.0.0.2;proto=https', '2001:db8::1'],
    ['by=192.0.2.1', '10.0.0.1'],
    ['for=_hidden', '10.0.0.1'],
    ['proto=https;for=192.0.2.1', '192.0.2.1'],
  ])('Forwarded: %s, through a proxy: %s', (forwarded, expected) => {
    expect(proxies.clientAddress(from('10.0.0.1', { forwarded }))).toBe(expected);
  });

  it('a header that the proxy passes on from the client does not count', () => {
    const headers = { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=198.51.100.7' };
    expect(proxies.clientAddress(from('10.0.0.1', headers))).toBe('10.0.0.1');
    expect(proxies.clientAddress(from('10.0.0.1', { ...headers, forwarded: 'for=192.0.2.1' }))).toBe('192.0.2.1');
  });

  it('nobody else is believed', () => {
    const headers = { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' };
    expect(proxies.clientAddress(from('::ffff:198.51.100.7', headers))).toBe('198.51.100.7');
    expect(createProxies([]).clientAddress(from('10.0.0.1', headers))).toBe('10.0.0.1');
    expect(createProxies([]).clientAddress(from(undefined, headers))).toBe('');
  });

  it('a long way takes no long time', () => {
    const long = '10.0.0.2,'.repeat(10_000);
    const took = processorTime();
    proxies.clientAddress(from('10.0.0.1', { 'x-forwarded-for': long, forwarded: `for=${'[:'.repeat(8000)}` }));
    expect(took()).toBeLessThan(500);
  });
});
