import { describe, expect, it } from 'vitest';

import { codeOf, FHIR_JSON } from '../server.js';
import { createToyStore } from '../../toy/store.js';
import { BAD_TOKENS, EVERYTHING, tokenOf, serveWith } from './support.js';

const server = serveWith(createToyStore());
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('who comes without a good token', () => {
  it.each([
    ['nothing', {}, '', 401, 'token-missing', 'Bearer realm="fhir"'],
    ['another scheme', { authorization: 'Basic eDp5' }, '', 401, 'token-missing', 'Bearer realm="fhir"'],
    ['no token in the header', { authorization: 'Bearer' }, '', 400, 'token-malformed', /error="invalid_request"/],
    ['a bad token', bearer(BAD_TOKENS.invalid), '', 401, 'token-invalid', /error="invalid_token"/],
    ['an old token', bearer(BAD_TOKENS.expired), '', 401, 'token-expired', /error="invalid_token"/],
    [
      'a token in the query too',
      bearer(tokenOf(EVERYTHING)),
      '?access_token=x',
      400,
      'token-malformed',
      /invalid_request/,
    ],
    ['a token in the query alone', {}, '?access%5Ftoken=x', 400, 'token-malformed', /invalid_request/],
  ])('%s', async (_, headers, query, status, code, challenge) => {
    const answer = await server.send('GET', `/Patient/1${query}`, undefined, headers as Record<string, string>);
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
    expect(answer.headers['www-authenticate']).toEqual(
      typeof challenge === 'string' ? challenge : expect.stringMatching(challenge),
    );
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('is told to come back where tokens cannot be verified', async () => {
    const answer = await server.send('GET', '/Patient/1', undefined, bearer(BAD_TOKENS.unavailable));
    expect([answer.status, codeOf(answer)]).toEqual([503, 'token-unverified']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });

  it.each([
    ['GET', '/Patient/1'],
    ['GET', '/Nonsense/1'],
    ['GET', '/$nonsense'],
    ['POST', '/'],
    ['GET', '/metadata/x'],
    ['POST', '/metadata'],
    ['GET', `/${'x'.repeat(9000)}`],
    ['GET', '/Patient/%'],
  ])('learns nothing: %s %s is 401', async (method, path) => {
    expect((await server.send(method, path)).status).toBe(401);
  });

  it('is answered in its format', async () => {
    const answer = await server.send('GET', '/Patient/1?_format=xml');
    expect(answer.headers['content-type']).toContain('application/fhir+xml');
  });

  it('gets no further with a token in a form', async () => {
    const sent = (headers: object) =>
      server.send('POST', '/Patient/_search', 'access_token=x&name=a', { ...FORM, ...headers });
    expect((await sent({})).status).toBe(401);
    expect(codeOf(await sent(bearer(tokenOf(EVERYTHING))))).toBe('token-malformed');
  });
});

describe('what is open', () => {
  it.each([
    ['no token', {}],
    ['a bad token', bearer(BAD_TOKENS.invalid)],
    ['two credentials', { authorization: 'Bearer a b' }],
  ])('is open to %s', async (_, headers) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await server.send(method, '/metadata?mode=full&access_token=x', undefined, {
        ...headers,
        prefer: 'handling=lenient',
      });
      expect(answer.status).toBe(200);
      expect(answer.headers['cache-control']).toBeUndefined();
      expect(answer.headers['vary']).not.toContain('Authorization');
    }
    expect((await server.send('OPTIONS', '/Patient', undefined, headers)).status).toBe(204);
  });
});

describe('answers to a token', () => {
  it('are for nobody else', async () => {
    const admin = server.as(EVERYTHING);
    const made = await admin.send('POST', '/Patient', { resourceType: 'Patient' });
    const path = made.headers.location!.replace(/.*(\/Patient\/[^/]+).*/, '$1');
    const etag = { 'if-none-match': 'W/"1"' };
    const answers = [
      made,
      await admin.send('GET', path),
      await admin.send('GET', path, undefined, etag),
      await admin.send('GET', '/Patient/none'),
      await admin.send('DELETE', path, undefined, { prefer: 'return=minimal' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 304, 404, 204]);
    for (const { headers } of answers) {
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['vary']).toMatch(/^Authorization/);
    }
  });

  it('come in this order: type and method, scope, media type, content', async () => {
    const none = server.as('system/Basic.cruds');
    const xml = { accept: 'image/png' };
    expect((await none.send('GET', '/Nonsense/1', undefined, xml)).status).toBe(404);
    expect((await none.send('GET', '/$nonsense', undefined, xml)).status).toBe(404);
    expect((await none.send('PATCH', '/metadata', '{', xml)).status).toBe(405);
    expect((await none.send('GET', '/Patient/1', undefined, xml)).status).toBe(403);
    expect((await none.send('POST', '/Patient', '{', { 'content-type': 'image/png' })).status).toBe(403);
    const some = server.as('system/Patient.cruds');
    expect((await some.send('GET', '/Patient/1', undefined, xml)).status).toBe(406);
    expect((await some.send('POST', '/Patient', '{', { 'content-type': 'image/png' })).status).toBe(415);
    expect((await some.send('POST', '/Patient', '{', { 'content-type': FHIR_JSON })).status).toBe(400);
    expect((await some.send('GET', '/Patient/1')).status).toBe(404);
  });

  it('say what is missing', async () => {
    const none = server.as('system/Basic.cruds');
    const answer = await none.send(
      'POST',
      '/Patient',
      { resourceType: 'Patient' },
      { 'if-none-exist': 'identifier=1' },
    );
    expect(codeOf(answer)).toBe('scope-missing');
    expect(answer.headers['www-authenticate']).toContain('error="insufficient_scope"');
    expect(answer.headers['www-authenticate']).toContain('scope="system/Patient.cs"');
  });

  it.each([
    ['GET', '/Patient/1', 'system/Patient.r'],
    ['HEAD', '/Patient/1', 'system/Patient.r'],
    ['GET', '/Patient/1/_history/1', 'system/Patient.r'],
    ['GET', '/Patient/1/_history', 'system/Patient.r'],
    ['GET', '/Patient/_history', 'system/Patient.s'],
    ['GET', '/_history', 'system/*.s'],
    ['PUT', '/Patient/1', 'system/Patient.u'],
    ['PUT', '/Patient?identifier=1', 'system/Patient.us'],
    ['PATCH', '/Patient/1', 'system/Patient.u'],
    ['DELETE', '/Patient/1', 'system/Patient.d'],
    ['DELETE', '/Patient?identifier=1', 'system/Patient.ds'],
    ['PUT', '/AuditEvent/1', 'system/AuditEvent.u'],
    ['DELETE', '/AuditEvent/1', 'system/AuditEvent.d'],
  ])('%s %s needs %s', async (method, path, needed) => {
    const held = path.includes('AuditEvent') ? 'system/*.cruds' : 'system/Basic.cru';
    const answer = await server.as(held).send(method, path);
    expect(answer.status).toBe(403);
    expect(answer.headers['www-authenticate']).toContain(`scope="${needed}"`);
    expect((await server.as(needed).send(method, path)).status).not.toBe(403);
    expect(server.defects).toEqual([]);
  });
});

describe('who calls the server by a name that is not this machine’s', () => {
  const named = serveWith(createToyStore(), { ownBase: 'http://127.0.0.1:8080/fhir' });
  const everyone = named.as(EVERYTHING);

  it('sees links that do not repeat it, and what lies under it is not ours', async () => {
    const context = { reference: 'http://elsewhere.example/fhir/Patient/p1' };
    await everyone.send('PUT', '/Patient/p1', { resourceType: 'Patient', id: 'p1' });
    await everyone.send('PUT', '/Binary/b1', {
      resourceType: 'Binary',
      id: 'b1',
      contentType: 'text/plain',
      securityContext: context,
      data: 'eA==',
    });
    const foreign = { host: 'elsewhere.example', accept: FHIR_JSON };
    const reader = named.as('system/*.rs');
    expect((await reader.send('GET', '/Binary/b1', undefined, foreign)).status).toBe(404);
    const found = await reader.send('GET', '/Patient?_id=p1', undefined, foreign);
    expect(found.text).toContain('http://127.0.0.1:8080/fhir/Patient?_id=p1');
    expect(found.text).not.toContain('elsewhere');
  });

  it('by one of its names, however, is answered with that', async () => {
    const found = await everyone.send('GET', '/Patient?_id=p1', undefined, { host: 'localhost:9999' });
    expect(found.text).toContain('http://localhost:9999/fhir/Patient?_id=p1');
  });
});
