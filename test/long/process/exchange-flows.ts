import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importJWK, SignJWT, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { DOCUMENT, publication } from '../../http/exchange/publish-cases.js';
import { generatedDocument } from '../../http/exchange/generate.js';
import { providedBundle } from '../../http/exchange/provide.js';
import { startExchangeServer, type ExchangeServer } from './exchange-server.js';

const MRN = 'urn:oid:2.999.1|4711';
const FORM = 'application/x-www-form-urlencoded';
const FHIR = 'application/fhir+json';

/** An answer. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** A request of a flow, and the scopes, as type and letter, without any of which it is refused. */
interface Step {
  readonly name: string;
  readonly method: string;
  readonly path: () => string;
  readonly body?: object;
  readonly needs: readonly string[];
  readonly done: number;
}

/** What was published before the flows begin. */
const published = { binary: '', bundle: '' };

const step = (name: string, path: string | (() => string), ...needs: string[]): Step => ({
  ...{ name, method: 'GET', path: typeof path === 'string' ? () => path : path, needs, done: 200 },
});
const posted = (name: string, path: string, body: object, done: number, ...needs: string[]): Step => ({
  ...{ ...step(name, path, ...needs), method: 'POST', body, done },
});

const FIND_PATIENT = step('ITI-78', `Patient?identifier=${encodeURIComponent(MRN)}`, 'Patient.s');
const READ_PATIENT = step('ITI-78, read', 'Patient/p', 'Patient.r');

/** The flows of the exchange profile, each with just the scopes that it takes. */
const FLOWS: readonly (readonly [name: string, short: string, steps: readonly Step[]])[] = [
  [
    'Publisher',
    'system/Patient.rs system/DocumentReference.c',
    [FIND_PATIENT, READ_PATIENT, posted('ITI-105', 'DocumentReference', publication('Patient/p'), 201, 'DocumentReference.c')], // prettier-ignore
  ],
  [
    'Consumer',
    'system/Patient.rs system/DocumentReference.rs system/Binary.r system/Bundle.r',
    [
      FIND_PATIENT,
      step('ITI-67', 'DocumentReference?patient=p&status=current', 'DocumentReference.s'),
      step('ITI-67, by identifier', `DocumentReference?patient.identifier=${encodeURIComponent(MRN)}`, 'DocumentReference.s'), // prettier-ignore
      step('ITI-68', () => published.binary, 'Binary.r'),
      step('ITI-68, FHIR document', () => published.bundle, 'Bundle.r'),
    ],
  ],
  [
    'Resource Consumer',
    'system/Patient.rs system/Observation.rs',
    [
      FIND_PATIENT,
      step('search', 'Observation?patient=p', 'Observation.s'),
      step('read', 'Observation/o', 'Observation.r'),
    ],
  ],
  ['Document lists', 'system/List.rs', [step('ITI-66', 'List?patient=p&code=submissionset', 'List.s')]],
  [
    'Match',
    'system/Patient.s',
    [posted('ITI-119', 'Patient/$match', { resourceType: 'Patient', identifier: [{ system: 'urn:oid:2.999.1', value: '4711' }] }, 200, 'Patient.s')], // prettier-ignore
  ],
  [
    'Document source',
    'system/List.c system/DocumentReference.c system/Binary.c',
    [posted('ITI-65', '', providedBundle('Patient/p'), 200, 'List.c', 'DocumentReference.c', 'Binary.c')],
  ],
  [
    'Metadata',
    'system/DocumentReference.c',
    [posted('ITI-106', 'DocumentReference/$generate-metadata', generatedDocument('Patient/q'), 200, 'DocumentReference.c')], // prettier-ignore
  ],
];

const WORDS: Readonly<Record<string, string>> = { c: 'create', r: 'read', s: 'search', u: 'update', d: 'delete' };

/** Each scope with one letter, or one word. */
function singles(scopes: string, form: 'short' | 'long'): string[] {
  return scopes.split(' ').flatMap((scope) => {
    const [type = '', letters = ''] = scope.split('.');
    return [...letters].map((letter) => `${type}.${form === 'short' ? letter : WORDS[letter]}`);
  });
}

/** The flows of the exchange over TLS, by a client that is not Kiln's. @param makeStore given a folder for files */
export function exchangeFlows(makeStore: (folder: string) => string): void {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-flows-'));
  let server: ExchangeServer;
  let key: JWK;
  let endpoint = '';

  const send = (method: string, url: string, headers: Record<string, string>, body?: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method, headers, ca: readFileSync(server.cert) }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(parts) })); // prettier-ignore
      });
      sent.on('error', reject);
      sent.end(body);
    });

  async function tokenFor(scope: string): Promise<string> {
    const assertion = await new SignJWT({ jti: randomUUID() })
      .setProtectedHeader({ alg: 'ES384', ...(key.kid !== undefined && { kid: key.kid }), typ: 'JWT' })
      .setIssuer('flow')
      .setSubject('flow')
      .setAudience(endpoint)
      .setIssuedAt()
      .setExpirationTime('2m')
      .sign(await importJWK(key, 'ES384'));
    const form = new URLSearchParams({
      ...{ grant_type: 'client_credentials', scope, client_assertion: assertion },
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    });
    const answer = await send('POST', endpoint, { 'content-type': FORM }, form.toString());
    expect(answer.status, answer.bytes.toString()).toBe(200);
    return (JSON.parse(answer.bytes.toString()) as { access_token: string }).access_token;
  }

  const run = (token: string, { method, path, body }: Step): Promise<Answer> => {
    const where = path();
    const url = where.startsWith('https:') ? where : `${server.base}/${where}`;
    const headers = { authorization: `Bearer ${token}`, accept: `${FHIR}, */*;q=0.5` };
    return send(method, url, body === undefined ? headers : { ...headers, 'content-type': FHIR }, body && JSON.stringify(body)); // prettier-ignore
  };

  beforeAll(async () => {
    server = await startExchangeServer(folder, makeStore(folder), { flow: 'system/*.cruds' });
    key = JSON.parse(readFileSync(server.key, 'utf8')) as JWK;
    const discovery = await send('GET', `${server.base}/.well-known/smart-configuration`, {});
    endpoint = (JSON.parse(discovery.bytes.toString()) as { token_endpoint: string }).token_endpoint;
    const token = await tokenFor('system/DocumentReference.c');
    const publish = async (contentType: string, bytes: Buffer): Promise<string> => {
      const content = [{ attachment: { contentType, data: bytes.toString('base64') } }];
      const answer = await run(token, posted('', 'DocumentReference', publication('Patient/p', { content }), 201));
      expect(answer.status, answer.bytes.toString()).toBe(201);
      const made = JSON.parse(answer.bytes.toString()) as { content: [{ attachment: { url: string } }] };
      return made.content[0].attachment.url;
    };
    published.binary = await publish('application/pdf', randomBytes(1000));
    published.bundle = await publish(FHIR, Buffer.from(JSON.stringify(DOCUMENT)));
  }, 120_000);
  afterAll(async () => {
    server.kiln.child.kill('SIGTERM');
    await server.kiln.ended;
    rmSync(folder, { recursive: true });
  });

  describe.each(FLOWS)('%s', (_flow, scopes, steps) => {
    it.each(['short', 'long'] as const)('has all it needs with just its scopes, in %s words', async (form) => {
      const token = await tokenFor(form === 'short' ? scopes : singles(scopes, 'long').join(' '));
      for (const each of steps) {
        const answer = await run(token, each);
        expect([each.name, answer.status], answer.bytes.toString()).toEqual([each.name, each.done]);
      }
    });

    it('is refused where one of them is missing, which is named; the rest works', async () => {
      const all = singles(scopes, 'short');
      for (const missing of all) {
        const others = all.filter((scope) => scope !== missing);
        const token = await tokenFor(others.length === 0 ? 'system/Practitioner.r' : others.join(' '));
        for (const each of steps) {
          const answer = await run(token, each);
          const isRefused = each.needs.some((need) => `system/${need}` === missing);
          expect([missing, each.name, answer.status]).toEqual([missing, each.name, isRefused ? 403 : each.done]);
          if (isRefused) expect(String(answer.headers['www-authenticate'])).toContain(missing);
        }
      }
    });
  });
}
