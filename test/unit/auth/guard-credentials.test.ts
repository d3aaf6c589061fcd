import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import { ACCESS_ERRORS, type AccessErrorCode } from '../../../runtime/fhir/catalog/access-errors.js';
import { hasTokenParameter, MAX_TOKEN, readCredentials } from '../../../runtime/auth/access/credentials.js';
import { neededOn, uniteNeeded } from '../../../runtime/auth/access/needed-scopes.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import { refusal, scopeMissing } from '../../../runtime/auth/access/refuse.js';
import { tokenHash } from '../../../runtime/auth/server/token-verifier.js';
import { errorOutcome } from '../../../runtime/fhir/operation-outcome.js';

const TOKEN = 'eyJhbGciOiJFUzM4NCJ9.e30.a-b_c~d+e/f==';

describe('the credentials of a request', () => {
  it.each([
    [[`Bearer ${TOKEN}`], '', 'bearer'],
    [[`bearer ${TOKEN}`], '', 'bearer'],
    [[`BEARER   ${TOKEN}`], '', 'bearer'],
    [[`Bearer ${TOKEN}`], 'name=access', 'bearer'],
    [[`Bearer ${TOKEN}`], 'name=access_token', 'bearer'],
    [[`Bearer ${TOKEN}`], 'access_tokens=1&token=2', 'bearer'],
    [[], '', 'none'],
    [[''], '', 'none'],
    [['Basic eDp5'], '', 'none'],
    [['Bearerx y'], '', 'none'],
    [[TOKEN], '', 'none'],
    [['DPoP abc'], '', 'none'],
    [['Bearer'], '', 'malformed'],
    [['Bearer '], '', 'malformed'],
    [['Bearer a b'], '', 'malformed'],
    [['Bearer a, Bearer b'], '', 'malformed'],
    [['Bearer a,b'], '', 'malformed'],
    [['Bearer =a'], '', 'malformed'],
    [['Bearer é'], '', 'malformed'],
    [['Bearer "a"'], '', 'malformed'],
    [[`Bearer ${'a'.repeat(MAX_TOKEN)}`], '', 'malformed'],
    [[`Bearer ${TOKEN}`, `Bearer ${TOKEN}`], '', 'malformed'],
    [[`Bearer ${TOKEN}`, 'Basic eDp5'], '', 'malformed'],
    [['Basic eDp5', `Bearer ${TOKEN}`], '', 'malformed'],
    [[`Bearer ${TOKEN}`], `access_token=${TOKEN}`, 'malformed'],
    [[`Bearer ${TOKEN}`], 'name=x&access_token', 'malformed'],
    [[`Bearer ${TOKEN}`], '%61ccess%5Ftoken=x', 'malformed'],
    [[], `access_token=${TOKEN}`, 'malformed'],
    [['Basic eDp5'], `access_token=${TOKEN}`, 'malformed'],
  ])('%j with the query "%s": %s', (headers, query, is) => {
    const found = readCredentials(headers, query);
    expect(found.is).toBe(is);
    if (found.is === 'bearer') expect(found.token).toBe(TOKEN);
  });

  it('that end alike are not taken for each other', () => {
    const tokens = ['a', 'b', 'a'].map((begin) => `${begin}.${'x'.repeat(40)}`);
    const found = tokens.map((token) => readCredentials([`Bearer ${token}`], ''));
    expect(found).toEqual(tokens.map((token) => ({ is: 'bearer', token })));
    expect(new Set(tokens.map(tokenHash)).size).toBe(2);
  });

  it('are looked for in forms too', () => {
    expect(hasTokenParameter(new URLSearchParams('name=x&access_token=y'))).toBe(true);
    expect(hasTokenParameter(new URLSearchParams('name=access_token'))).toBe(false);
  });
});

describe('refusals', () => {
  it.each([
    ['token-missing', 401, 'login', 'Bearer realm="fhir"'],
    ['token-malformed', 400, 'invalid', /^Bearer realm="fhir", error="invalid_request", error_description="[^"]+"$/],
    ['token-invalid', 401, 'login', /^Bearer realm="fhir", error="invalid_token", error_description="[^"]+"$/],
    ['token-expired', 401, 'expired', /^Bearer realm="fhir", error="invalid_token", error_description="[^"]+"$/],
    ['token-unverified', 503, 'transient', undefined],
    [
      'scope-missing',
      403,
      'forbidden',
      /^Bearer realm="fhir", error="insufficient_scope", error_description="[^"]+", scope="system\/Patient\.r"$/,
    ],
    ['access-denied', 403, 'forbidden', undefined],
  ] as const)('%s: %i, %s', (code, status, issue, challenge) => {
    const details = { ...(code === 'scope-missing' && { needed: neededOn('Patient', 'r') }), retryAfter: 5 };
    const error = refusal(code, details);
    expect(error.status).toBe(status);
    expect(error.headers['Retry-After']).toBe('5');
    const header = error.headers['WWW-Authenticate'];
    if (challenge === undefined || typeof challenge === 'string') expect(header).toBe(challenge);
    else expect(header).toMatch(challenge);
    expect(errorOutcome(error)).toMatchObject({
      issue: [{ severity: status === 503 ? 'fatal' : 'error', code: issue, details: { coding: [{ code }] } }],
    });
    expect(error.map((each) => ({ ...each, expression: 'x' })).status).toBe(status);
  });

  it('say which of the scopes the token lacks, and in the header what would suffice', () => {
    const access = createScopes({ tables, zone: utc, own: new OwnBases() }).access('system/Observation.r?status=final system/Patient.s __admin.reindex'); // prettier-ignore
    const needed = uniteNeeded([neededOn('Patient', 'rs'), neededOn('Observation', 'r'), { scopes: [], customs: ['__admin.reindex'] }]); // prettier-ignore
    const { message, headers } = scopeMissing(needed, access);
    expect(message).toMatch(
      /: system\/Observation\.r system\/Patient\.rs __admin\.reindex; it lacks system\/Patient\.r$/,
    );
    expect(headers['WWW-Authenticate']).toMatch(/scope="system\/Observation\.r system\/Patient\.rs __admin\.reindex"$/);
    // All of it: there is no more to say.
    expect(scopeMissing(neededOn('Encounter', 'r'), access).message).toMatch(/: system\/Encounter\.r$/);
    expect(scopeMissing(neededOn('Observation', 'r'), access).message).toMatch(
      /: system\/Observation\.r; it gives this under a constraint alone/,
    );
  });

  it('name the scopes that would suffice, in the outcome as well', () => {
    const error = refusal('scope-missing', { needed: neededOn('Patient', 'rs') });
    expect(error.issues[0].text).toContain('system/Patient.rs');
  });

  it('write nothing into headers that could end them', () => {
    const unit = fc.constantFrom(...'a.*,= "\\\r\n\0\u007fé€😀'.split(''));
    const safe = /^Bearer realm="fhir"(?:, (?:error|error_description|scope)="[\x20\x21\x23-\x5B\x5D-\x7E]+")*$/;
    fc.assert(
      fc.property(
        fc.constantFrom(...(Object.keys(ACCESS_ERRORS) as AccessErrorCode[])),
        fc.string({ unit }),
        fc.string({ unit }),
        (code, type, text) => {
          const needed = { scopes: [{ type, letters: 'r', pairs: [] }], customs: [type] };
          const header = refusal(code, { needed, text }).headers['WWW-Authenticate'];
          if (header !== undefined) expect(header).toMatch(safe);
        },
      ),
    );
  });
});
