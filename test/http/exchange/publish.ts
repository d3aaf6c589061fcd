import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { openBodyWorkers } from '../../../runtime/body-workers/body-workers.js';
import { startBodyWorker } from '../../../runtime/body-workers/start-thread.js';
import { NO_ACTORS } from '../../../runtime/core/actors.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';
import type { Store } from '../../../runtime/store/store.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { neededBy, scopedServer } from '../auth/scoped.js';
import { batch, entry, transaction, urn, word } from '../bundles/bundle-server.js';
import type { Answer } from '../server.js';
import {
  attachment,
  BROKEN,
  BYTES,
  CLAIM,
  DOCUMENT,
  publication,
  related,
  sha1,
  STORED_CLAIM,
} from './publish-cases.js';

const LISTS = 'https://profiles.ihe.net/ITI/MHD/CodeSystem/MHDlistTypes';
const SOURCE = 'https://profiles.ihe.net/ITI/MHD/StructureDefinition/ihe-sourceId';

/** An entry of an answer to a Bundle. */
interface Responded {
  readonly response: { readonly status: string; readonly location: string };
}

/** A submission set. */
interface Listed {
  readonly code: { readonly coding: readonly object[] };
  readonly extension: readonly {
    readonly url: string;
    readonly valueIdentifier?: { readonly value?: string };
    readonly valueCodeableConcept?: object;
  }[];
  readonly id: string;
  readonly subject: readonly object[];
  readonly date: string;
  readonly entry: readonly object[];
}

/** The codes of the first issue: ours, and the last, which may be that of IHE; and where it is. */
function refusedWith(answer: Answer): [number, string, string, string] {
  const [issue] = answer.json().issue;
  const { coding } = issue.details;
  return [answer.status, coding[0].code, coding.at(-1).code, issue.expression[0]];
}

/** Publications of documents, whatever the store. */
export function publishing(store: Store): void {
  const rules = createRuleChecker(tables);
  const server = scopedServer(store, { rules });
  const { all } = server;

  const count = async (type: string): Promise<number> =>
    (await all.send('GET', `/${type}?_summary=count`)).json().total;
  const counts = async (): Promise<readonly number[]> => {
    const found: number[] = [];
    for (const type of ['DocumentReference', 'Binary', 'Bundle', 'List']) found.push(await count(type));
    return found;
  };
  const patientId = async (more: object = {}): Promise<string> => {
    const answer = await all.send('POST', '/Patient', { resourceType: 'Patient', active: true, ...more });
    return `Patient/${answer.json().id}`;
  };
  const published = async (body: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const answer = await all.send('POST', '/DocumentReference', body, headers);
    expect(answer.status, answer.text).toBe(201);
    return answer;
  };
  const pathOf = (url: string): string => url.slice(url.indexOf('/fhir') + '/fhir'.length);
  const fetched = (answer: Answer): Promise<Answer> => all.send('GET', pathOf(answer.json().content[0].attachment.url));
  const listOf = async (id: string): Promise<Listed> => {
    const found = (await all.send('GET', `/List?item=DocumentReference/${id}`)).json();
    expect(found.total).toBe(1);
    return found.entry[0].resource;
  };

  describe('what is published (MHD 2:3.105.4.1.3)', () => {
    it('is taken apart: the document, its metadata and a submission set', async () => {
      const subject = await patientId();
      const type = { coding: [{ system: 'http://loinc.org', code: '60591-5' }] };
      const before = await counts();
      const sent = publication(subject, { type, description: 'x' });
      const answer = await published(sent);
      expect(await counts()).toEqual(before.map((n, i) => n + [1, 1, 0, 1][i]!));
      const { id, meta, content, ...rest } = answer.json();
      expect(answer.headers.location).toContain(`/DocumentReference/${id}`);
      expect(meta.profile).toEqual([STORED_CLAIM]);
      const { meta: _meta, content: _content, ...asSent } = sent;
      expect(rest).toEqual(asSent);
      const { url, ...attachment } = content[0].attachment;
      expect(url).toMatch(/^http:\/\/.*\/fhir\/Binary\/[^/]+$/);
      expect(attachment).toEqual({ contentType: 'text/plain', size: String(BYTES.length), hash: sha1(BYTES) });
      const list = await listOf(id);
      expect(list).toMatchObject({ status: 'current', mode: 'working', subject: [{ reference: subject }] });
      expect(list.code.coding).toEqual([{ system: LISTS, code: 'submissionset' }]);
      expect(list.extension.map(({ url: each }: { url: string }) => each.split('/').at(-1))).toEqual([
        'ihe-sourceId',
        'ihe-designationType',
      ]);
      expect(list.extension[0]?.valueIdentifier?.value).toBe('client');
      expect(list.extension[1]?.valueCodeableConcept).toEqual(type);
      expect(list.date).toBeDefined();
      const again = await all.send('PUT', `/List/${list.id}`, { ...list, title: 'valid as it was made' });
      expect(again.status, again.text).toBe(200);
      expect(list.entry).toEqual([{ item: { reference: `DocumentReference/${id}` } }]);
      const found = await all.send('GET', `/DocumentReference?patient=${subject}&status=current`);
      expect(found.json().entry.map(({ resource }: { resource: { id: string } }) => resource.id)).toEqual([id]);
    });

    it.each([
      ['text/plain', BYTES],
      ['application/pdf', randomBytes(2000)],
      ['image/png', randomBytes(1)],
      ['text/xml; charset=utf-8', Buffer.from('<ClinicalDocument/>')],
      ['application/json', Buffer.from('{"a":  1}')],
    ])('comes back byte by byte as %s', async (contentType, bytes) => {
      const content = [{ attachment: attachment(bytes, { contentType }) }];
      const got = await fetched(await published(publication(await patientId(), { content })));
      expect(got.status).toBe(200);
      expect(got.headers['content-type']).toBe(contentType);
      expect(got.bytes.equals(bytes)).toBe(true);
    });

    it.each(['application/fhir+json', 'application/fhir+xml'])('is a Bundle where it is %s', async (contentType) => {
      const text = contentType.endsWith('xml') ? writeXml(DOCUMENT as Resource, tables) : JSON.stringify(DOCUMENT);
      const bytes = Buffer.from(text);
      const sent = attachment(bytes, { contentType, size: String(bytes.length), hash: sha1(bytes) });
      const before = await counts();
      const answer = await published(publication(await patientId(), { content: [{ attachment: sent }] }));
      expect(await counts()).toEqual(before.map((n, i) => n + [1, 0, 1, 1][i]!));
      const { url, ...described } = answer.json().content[0].attachment;
      expect(url).toMatch(/\/fhir\/Bundle\/[^/]+$/);
      expect(described).toEqual({ contentType });
      const { id, meta: _meta, ...bundle } = (await fetched(answer)).json();
      const { id: theirs, ...document } = DOCUMENT;
      expect(id).not.toBe(theirs);
      expect(bundle).toEqual(document);
      expect((await all.send('GET', '/Patient?family=Document&_summary=count')).json().total).toBe(0);
    });

    it('may be sent in XML, and without claim and uniqueId, which the server then adds', async () => {
      const { meta: _meta, identifier: _identifier, ...plain } = publication(await patientId());
      const xml = writeXml(plain as Resource, tables);
      const answer = await published(Buffer.from(xml), { 'content-type': 'application/fhir+xml' });
      const {
        meta,
        identifier: [unique],
        content,
      } = answer.json();
      expect(meta.profile).toBeUndefined();
      expect(unique.value).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
      expect(unique.type.coding[0].code).toBe('uniqueId');
      expect(content[0].attachment.data).toBeUndefined();
    });

    it('has the labels of its DocumentReference on all that is stored', async () => {
      const labels = { security: [{ system: 'urn:labels', code: 'R' }], tag: [{ system: 'urn:tags', code: 't' }] };
      const answer = await published(publication(await patientId(), { meta: { profile: [CLAIM], ...labels } }));
      const { url } = answer.json().content[0].attachment;
      const binary = await all.send('GET', pathOf(url), undefined, { accept: 'application/fhir+json' });
      expect(binary.json().meta).toMatchObject(labels);
      expect(await listOf(answer.json().id)).toMatchObject({ meta: labels });
    });

    it('claims the minimal profile in the version of what it claimed', async () => {
      const answer = await published(
        publication(await patientId(), { meta: { profile: [`${CLAIM}|5.1.0`, 'http://x.org/p'] } }),
      );
      expect(answer.json().meta.profile).toEqual([`${STORED_CLAIM}|5.1.0`, 'http://x.org/p']);
    });

    it('is a plain create without subject, by PUT, and where the setting says so', async () => {
      const { subject: _subject, meta: _meta, ...plain } = publication('Patient/missing');
      expect((await published(plain)).json().content[0].attachment.data).toBe(BYTES.toString('base64'));
      const put = publication('Patient/missing', { id: word() });
      const answer = await all.send('PUT', `/DocumentReference/${String(put['id'])}`, put);
      expect(answer.json().content[0].attachment.data).toBeDefined();
    });

    it('finds its patient by identifier, and by an absolute reference', async () => {
      const value = word();
      const subject = await patientId({ identifier: [{ system: 'urn:a|b', value }] });
      const logical = { identifier: { system: 'urn:a|b', value }, display: 'x' };
      expect((await published(publication(logical))).json().subject).toEqual({ ...logical, reference: subject });
      await published(publication(`${server.url}/fhir/${subject}`));
      await published(publication('https://x.org/fhir/Patient/1'));
      await patientId({ identifier: [{ system: 'urn:a|b', value }] });
      const twice = await all.send('POST', '/DocumentReference', publication(logical));
      expect(refusedWith(twice).slice(0, 3)).toEqual([422, 'patient-unknown', 'XDSUnknownPatientId']);
    });

    it('takes a URL of this server that names no resource for no other server', async () => {
      const subject = await patientId();
      const before = await counts();
      for (const reference of [`${server.url}/fhir//${subject}`, `${server.url}/fhir/x/../${subject}`]) {
        const answer = await all.send('POST', '/DocumentReference', publication(reference));
        expect(refusedWith(answer).slice(0, 3)).toEqual([422, 'patient-unknown', 'XDSUnknownPatientId']);
      }
      for (const reference of [`${server.url}/fhir//DocumentReference/1`, `${server.url}/fhir/DocumentReference`]) {
        const relatesTo = [related('appends', reference)];
        const answer = await all.send('POST', '/DocumentReference', publication(subject, { relatesTo }));
        expect(refusedWith(answer)[1]).toBe('related-document-unknown');
      }
      expect(await counts()).toEqual(before);
    });

    it('finds its patient by a search in a transaction, whose URL may be absolute', async () => {
      const value = word();
      const subject = await patientId({ identifier: [{ system: 'urn:test', value }] });
      const sent = publication(`${server.url}/fhir/Patient?identifier=urn:test|${value}`);
      const answer = await all.send('POST', '', transaction(entry('POST', 'DocumentReference', sent)));
      expect(answer.status, answer.text).toBe(200);
      const found = await all.send('GET', `/DocumentReference?subject=${subject}`);
      expect(found.json().total).toBe(1);
    });

    it.each([
      ['content that is no list', { content: { attachment: attachment() } }, 'DocumentReference.content'],
      [
        'an attachment that is a list',
        { content: [{ attachment: [attachment()] }] },
        'DocumentReference.content[0].attachment',
      ],
      ['identifiers that are no list', { identifier: 'x' }, 'DocumentReference.identifier'],
    ])('is refused with %s, and loses nothing silently', async (_what, change, at) => {
      const before = await counts();
      const { meta: _meta, ...sent } = publication(await patientId(), change);
      const answer = await all.send('POST', '/DocumentReference', sent);
      expect(answer.status, answer.text).toBe(400);
      expect(answer.json().issue[0].expression).toEqual([at]);
      expect(await counts()).toEqual(before);
    });

    it('makes a submission set that is valid by itself', async () => {
      const contained = [{ resourceType: 'Organization', id: 'o', name: 'x' }];
      const extension = [{ url: 'urn:test:by', valueReference: { reference: '#o' } }];
      const subject = { reference: await patientId(), id: 's', display: 'Ann', extension };
      const coding = [{ system: 'http://loinc.org', code: '60591-5', extension }];
      const answer = await published(publication(subject, { contained, type: { coding, text: 'x', extension } }));
      const list = await listOf(answer.json().id);
      expect(list.subject).toEqual([{ reference: subject.reference, display: 'Ann' }]);
      expect(list.extension[1]?.valueCodeableConcept).toEqual({
        coding: [{ system: 'http://loinc.org', code: '60591-5' }],
        text: 'x',
      });
      const again = await all.send('PUT', `/List/${list.id}`, { ...list, title: 'valid as it was made' });
      expect(again.status, again.text).toBe(200);
    });

    it('is refused with a document that cannot be stored, by the code of IHE', async () => {
      const tag = [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' }];
      const bytes = Buffer.from(JSON.stringify({ ...DOCUMENT, meta: { tag } }));
      const content = [{ attachment: attachment(bytes, { contentType: 'application/fhir+json' }) }];
      const before = await counts();
      const answer = await all.send('POST', '/DocumentReference', publication(await patientId(), { content }));
      expect([answer.status, refusedWith(answer)[2], refusedWith(answer)[3]]).toEqual([
        422,
        'InvalidDocumentContent',
        'DocumentReference.content[0].attachment.data',
      ]);
      expect(await counts()).toEqual(before);
    });

    it('is answered as Prefer says', async () => {
      const subject = await patientId();
      const minimal = await published(publication(subject), { prefer: 'return=minimal' });
      expect(minimal.text).toBe('');
      const outcome = await published(publication(subject), { prefer: 'return=OperationOutcome' });
      expect(outcome.json().resourceType).toBe('OperationOutcome');
    });

    it('is made once with If-None-Exist', async () => {
      const value = word();
      const subject = await patientId();
      const body = publication(subject);
      (body['identifier'] as object[]).push({ system: 'urn:test', value });
      const headers = { 'if-none-exist': `identifier=urn:test|${value}` };
      const first = await published(body, headers);
      const before = await counts();
      const again = await all.send('POST', '/DocumentReference', body, headers);
      expect([again.status, again.json().id]).toEqual([200, first.json().id]);
      expect(await counts()).toEqual(before);
    });
  });

  describe('what is refused, and nothing of it stored', () => {
    it.each(BROKEN)('$name', async ({ change, code, sharing, at, status = 422, claimed }) => {
      const subject = await patientId();
      const before = await counts();
      const body = publication(subject, change);
      const answer = await all.send('POST', '/DocumentReference', body);
      expect(refusedWith(answer)).toEqual([status, code, sharing ?? code, at]);
      if (claimed !== true) {
        const { meta: _meta, ...unclaimed } = body;
        const same = await all.send('POST', '/DocumentReference', unclaimed);
        expect(refusedWith(same)).toEqual([status, code, sharing ?? code, at]);
      }
      expect(await counts()).toEqual(before);
    });
  });

  describe('related documents (MHD 1:33.2.4)', () => {
    it('that are replaced become superseded, once', async () => {
      const subject = await patientId();
      const old = (await published(publication(subject))).json().id;
      const replacing = publication(subject, { relatesTo: [related('replaces', `DocumentReference/${old}`)] });
      await published(replacing);
      const { status, meta } = (await all.send('GET', `/DocumentReference/${old}`)).json();
      expect([status, meta.versionId]).toEqual(['superseded', '2']);
      const before = await counts();
      const again = await all.send('POST', '/DocumentReference', replacing);
      expect(refusedWith(again).slice(0, 3)).toEqual([
        422,
        'publication-invalid',
        'XDSRegistryDeprecatedDocumentError',
      ]);
      const other = (await published(publication(await patientId()))).json().id;
      const foreign = publication(subject, { relatesTo: [related('replaces', `DocumentReference/${other}`)] });
      const answer = await all.send('POST', '/DocumentReference', foreign);
      expect(refusedWith(answer).slice(0, 3)).toEqual([422, 'publication-invalid', 'XDSPatientIdDoesNotMatch']);
      expect((await all.send('GET', `/DocumentReference/${other}`)).json().status).toBe('current');
      expect(await counts()).toEqual(before.map((n, i) => n + [1, 1, 0, 1][i]!));
    });

    it.each(['appends', 'transforms', 'signs'])('stay current with %s', async (code) => {
      const subject = await patientId();
      const old = (await published(publication(subject))).json().id;
      await published(publication(subject, { relatesTo: [related(code, `DocumentReference/${old}`)] }));
      expect((await all.send('GET', `/DocumentReference/${old}`)).json().meta.versionId).toBe('1');
    });
  });

  describe('entries of Bundles', () => {
    it('publish for a patient of the same transaction, or all is refused', async () => {
      const fullUrl = urn();
      const create = entry('POST', 'Patient', { resourceType: 'Patient', active: true }, { fullUrl });
      const answer = await all.send(
        'POST',
        '',
        transaction(entry('POST', 'DocumentReference', publication(fullUrl)), create),
      );
      expect(answer.status, answer.text).toBe(200);
      const [first, second] = answer
        .json()
        .entry.map(({ response }: Responded) => response.location.split('/').slice(-4, -2));
      const stored = (await all.send('GET', `/DocumentReference/${first[1]}`)).json();
      expect(stored.subject.reference).toBe(`Patient/${second[1]}`);
      expect((await listOf(first[1])).subject).toEqual([{ reference: `Patient/${second[1]}` }]);
      expect((await all.send('GET', pathOf(stored.content[0].attachment.url))).bytes.equals(BYTES)).toBe(true);

      const [before, patients] = [await counts(), await count('Patient')];
      const refused = await all.send(
        'POST',
        '',
        transaction(create, entry('POST', 'DocumentReference', publication('Patient/missing'))),
      );
      expect(refusedWith(refused)).toEqual([
        422,
        'patient-unknown',
        'XDSUnknownPatientId',
        'Bundle.entry[1].resource.subject.reference',
      ]);
      expect([await counts(), await count('Patient')]).toEqual([before, patients]);
    });

    it('publish each by itself in a batch', async () => {
      const subject = await patientId();
      const before = await counts();
      const answer = await all.send(
        'POST',
        '',
        batch(
          entry('POST', 'DocumentReference', publication(subject)),
          entry('POST', 'DocumentReference', publication('Patient/missing')),
        ),
      );
      expect(answer.json().entry.map(({ response }: Responded) => response.status.slice(0, 3))).toEqual(['201', '422']);
      expect(await counts()).toEqual(before.map((n, i) => n + [1, 1, 0, 1][i]!));
    });

    it('cannot replace a document twice in one transaction', async () => {
      const subject = await patientId();
      const old = (await published(publication(subject))).json().id;
      const replace = () =>
        entry(
          'POST',
          'DocumentReference',
          publication(subject, { relatesTo: [related('replaces', `DocumentReference/${old}`)] }),
        );
      const before = await counts();
      expect((await all.send('POST', '', transaction(replace(), replace()))).status).toBe(400);
      expect(await counts()).toEqual(before);
    });
  });

  describe('scopes', () => {
    it.each(['system/DocumentReference.c', 'system/DocumentReference.create'])('%s is enough', async (scope) => {
      const subject = await patientId();
      const one = server.as(scope, 'publisher');
      const answer = await one.send('POST', '/DocumentReference', publication(subject));
      expect(answer.status, answer.text).toBe(201);
      expect((await fetched(answer)).status).toBe(200);
      expect((await listOf(answer.json().id)).extension[0]).toMatchObject({
        url: SOURCE,
        valueIdentifier: { value: 'publisher' },
      });
      for (const path of [`/DocumentReference/${answer.json().id}`, pathOf(answer.json().content[0].attachment.url)])
        expect((await one.send('GET', path)).status).toBe(403);
      const entries = transaction(entry('POST', 'DocumentReference', publication(subject)));
      expect((await one.send('POST', '', entries)).status).toBe(200);
      const failed = await one.send('POST', '/Binary', { resourceType: 'Binary', contentType: 'text/plain' });
      expect(failed.status).toBe(403);
    });

    it('that are missing are named', async () => {
      const value = word();
      const subject = await patientId({ identifier: [{ system: 'urn:test', value }] });
      const old = (await published(publication(subject))).json().id;
      const before = await counts();
      const read = server.as('system/Patient.rs system/DocumentReference.rs system/Binary.c system/List.c');
      expect(neededBy(await read.send('POST', '/DocumentReference', publication(subject)))).toContain(
        'DocumentReference.c',
      );
      const create = server.as('system/DocumentReference.c');
      const replacing = publication(subject, { relatesTo: [related('replaces', `DocumentReference/${old}`)] });
      expect(neededBy(await create.send('POST', '/DocumentReference', replacing))).toBe('system/DocumentReference.u');
      const logical = publication({ identifier: { system: 'urn:test', value } });
      expect(neededBy(await create.send('POST', '/DocumentReference', logical))).toContain('Patient.s');
      expect(await counts()).toEqual(before);
      const both = server.as('system/DocumentReference.cu');
      expect((await both.send('POST', '/DocumentReference', replacing)).status).toBe(201);
      const finding = server.as('system/DocumentReference.create system/Patient.search');
      expect((await finding.send('POST', '/DocumentReference', logical)).status).toBe(201);
    });

    it('within bounds hide patients and documents outside', async () => {
      const [mine, other] = [await patientId(), await patientId()];
      const old = (await published(publication(mine))).json().id;
      const bounded = server.as(`system/DocumentReference.c system/Patient.rs?_id=${mine.slice('Patient/'.length)}`);
      expect((await bounded.send('POST', '/DocumentReference', publication(mine))).status).toBe(201);
      expect(refusedWith(await bounded.send('POST', '/DocumentReference', publication(other)))[1]).toBe(
        'patient-unknown',
      );
      const updating = server.as('system/DocumentReference.c system/DocumentReference.u?status=superseded');
      const replacing = publication(mine, { relatesTo: [related('replaces', `DocumentReference/${old}`)] });
      expect(refusedWith(await updating.send('POST', '/DocumentReference', replacing))[1]).toBe(
        'related-document-unknown',
      );
    });

    it('that bound what is published tell nothing of what lies outside', async () => {
      const [mine, other] = [await patientId(), await patientId()];
      const theirs = (await published(publication(other))).json().id;
      const own = (await published(publication(mine))).json().id;
      const bounded = server.as(`system/DocumentReference.c?subject=${mine}`);
      const answers: string[] = [];
      for (const subject of [other, 'Patient/none']) {
        const { status, text } = await bounded.send('POST', '/DocumentReference', publication(subject));
        answers.push(`${status} ${text}`);
      }
      expect(answers[0]).toMatch(/^403 /);
      expect(answers[1]).toBe(answers[0]);
      const appending = (id: string): object =>
        publication(mine, { relatesTo: [related('appends', `DocumentReference/${id}`)] });
      for (const id of [theirs, 'none'])
        expect(refusedWith(await bounded.send('POST', '/DocumentReference', appending(id)))[1]).toBe(
          'related-document-unknown',
        );
      expect((await bounded.send('POST', '/DocumentReference', appending(own))).status).toBe(201);
    });
  });

  describe('large documents and failing stores', () => {
    const limits = { ...DEFAULT_LIMITS, resource: 300 * 1024 };
    const intake = openBodyWorkers(
      () =>
        startBodyWorker(
          {
            zone: 'UTC',
            own: [],
            validation: 'full',
            limits: { nesting: 100, entries: 100, resource: limits.resource },
          },
          512,
        ),
      { body: DEFAULT_LIMITS.body, threads: 1 },
    );
    afterAll(() => intake.close());
    const small = scopedServer(store, { rules, limits, large: intake });
    const plain = scopedServer(store, {
      rules,
      limits,
      large: intake,
      exchange: { documents: false, actors: NO_ACTORS },
    });
    const source = scopedServer(store, {
      rules,
      exchange: { documents: true, sourceId: 'urn:oid:1.2.3', actors: NO_ACTORS },
    });
    let failure: Error | undefined;
    const broken = scopedServer(
      new Proxy(store, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target);
          if (name === 'write' && failure !== undefined) return () => Promise.reject(failure as Error);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }),
      { rules },
    );

    let look: (id: unknown) => void = () => {};
    const counted = scopedServer(
      new Proxy(store, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target);
          if (typeof value !== 'function') return value;
          return (...given: unknown[]): unknown => {
            if (name === 'read') look(given[1]);
            return Reflect.apply(value, target, given);
          };
        },
      }),
      { rules },
    );

    it('a document may be larger than a resource; the metadata may not', async () => {
      const subject = await patientId();
      const bytes = randomBytes(1024 * 1024);
      const body = publication(subject, { content: [{ attachment: attachment(bytes) }] });
      const answer = await small.all.send('POST', '/DocumentReference', body);
      expect(answer.status, answer.text.slice(0, 500)).toBe(201);
      expect((await fetched(answer)).bytes.equals(bytes)).toBe(true);
      const before = await counts();
      const wide = { ...body, description: 'x'.repeat(limits.resource) };
      expect((await small.all.send('POST', '/DocumentReference', wide)).status).toBe(413);
      const wrong = await small.all.send('POST', '/DocumentReference', { ...body, date: 'x' });
      expect(wrong.status).toBe(400);
      expect((await plain.all.send('POST', '/DocumentReference', body)).status).toBe(413);
      expect(await counts()).toEqual(before);
    });

    it('the setting leaves a DocumentReference as it is sent', async () => {
      const stored = await plain.all.send('POST', '/DocumentReference', publication('Patient/missing'));
      expect(stored.json().content[0].attachment.data).toBe(BYTES.toString('base64'));
      expect(stored.json().meta.profile).toEqual([CLAIM]);
    });

    it('the configured source is named', async () => {
      const answer = await source.all.send('POST', '/DocumentReference', publication(await patientId()));
      expect((await listOf(answer.json().id)).extension[0]?.valueIdentifier).toEqual({ value: 'urn:oid:1.2.3' });
    });

    it('nothing is half stored where the store fails', async () => {
      const subject = await patientId();
      const old = (await published(publication(subject))).json().id;
      const before = await counts();
      failure = new Error('the disk is full');
      const replacing = publication(subject, { relatesTo: [related('replaces', `DocumentReference/${old}`)] });
      const answer = await broken.all.send('POST', '/DocumentReference', replacing);
      failure = undefined;
      expect(answer.status).toBeGreaterThanOrEqual(500);
      expect(await counts()).toEqual(before);
      expect((await all.send('GET', `/DocumentReference/${old}`)).json().status).toBe('current');
    });

    it('a related document is looked up once, however often it is named', async () => {
      const subject = await patientId();
      const other = (await published(publication(subject))).json().id;
      const lookups: unknown[] = [];
      look = (id) => lookups.push(id);
      const relatesTo = Array.from({ length: 50 }, () => related('appends', `DocumentReference/${other}`));
      const answer = await counted.all.send('POST', '/DocumentReference', publication(subject, { relatesTo }));
      expect(answer.status, answer.text).toBe(201);
      const ofOther = lookups.filter((id) => id === other);
      expect(ofOther.length).toBeGreaterThan(0);
      expect(ofOther.length).toBeLessThan(5);
    });

    it('one of two that replace a document at once is refused', async () => {
      const subject = await patientId();
      const old = (await published(publication(subject))).json().id;
      const before = await counts();
      const replacing = publication(subject, { relatesTo: [related('replaces', `DocumentReference/${old}`)] });
      const answers = await Promise.all([1, 2, 3].map(() => all.send('POST', '/DocumentReference', replacing)));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
      expect(await counts()).toEqual(before.map((n, i) => n + [1, 1, 0, 1][i]!));
    });
  });
}
