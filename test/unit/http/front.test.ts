import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';

import { withFront } from '../../../runtime/http/transport/front.js';

function seenBehind(root: string | undefined, url: string): string | undefined {
  let seen: string | undefined;
  const listener = withFront((req) => (seen = req.url), { root, hsts: true });
  const req = { url, headers: {}, socket: {} } as unknown as IncomingMessage;
  listener(req as Parameters<typeof listener>[0], {} as ServerResponse as Parameters<typeof listener>[1]);
  return seen;
}

describe('the path of the base URL', () => {
  it.each([
    ['/kiln/fhir/Patient/1?x=/kiln/', '/fhir/Patient/1?x=/kiln/'],
    ['/fhir/Patient/1', '/fhir/Patient/1'],
    ['/kiln', '/'],
    ['/kiln/', '/'],
    ['/kiln?x', '/?x'],
    ['/kilnfhir', '/kilnfhir'],
    ['/kiln/kiln/fhir', '/kiln/fhir'],
    ['/KILN/fhir', '/KILN/fhir'],
    ['/.well-known/oauth-authorization-server/kiln', '/.well-known/oauth-authorization-server/kiln'],
    ['https://h/kiln/fhir', '/fhir'],
    ['*', '*'],
  ])('is taken off: %s, %s', (url, expected) => {
    expect(seenBehind('https://h/kiln', url)).toBe(expected);
  });

  it('is often not there', () => {
    expect(seenBehind('https://h', '/kiln/fhir')).toBe('/kiln/fhir');
    expect(seenBehind(undefined, '/kiln/fhir')).toBe('/kiln/fhir');
  });
});
