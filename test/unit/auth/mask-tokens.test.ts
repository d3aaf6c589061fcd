import { describe, expect, it } from 'vitest';

import { MASK, maskParameter, maskTokens } from '../../../runtime/auth/server/mask-tokens.js';
import { tellable } from '../../../runtime/auth/server/events.js';
import { processorTime } from '../../processor-time.js';

const JWT = 'eyJhbGciOiJFUzM4NCJ9.eyJzdWIiOiJsYWIifQ.c2ln-bmF0_dXJl';

describe('a text with a token', () => {
  it.each([
    ['alone', JWT, MASK],
    ['in a list', `a,${JWT},b`, `a,${MASK},b`],
    ['behind a word', `Bearer ${JWT}`, `Bearer ${MASK}`],
    ['behind characters of tokens', `1.x-${JWT}`, `1.x-${MASK}`],
    ['twice', `${JWT}|${JWT}`, `${MASK}|${MASK}`],
    ['without a signature', 'eyJhbGciOiJub25lIn0.e30.', MASK],
    ['encrypted', 'eyJhbGciOiJkaXIifQ..aXY.dGV4dA.dGFn', MASK],
    ['percent-encoded', JWT.replaceAll('.', '%2e'), MASK],
    ['percent-encoded several times', JWT.replace('e', '%252565').replace('.', '%25252E'), MASK],
    ['beside what is no encoding', `%zz${JWT}%`, `%zz${MASK}%`],
  ])('%s', (_, text, masked) => {
    expect(maskTokens(text)).toBe(masked);
  });

  it.each(['love', '1.2.840.10008.5', 'http://loinc.org|8867-4', 'eyJ', 'eyJa.b', 'a.b.eyJ', '100%25 eyJ', ''])(
    'there is none in %j',
    (text) => {
      expect(maskTokens(text)).toBe(text);
    },
  );

  it('takes time in proportion to its length', () => {
    const took = processorTime();
    for (const part of ['eyJ', 'eyJ.', '%25', 'eyJ%']) maskTokens(part.repeat(300_000));
    expect(took()).toBeLessThan(2000);
  });
});

it.each([
  ['token', 'opaque', 'token', MASK],
  ['Access_Token', 'opaque', 'Access_Token', MASK],
  ['CLIENT_ASSERTION', 'opaque', 'CLIENT_ASSERTION', MASK],
  ['access%5Ftoken', 'opaque', 'access%5Ftoken', MASK],
  [JWT, '', MASK, ''],
  ['_id', JWT, '_id', MASK],
  ['code', 'http://loinc.org|8867-4', 'code', 'http://loinc.org|8867-4'],
])('of the parameter %s=%s is told %s=%s', (name, value, toldName, told) => {
  expect(maskParameter([name, value])).toEqual([toldName, told]);
});

it('of a form at the token endpoint none is told, wherever it stands', () => {
  const form = new URLSearchParams({ client_id: JWT, scope: `system/Patient.r ${JWT}`, client_assertion: JWT });
  const told = new URLSearchParams(tellable(form));
  expect([...told]).toEqual([
    ['client_id', MASK],
    ['scope', `system/Patient.r ${MASK}`],
  ]);
});
