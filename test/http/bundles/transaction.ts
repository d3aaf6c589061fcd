import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import {
  entry,
  faultsOf,
  nameOf,
  observation,
  patient,
  responsesOf,
  statusesOf,
  transaction,
  urn,
  useBundleServer,
  word,
} from './bundle-server.js';
import type { Answer } from '../server.js';

/** What a transaction does, whatever the store. */
export function transactions(store: Store): void {
  const server = useBundleServer(store);
  const run = (bundle: object, headers: Record<string, string> = {}) => server.send('POST', '', bundle, headers);
  const done = async (bundle: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const answer = await run(bundle, headers);
    expect(answer.status, answer.text).toBe(200);
    return answer;
  };
  const read = async (name: string) => (await server.send('GET', `/${name}`)).json();
  const count = async (search: string): Promise<number> =>
    (await server.send('GET', `/${search}&_summary=count`)).json().total;

  it('is refused where its resources contain too many others', async () => {
    const id = word();
    const contained = Array.from({ length: 3400 }, (_, n) => ({ resourceType: 'Patient', id: `m${n}` }));
    const names = [`${id}-a`, `${id}-b`, `${id}-c`];
    const containing = (of: readonly string[]) =>
      run(transaction(...of.map((name) => entry('PUT', `Patient/${name}`, { resourceType: 'Patient', id: name, contained })))); // prettier-ignore
    const refused = await containing(names);
    expect(refused.status).toBe(413);
    expect(refused.text).toMatch(/contain 10200 others with an id, .* may contain 10000 together; .* in a further transaction/); // prettier-ignore
    expect((await server.send('GET', `/Patient/${id}-a`)).status).toBe(404);
  });

  describe('answers (http.html#transaction-response)', () => {
    it('come in the order of the request, with status, location, etag and time', async () => {
      const id = word();
      await server.send('PUT', `/Patient/${id}-old`, patient('x', { id: `${id}-old` }));
      const answer = await done(
        transaction(
          entry('GET', `Patient/${id}`),
          entry('PUT', `Patient/${id}`, patient('x', { id })),
          entry('POST', 'Patient', patient('x')),
          entry('DELETE', `Patient/${id}-old`),
          entry('DELETE', `Patient/${id}-never`),
          entry('HEAD', `Patient/${id}`),
        ),
      );
      expect(answer.json()).toMatchObject({ resourceType: 'Bundle', type: 'transaction-response' });
      expect(statusesOf(answer)).toEqual([
        '200 OK',
        '201 Created',
        '201 Created',
        '204 No Content',
        '204 No Content',
        '200 OK',
      ]);
      const [got, put, , gone] = answer.json().entry;
      expect(got.resource).toMatchObject({ resourceType: 'Patient', id });
      expect(put).toEqual({
        response: {
          status: '201 Created',
          location: `Patient/${id}/_history/1`,
          etag: 'W/"1"',
          lastModified: got.resource.meta.lastUpdated,
        },
      });
      expect(gone.response).toMatchObject({ etag: 'W/"2"' });
      expect(answer.json().entry[5].resource).toBeUndefined();
    });

    it.each(['representation', 'OperationOutcome'])('honour Prefer: return=%s', async (wish) => {
      const answer = await done(transaction(entry('POST', 'Patient', patient('x'))), { prefer: `return=${wish}` });
      const [{ resource, response }] = answer.json().entry;
      if (wish === 'representation')
        expect(resource).toMatchObject({ resourceType: 'Patient', meta: { versionId: '1' } });
      else expect(response.outcome.resourceType).toBe('OperationOutcome');
    });

    it('may be empty', async () => {
      expect((await done({ resourceType: 'Bundle', type: 'transaction' })).json().entry).toBeUndefined();
    });
  });

  describe('placeholders (http.html#trules)', () => {
    it('are replaced in references, URIs, URLs and narrative, and nowhere else', async () => {
      const [subject, attached] = [urn(), urn()];
      const answer = await done(
        transaction(
          entry(
            'POST',
            'DocumentReference',
            {
              resourceType: 'DocumentReference',
              status: 'current',
              text: {
                status: 'generated',
                div: `<div xmlns="http://www.w3.org/1999/xhtml"><a href="${subject}#top">${subject}</a><img src='${attached}' alt="x"/></div>`,
              },
              identifier: [{ system: 'urn:ietf:rfc:3986', value: subject }],
              subject: { reference: subject, display: subject },
              content: [{ attachment: { url: attached, title: subject } }],
              extension: [
                { url: 'http://example.org/uri', valueUri: subject },
                { url: 'http://example.org/canonical', valueCanonical: subject },
                { url: 'http://example.org/string', valueString: subject },
              ],
            },
            { fullUrl: urn() },
          ),
          entry('POST', 'Patient', patient('x'), { fullUrl: subject }),
          entry(
            'POST',
            'Binary',
            { resourceType: 'Binary', contentType: 'text/plain', data: 'aGVsbG8=' },
            { fullUrl: attached },
          ),
        ),
      );
      const [document, who, what] = responsesOf(answer).map(nameOf);
      const stored = await read(document!);
      expect(stored).toMatchObject({
        identifier: [{ value: subject }],
        subject: { reference: who, display: subject },
        content: [{ attachment: { url: what, title: subject } }],
        extension: [{ valueUri: who }, { valueCanonical: subject }, { valueString: subject }],
      });
      expect(stored.text.div).toContain(`<a href="${who}#top">${subject}</a><img src="${what}" alt="x"/>`);
      expect((await server.send('GET', `/${what}`)).text).toBe('hello');
    });

    it('may be circular, in contained resources, versioned, and spelled in capitals', async () => {
      const [one, other] = [urn(), urn()];
      const answer = await done(
        transaction(
          entry(
            'POST',
            'Patient',
            patient('x', {
              link: [
                {
                  other: {
                    reference: other
                      .replace(/[a-f]/g, (c) => c.toUpperCase())
                      .replace('URN:UUID', 'urn:uuid')
                      .replace('urn:uuiD', 'urn:uuid'),
                  },
                  type: 'seealso',
                },
              ],
            }),
            { fullUrl: one },
          ),
          entry(
            'POST',
            'Patient',
            patient('x', { link: [{ other: { reference: `${one}/_history/1` }, type: 'seealso' }] }),
            { fullUrl: other },
          ),
          entry(
            'POST',
            'Observation',
            observation('#p', {
              contained: [{ resourceType: 'Patient', id: 'p', link: [{ other: { reference: one }, type: 'refer' }] }],
            }),
          ),
        ),
      );
      const [a, b, c] = responsesOf(answer).map(nameOf);
      expect((await read(a!)).link[0].other.reference).toBe(b);
      expect((await read(b!)).link[0].other.reference).toBe(a);
      expect((await read(c!)).contained[0].link[0].other.reference).toBe(a);
      expect((await read(c!)).subject.reference).toBe('#p');
    });

    it('may be Type/id, by the id of a body or by a fullUrl with the same base', async () => {
      const answer = await done(
        transaction(
          entry('POST', 'Patient', patient('x', { id: 'mine' })),
          entry('POST', 'Observation', observation('Patient/mine')),
          entry('POST', 'Patient', patient('x', { id: 'a2' }), { fullUrl: 'http://a.example/fhir/Patient/a2' }),
          entry('POST', 'Observation', observation('Patient/a2'), { fullUrl: 'http://a.example/fhir/Observation/1' }),
          entry('POST', 'Observation', observation('http://a.example/fhir/Patient/a2'), { fullUrl: urn() }),
          entry('POST', 'Observation', observation('Patient/a2'), { fullUrl: urn() }),
          entry('POST', 'Patient', patient('x'), { fullUrl: `${server.url}/fhir/Patient/own` }),
          entry('POST', 'Observation', observation(`${server.url}/fhir/Patient/own`)),
          entry('POST', 'Observation', observation('Patient/own')),
          entry('POST', 'Observation', observation('Patient/elsewhere')),
        ),
      );
      const names = responsesOf(answer).map(nameOf);
      const subjects = await Promise.all(names.map(async (name) => (await read(name)).subject?.reference));
      expect(subjects.map((subject) => names.indexOf(subject))).toEqual([-1, 0, -1, 2, 2, -1, -1, 6, 6, -1]);
      expect(subjects[5]).toBe('Patient/a2');
      expect(subjects[9]).toBe('Patient/elsewhere');
      expect(names[0]).not.toBe('Patient/mine');
    });

    it('of a Bundle that is stored are its own', async () => {
      const [inner, outer] = [urn(), urn()];
      const document = {
        resourceType: 'Bundle',
        type: 'collection',
        entry: [
          { fullUrl: inner, resource: patient('x') },
          { fullUrl: outer, resource: observation(inner) },
        ],
      };
      const bundle = transaction(
        entry('POST', 'Bundle', document),
        entry('POST', 'Patient', patient('x'), { fullUrl: outer }),
      );
      const [stored] = responsesOf(await done(bundle));
      expect(await read(nameOf(stored))).toMatchObject(document);
    });

    it('are refused where none or several entries can be meant', async () => {
      const lost = urn();
      const answer = await run(transaction(entry('POST', 'Observation', observation(lost))));
      expect(answer.status).toBe(400);
      expect(faultsOf(answer)).toEqual([['bundle-placeholder', 'Bundle.entry[0].resource.subject.reference']]);
      const twice = entry('POST', 'Patient', patient('x', { id: 'same' }));
      const both = await run(transaction(twice, twice, entry('POST', 'Observation', observation('Patient/same'))));
      expect([both.status, ...faultsOf(both)]).toEqual([400, ['bundle-placeholder', 'Bundle.entry[2]']]);
      const url = urn();
      const same = await run(
        transaction(
          entry('POST', 'Patient', patient('x'), { fullUrl: url }),
          entry('POST', 'Patient', patient('y'), { fullUrl: url }),
        ),
      );
      expect([same.status, ...faultsOf(same)]).toEqual([400, ['bundle-identity', 'Bundle.entry[1].fullUrl']]);
      expect(same.text).toContain('entry[0] and entry[1]');
    });

    it('are replaced in searches that decide what entries are about, and in those that read', async () => {
      const [who, tag] = [urn(), word()];
      const seen = observation(who, { identifier: [{ system: 'urn:test', value: tag }] });
      const bundle = transaction(
        entry('GET', `Observation?subject=${who}`),
        entry('POST', 'Observation', seen, { request: { ifNoneExist: `subject=${who}` } }),
        entry('PUT', `Patient?identifier=urn:test|${tag}`, patient(tag), { fullUrl: who }),
      );
      const first = await done(bundle);
      expect(statusesOf(first)).toEqual(['200 OK', '201 Created', '201 Created']);
      expect(first.json().entry[0].resource.entry).toHaveLength(1);
      const second = await done(bundle);
      expect(statusesOf(second)).toEqual(['200 OK', '200 OK', '200 OK']);
      expect(nameOf(responsesOf(second)[1])).toBe(nameOf(responsesOf(first)[1]));
    });
  });

  it('URLs may begin with a slash, or lie below the own base; Bundles may be XML', async () => {
    const id = word();
    const answer = await done(
      transaction(
        entry('PUT', `${server.url}/fhir/Patient/${id}`, patient('x', { id })),
        entry('GET', `/Patient/${id}`),
      ),
    );
    expect(statusesOf(answer)).toEqual(['201 Created', '200 OK']);
    const xml =
      '<Bundle xmlns="http://hl7.org/fhir"><type value="transaction"/><entry><resource><Patient>' +
      `<id value="${id}"/><active value="true"/></Patient></resource>` +
      `<request><method value="PUT"/><url value="Patient/${id}"/></request></entry></Bundle>`;
    const headers = { 'content-type': 'application/fhir+xml', accept: 'application/fhir+xml' };
    const other = await server.send('POST', '', xml, headers);
    expect([other.status, other.text]).toEqual([200, expect.stringContaining('<status value="200 OK"/>')]);
    expect((await read(`Patient/${id}`)).active).toBe(true);
  });

  it('searches that wait for each other are refused', async () => {
    const [one, another] = [urn(), urn()];
    const create = (fullUrl: string, of: string) =>
      entry('POST', 'Observation', observation('Patient/x'), {
        fullUrl,
        request: { ifNoneExist: `derived-from=${of}` },
      });
    const answer = await run(transaction(create(one, another), create(another, one)));
    expect([answer.status, ...faultsOf(answer)]).toEqual([
      400,
      ['bundle-placeholder', 'Bundle.entry[0].request'],
      ['bundle-placeholder', 'Bundle.entry[1].request'],
    ]);
  });

  describe('conditional references', () => {
    it('are resolved in the store and in the Bundle itself', async () => {
      const [stored, own] = [word(), word()];
      const known = nameOf(responsesOf(await done(transaction(entry('POST', 'Patient', patient(stored)))))[0]);
      const answer = await done(
        transaction(
          entry('POST', 'Observation', observation(`Patient?identifier=urn:test|${stored}`)),
          entry('POST', 'Observation', observation(`Patient?identifier=urn:test|${own}`)),
          entry('POST', 'Patient', patient(own)),
        ),
      );
      const [first, second, third] = responsesOf(answer).map(nameOf);
      expect((await read(first!)).subject.reference).toBe(known);
      expect((await read(second!)).subject.reference).toBe(third);
    });

    it('fail the transaction where they find none (404) or several (412), naming the place', async () => {
      const value = word();
      const none = await run(
        transaction(
          entry('POST', 'Patient', patient(value)),
          entry('POST', 'Observation', observation('Patient?identifier=urn:test|nobody')),
        ),
      );
      expect([none.status, ...faultsOf(none)]).toEqual([
        404,
        ['not-found', 'Bundle.entry[1].resource.subject.reference'],
      ]);
      const several = await run(
        transaction(
          entry('POST', 'Patient', patient(value)),
          entry('POST', 'Patient', patient(value)),
          entry('POST', 'Observation', observation(`Patient?identifier=urn:test|${value}`)),
        ),
      );
      expect([several.status, ...faultsOf(several)]).toEqual([
        412,
        ['precondition-failed', 'Bundle.entry[2].resource.subject.reference'],
      ]);
      expect(several.json().issue[0].code).toBe('multiple-matches');
      expect(await count(`Patient?identifier=urn:test|${value}`)).toBe(0);
      const lost = ['a', 'b', 'c'].map((each) => observation(`Patient?identifier=urn:test|nobody-${each}`));
      const [put, ...posts] = lost;
      const all = await run(
        transaction(
          entry('PUT', `Observation/${value}`, { ...put, id: value }),
          ...posts.map((each) => entry('POST', 'Observation', each)),
        ),
      );
      expect([all.status, ...faultsOf(all)]).toEqual([
        404,
        ...[0, 1, 2].map((index) => ['not-found', `Bundle.entry[${index}].resource.subject.reference`]),
      ]);
    });

    it('do not see what the Bundle deletes, and see what it makes of what is there', async () => {
      const [value, other, id] = [word(), word(), word()];
      await server.send('PUT', `/Patient/${id}`, patient(value, { id }));
      const gone = await run(
        transaction(
          entry('DELETE', `Patient/${id}`),
          entry('POST', 'Observation', observation(`Patient?identifier=urn:test|${value}`)),
        ),
      );
      expect(gone.status).toBe(404);
      const changed = transaction(
        entry('PUT', `Patient/${id}`, patient(other, { id })),
        entry('POST', 'Observation', observation(`Patient?identifier=urn:test|${other}`)),
      );
      const [, made] = responsesOf(await done(changed));
      expect((await read(nameOf(made))).subject.reference).toBe(`Patient/${id}`);
    });
  });

  describe('conditions', () => {
    it('see what earlier entries do: identical conditional creates make one resource', async () => {
      const value = word();
      const [one, other] = [urn(), urn()];
      const create = (fullUrl: string) =>
        entry('POST', 'Patient', patient(value), { fullUrl, request: { ifNoneExist: `identifier=urn:test|${value}` } });
      const bundle = transaction(create(one), create(other), entry('POST', 'Observation', observation(other)));
      const answer = await done(bundle);
      expect(statusesOf(answer)).toEqual(['201 Created', '200 OK', '201 Created']);
      const [first, second, third] = responsesOf(answer).map(nameOf);
      expect(second).toBe(first);
      expect((await read(third!)).subject.reference).toBe(first);
      expect(statusesOf(await done(bundle))).toEqual(['200 OK', '200 OK', '201 Created']);
      expect(await count(`Patient?identifier=urn:test|${value}`)).toBe(1);
    });

    it('see what entries without conditions do, wherever these stand', async () => {
      const value = word();
      const fullUrl = urn();
      const request = { ifNoneExist: `identifier=urn:test|${value}` };
      const answer = await done(
        transaction(
          entry('POST', 'Patient', patient(value), { fullUrl, request }),
          entry('POST', 'Patient', patient(value)),
          entry('POST', 'Observation', observation(fullUrl)),
        ),
      );
      expect(statusesOf(answer)).toEqual(['200 OK', '201 Created', '201 Created']);
      const [found, made, seen] = responsesOf(answer).map(nameOf);
      expect(found).toBe(made);
      expect((await read(seen!)).subject.reference).toBe(made);
    });

    it('are kept by If-Match, If-None-Match and If-Modified-Since', async () => {
      const id = word();
      await server.send('PUT', `/Patient/${id}`, patient('x', { id }));
      const put = (request: Record<string, string>) =>
        transaction(entry('PUT', `Patient/${id}`, patient('y', { id }), { request }));
      const stale = await run(put({ ifMatch: 'W/"7"' }));
      expect([stale.status, ...faultsOf(stale)]).toEqual([
        412,
        ['precondition-failed', 'Bundle.entry[0].request.ifMatch'],
      ]);
      expect((await run(put({ ifNoneMatch: '*' }))).status).toBe(412);
      expect(statusesOf(await done(put({ ifMatch: 'W/"1"' })))).toEqual(['200 OK']);
      const reads = await done(
        transaction(
          entry('GET', `Patient/${id}`, undefined, { request: { ifNoneMatch: 'W/"2"' } }),
          entry('GET', `Patient/${id}`, undefined, { request: { ifModifiedSince: '2999-01-01T00:00:00Z' } }),
          entry('GET', `Patient/${id}`, undefined, { request: { ifNoneMatch: 'W/"1"' } }),
        ),
      );
      expect(statusesOf(reads)).toEqual(['304 Not Modified', '304 Not Modified', '200 OK']);
    });

    it('decide what conditional updates and deletions are about', async () => {
      const value = word();
      const url = `Patient?identifier=urn:test|${value}`;
      expect(statusesOf(await done(transaction(entry('PUT', url, patient(value)))))).toEqual(['201 Created']);
      const [update] = responsesOf(await done(transaction(entry('PUT', url, patient(value, { active: true })))));
      expect(update).toMatchObject({ status: '200 OK', etag: 'W/"2"' });
      expect(update.location).toMatch(/^Patient\/[^/]+\/_history\/2$/);
      expect((await read(nameOf(update))).active).toBe(true);
      expect(statusesOf(await done(transaction(entry('DELETE', url))))).toEqual(['204 No Content']);
      expect(statusesOf(await done(transaction(entry('DELETE', url))))).toEqual(['204 No Content']);
      const replaced = transaction(entry('PUT', url, patient(value)), entry('DELETE', url));
      await done(transaction(entry('POST', 'Patient', patient(value))));
      expect(statusesOf(await done(replaced))).toEqual(['201 Created', '204 No Content']);
      expect(await count(`Patient?identifier=urn:test|${value}`)).toBe(1);
    });
  });

  describe('patches', () => {
    const json = (patch: object) => ({
      resourceType: 'Binary',
      contentType: 'application/json-patch+json',
      data: Buffer.from(JSON.stringify(patch)).toString('base64'),
    });

    it('change nothing as Parameters without operations', async () => {
      const id = word();
      await server.send('PUT', `/Patient/${id}`, patient(id, { id }));
      const answer = await run(transaction(entry('PATCH', `Patient/${id}`, { resourceType: 'Parameters' })));
      expect(responsesOf(answer)[0]).toMatchObject({ status: '200 OK', etag: 'W/"1"' });
    });

    it('come as Parameters or in a Binary, by id and by criteria, and may refer to other entries', async () => {
      const [id, value, who] = [word(), word(), urn()];
      await server.send('PUT', `/Patient/${id}`, patient(value, { id }));
      const fhirPath = {
        resourceType: 'Parameters',
        parameter: [
          {
            name: 'operation',
            part: [
              { name: 'type', valueCode: 'add' },
              { name: 'path', valueString: 'Patient' },
              { name: 'name', valueString: 'managingOrganization' },
              { name: 'value', valueReference: { reference: who } },
            ],
          },
        ],
      };
      const made = entry('POST', 'Organization', { resourceType: 'Organization', name: 'x' }, { fullUrl: who });
      const first = await done(transaction(entry('PATCH', `Patient/${id}`, fhirPath), made));
      const [patched, organization] = responsesOf(first);
      expect(patched).toMatchObject({ status: '200 OK', etag: 'W/"2"' });
      expect((await read(`Patient/${id}`)).managingOrganization.reference).toBe(nameOf(organization));
      const change = [{ op: 'replace', path: '/managingOrganization', value: { reference: who } }];
      const url = `Patient?identifier=urn:test|${value}`;
      const second = await done(transaction(made, entry('PATCH', url, json(change))));
      expect((await read(`Patient/${id}`)).managingOrganization.reference).toBe(nameOf(responsesOf(second)[0]));
      expect(statusesOf(second)).toEqual(['201 Created', '200 OK']);
      expect([patched.location, responsesOf(second)[1].location]).toEqual(
        [2, 3].map((version) => `Patient/${id}/_history/${version}`),
      );
    });

    it('that fail undo all', async () => {
      const [id, value] = [word(), word()];
      await server.send('PUT', `/Patient/${id}`, patient('x', { id }));
      const test = json([{ op: 'test', path: '/active', value: true }]);
      const answer = await run(
        transaction(entry('POST', 'Patient', patient(value)), entry('PATCH', `Patient/${id}`, test)),
      );
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(faultsOf(answer)[0]?.[1]).toContain('Bundle.entry[1]');
      expect(await count(`Patient?identifier=urn:test|${value}`)).toBe(0);
      const none = await run(transaction(entry('PATCH', `Patient/${id}`)));
      expect([none.status, ...faultsOf(none)]).toEqual([400, ['body-missing', 'Bundle.entry[0].resource']]);
    });
  });

  describe('identities', () => {
    it.each([
      [
        'PUT and PUT',
        (id: string) => [
          entry('PUT', `Patient/${id}`, patient(id, { id })),
          entry('PUT', `Patient/${id}`, patient(id, { id })),
        ],
      ],
      [
        'PUT and DELETE',
        (id: string) => [entry('PUT', `Patient/${id}`, patient(id, { id })), entry('DELETE', `Patient/${id}`)],
      ],
      [
        'PUT and conditional PUT',
        (id: string) => [
          entry('PUT', `Patient/${id}`, patient(id, { id })),
          entry('PUT', `Patient?identifier=urn:test|${id}`, patient(id)),
        ],
      ],
      [
        'PUT and conditional PATCH',
        (id: string) => [
          entry('PUT', `Patient/${id}`, patient(id, { id })),
          entry('PATCH', `Patient?identifier=urn:test|${id}`, {
            resourceType: 'Binary',
            contentType: 'application/json-patch+json',
            data: Buffer.from('[{"op":"add","path":"/active","value":true}]').toString('base64'),
          }),
        ],
      ],
    ])('may not be written to twice: %s', async (_name, entries) => {
      const id = word();
      const both = entries(id);
      for (const isNew of [true, false]) {
        if (!isNew) await server.send('PUT', `/Patient/${id}`, patient(id, { id }));
        for (const ordered of [both, [...both].reverse()]) {
          const answer = await run(transaction(entry('POST', 'Patient', patient('x')), ...ordered));
          expect(answer.status).toBe(400);
          expect(faultsOf(answer)).toEqual([
            ['bundle-identity', 'Bundle.entry[1]'],
            ['bundle-identity', 'Bundle.entry[2]'],
          ]);
          expect(answer.text).toContain('entry[1] and entry[2]');
        }
      }
    });
  });

  describe('failures', () => {
    it('undo all, and name what is wrong with each entry', async () => {
      const value = word();
      const answer = await run(
        transaction(
          entry('POST', 'Patient', patient(value)),
          entry('POST', 'Observation', { resourceType: 'Observation', status: 'final' }),
          entry('POST', 'Patient', patient(value, { gender: 7 })),
        ),
      );
      expect(answer.status).toBe(400);
      const places = faultsOf(answer).map(([, place]) => place);
      expect(places).toEqual(['Bundle.entry[1].resource.code', 'Bundle.entry[2].resource.gender']);
      expect(await count(`Patient?identifier=urn:test|${value}`)).toBe(0);
    });

    it.each([
      ['no request', { resource: patient('x') }, 400, 'Bundle.entry[0].request'],
      ['an unknown method', entry('TRACE', 'Patient'), 400, 'Bundle.entry[0].request.method'],
      ['another base', entry('GET', 'http://elsewhere.example/fhir/Patient/1'), 400, 'Bundle.entry[0].request.url'],
      ['an unknown type', entry('GET', 'Patiens/1'), 404, 'Bundle.entry[0].request.url'],
      [
        'an operation',
        entry('POST', 'ValueSet/$lookup', { resourceType: 'Parameters' }),
        404,
        'Bundle.entry[0].request.url',
      ],
      ['a Bundle in the Bundle', entry('POST', '', transaction()), 400, 'Bundle.entry[0].request.url'],
      [
        'a method that the URL does not take',
        entry('POST', 'Patient/1', patient('x')),
        405,
        'Bundle.entry[0].request.url',
      ],
      ['no resource', entry('POST', 'Patient'), 400, 'Bundle.entry[0].resource'],
      ['another type', entry('POST', 'Patient', observation('Patient/1')), 400, 'Bundle.entry[0].resource'],
      ['another id', entry('PUT', 'Patient/1', patient('x', { id: '2' })), 400, 'Bundle.entry[0].resource.id'],
    ])('tell of %s', async (_name, wrong, status, place) => {
      const answer = await run({ resourceType: 'Bundle', type: 'transaction', entry: [wrong] });
      expect([answer.status, faultsOf(answer)[0]?.[1]]).toEqual([status, place]);
      expect(server.defects).toEqual([]);
    });

    it('quote a URL under another base, cut short', async () => {
      const url = `http://elsewhere.example/${'x'.repeat(200)}`;
      const answer = await run(transaction(entry('GET', url)));
      expect(answer.json().issue[0].details.text).toContain(`The URL "${url.slice(0, 100)}…" lies under`);
    });

    it('of what only reads undo all, as far as they can be known before', async () => {
      const [value, id, gone] = [word(), word(), word()];
      await server.send('PUT', `/Patient/${id}`, patient('x', { id }));
      await server.send('PUT', `/Patient/${gone}`, patient('x', { id: gone }));
      await server.send('DELETE', `/Patient/${gone}`);
      const refusals: readonly (readonly [method: string, url: string, status: number])[] = [
        ['GET', `Patient/${word()}`, 404],
        ['HEAD', `Patient/${word()}`, 404],
        ['GET', `Patient/${gone}`, 410],
        ['GET', `Patient/${id}`, 410],
        ['GET', `Patient/${id}/_history/3`, 404],
        ['GET', `Patient/${id}?nonsense=1`, 400],
        ['GET', 'Patient?nonsense=1', 400],
        ['GET', 'Patient?birthdate=never', 400],
        ['GET', 'Patient?_page=x', 400],
        ['GET', 'Patient/_history?_count=x', 400],
        ['GET', 'Patient/_history?_page=x', 400],
        ['GET', `Patient/${word()}/_history`, 404],
        ['GET', 'metadata?nonsense=1', 400],
      ];
      const writes = [entry('DELETE', `Patient/${id}`), entry('POST', 'Patient', patient(value))];
      for (const [method, url, status] of refusals) {
        const answer = await run(transaction(...writes, entry(method, url)));
        expect([url, answer.status]).toEqual([url, status]);
        expect(faultsOf(answer)[0]?.[1]).toBe('Bundle.entry[2].request.url');
      }
      const all = await run(transaction(...refusals.map(([method, url]) => entry(method, url)), ...writes));
      expect(faultsOf(all).map(([, place]) => place)).toEqual(
        refusals.map((_, index) => `Bundle.entry[${index}].request.url`),
      );
      expect(await count(`Patient?identifier=urn:test|${value}`)).toBe(0);
      expect((await read(`Patient/${id}`)).id).toBe(id);
      expect(server.defects).toEqual([]);
    });

    it('come of no read of what the transaction writes, by id, by version and in searches', async () => {
      const [value, id, gone] = [word(), word(), word()];
      await server.send('PUT', `/Patient/${id}`, patient('x', { id }));
      await server.send('PUT', `/Patient/${gone}`, patient('x', { id: gone }));
      await server.send('DELETE', `/Patient/${gone}`);
      const answer = await done(
        transaction(
          entry('GET', `Patient/${id}/_history/2`),
          entry('GET', `Patient/${id}/_history/1`),
          entry('GET', `Patient/${gone}`),
          entry('GET', `Patient?identifier=urn:test|${value}`),
          entry('GET', `Patient/${id}/_history?_count=1`),
          entry('PUT', `Patient/${id}`, patient(value, { id })),
          entry('PUT', `Patient/${gone}`, patient('y', { id: gone })),
        ),
      );
      expect(statusesOf(answer).slice(0, 5)).toEqual(Array.from({ length: 5 }, () => '200 OK'));
      expect(answer.json().entry[3].resource.entry).toHaveLength(1);
      expect(answer.json().entry[4].resource.total).toBe(2);
    });

    it('leave no content of Binaries behind', async () => {
      const before = (await store.blobs.list('binary/')).length;
      const binary = { resourceType: 'Binary', contentType: 'text/plain', data: 'aGVsbG8=' };
      const answer = await run(
        transaction(
          entry('POST', 'Binary', binary),
          entry('PUT', 'Patient/x', patient('x', { id: 'x' }), { request: { ifMatch: 'W/"99"' } }),
        ),
      );
      expect(answer.status).toBe(412);
      expect(await store.blobs.list('binary/')).toHaveLength(before);
      await done(transaction(entry('POST', 'Binary', binary)));
      expect(await store.blobs.list('binary/')).toHaveLength(before + 1);
    });
  });

  describe('isolation', () => {
    it('lets parallel transactions of the same conditional creates make one resource', async () => {
      const value = word();
      const bundle = () => {
        const fullUrl = urn();
        return transaction(
          entry('POST', 'Patient', patient(value), {
            fullUrl,
            request: { ifNoneExist: `identifier=urn:test|${value}` },
          }),
          entry('POST', 'Observation', observation(fullUrl)),
        );
      };
      const answers = await Promise.all(Array.from({ length: 20 }, () => done(bundle())));
      const created = answers.map((answer) => statusesOf(answer)[0]).filter((status) => status === '201 Created');
      expect(created).toHaveLength(1);
      expect(new Set(answers.map((answer) => nameOf(responsesOf(answer)[0]))).size).toBe(1);
      expect(await count(`Patient?identifier=urn:test|${value}`)).toBe(1);
    });

    it('lets crossing transactions happen one after the other, never half', async () => {
      const [a, b] = [word(), word()];
      const bundle = (text: string, ids: string[]) =>
        transaction(...ids.map((id) => entry('PUT', `Patient/${id}`, patient(text, { id }))));
      await Promise.all(Array.from({ length: 20 }, (_, n) => done(bundle(`v${n}`, n % 2 === 0 ? [a, b] : [b, a]))));
      const [one, other] = [await read(`Patient/${a}`), await read(`Patient/${b}`)];
      expect(one.identifier).toEqual(other.identifier);
      expect([one.meta.versionId, other.meta.versionId]).toEqual(['20', '20']);
    });
  });
}
