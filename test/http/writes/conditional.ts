import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import type { Answer } from '../server.js';
import { expectRefusal, familyName, patient, useWriteServer, word } from '../write-server.js';

/** Writes by criteria, whatever the store. */
export function conditionalWrites(data: Store): void {
  const server = useWriteServer(data);
  const create = (criteria: string, body: object, headers: Record<string, string> = {}) =>
    server.send('POST', '/Patient', body, { 'if-none-exist': criteria, ...headers });
  const update = (criteria: string, body: object, headers: Record<string, string> = {}) =>
    server.send('PUT', `/Patient?${criteria}`, body, headers);
  const remove = (criteria: string, headers: Record<string, string> = {}) =>
    server.send('DELETE', `/Patient?${criteria}`, undefined, headers);
  const found = async (value: string): Promise<string[]> => {
    const bundle = (await server.send('GET', `/Patient?identifier=urn:test|${value}&_count=500`)).json();
    return (bundle.entry ?? []).map((entry: { resource: { id: string } }) => entry.resource.id);
  };
  /** Makes some that the same criterion finds. @returns their ids */
  const make = async (value: string, count: number): Promise<string[]> => {
    const answers = await Promise.all(
      Array.from({ length: count }, () => server.send('POST', '/Patient', patient(value))),
    );
    return answers.map((answer) => answer.json().id as string).sort();
  };

  /** Of many writes on one key the last may wait too long on a slow machine: these are told to come again, and do. */
  const insist = async (write: () => Promise<Answer>): Promise<Answer> => {
    for (;;) {
      const answer = await write();
      const isBusy = answer.status === 503 && answer.json().issue[0].details.coding[0].code === 'store-busy';
      if (!isBusy) return answer;
    }
  };

  describe('conditions that do not go with the method', () => {
    const ifNoneExist = { 'if-none-exist': 'identifier=urn:test|x' };
    const ifMatch = { 'if-match': 'W/"1"' };

    it.each(['PUT', 'PATCH', 'DELETE'])('If-None-Exist on %s is 400, by id and by criteria', async (method) => {
      const value = word();
      const [id = ''] = await make(value, 1);
      const body = method === 'PUT' ? patient(value, { active: true }) : method === 'PATCH' ? [] : undefined;
      const headers = { ...ifNoneExist, ...(method === 'PATCH' && { 'content-type': 'application/json-patch+json' }) };
      for (const path of [`/Patient/${id}`, `/Patient?identifier=urn:test|${value}`]) {
        const answer = await server.send(method, path, body, headers);
        expectRefusal(answer, 400, 'header-invalid', `If-None-Exist goes with POST, not with ${method}`);
      }
      expect((await server.send('GET', `/Patient/${id}`)).headers.etag).toBe('W/"1"');
    });

    it('If-Match on a create is 400', async () => {
      const value = word();
      const answer = await server.send('POST', '/Patient', patient(value), ifMatch);
      expectRefusal(answer, 400, 'header-invalid', 'If-Match goes with PUT, PATCH, DELETE, not with POST');
      expect(await found(value)).toEqual([]);
    });

    it('say nothing of reads, searches and Bundles', async () => {
      const [id = ''] = await make(word(), 1);
      const both = { ...ifNoneExist, ...ifMatch };
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const bundle = { resourceType: 'Bundle', type: 'batch' };
      expect((await server.send('GET', `/Patient/${id}`, undefined, both)).status).toBe(200);
      expect((await server.send('HEAD', `/Patient/${id}`, undefined, both)).status).toBe(200);
      expect((await server.send('GET', `/Patient?_id=${id}`, undefined, both)).status).toBe(200);
      expect((await server.send('POST', '/Patient/_search', `_id=${id}`, { ...both, ...form })).status).toBe(200);
      expect((await server.send('POST', '', bundle, both)).status).toBe(200);
    });
  });

  describe('conditional create: If-None-Exist (http.html#ccreate)', () => {
    it('creates where nothing is found, and else answers what is there as if it had been created', async () => {
      const value = word();
      const first = await create(`identifier=urn:test|${value}`, patient(value, familyName('one')));
      const { id } = first.json();
      expect([first.status, first.headers.etag]).toEqual([201, 'W/"1"']);
      await server.send('PUT', `/Patient/${id}`, patient(value, { id, ...familyName('two') }));
      const second = await create(`identifier=urn:test|${value}`, patient(value, familyName('three')));
      expect([second.status, second.headers.etag]).toEqual([200, 'W/"2"']);
      expect(second.headers.location).toBe(`${server.url}/fhir/Patient/${id}/_history/2`);
      expect(second.headers['last-modified']).toBeDefined();
      expect(second.json()).toMatchObject({ id, name: [{ family: 'two' }], meta: { versionId: '2' } });
      expect(await found(value)).toEqual([id]);
    });

    it('honours Prefer where it finds something', async () => {
      const value = word();
      const [id] = await make(value, 1);
      const minimal = await create(`identifier=urn:test|${value}`, patient(value), { prefer: 'return=minimal' });
      expect([minimal.status, minimal.text, minimal.headers.etag]).toEqual([200, '', 'W/"1"']);
      const outcome = await create(`identifier=urn:test|${value}`, patient(value), {
        prefer: 'return=OperationOutcome',
      });
      expect(outcome.json().issue[0].details.text).toBe(`Patient/${id} is there already, version 1`);
    });

    it.each([
      ['the query alone', (query: string) => query],
      ['a question mark before it', (query: string) => `?${query}`],
      ['the type before it', (query: string) => `Patient?${query}`],
      ['the whole URL', (query: string) => `${server.url}/fhir/Patient?${query}`],
    ])('takes %s', async (_name, form) => {
      const value = word();
      await make(value, 1);
      expect((await create(form(`identifier=urn:test|${value}`), patient(value))).status).toBe(200);
      expect((await create(form(`identifier=urn:test|${value}x`), patient(`${value}x`))).status).toBe(201);
    });

    it('reads the criteria as a query: percent-encoded, "+" a space, "\\" before what belongs to a value', async () => {
      const value = `a b+c,d|e&${word()}`;
      await make(value, 1);
      const escaped = value.replace(/[,|$\\]/g, '\\$&');
      const spaced = encodeURIComponent(escaped).replaceAll('%20', '+');
      for (const encoded of [encodeURIComponent(escaped), spaced]) {
        expect((await create(`identifier=urn:test|${encoded}`, patient(value))).status).toBe(200);
        expect((await update(`identifier=urn:test|${encoded}`, patient(value))).status).toBe(200);
      }
      expect(
        (await create(`identifier=urn:test|${encodeURIComponent(`${escaped}!`)}`, patient(`${value}!`))).status,
      ).toBe(201);
    });

    it('is 412 where several are found, and 400 where the resource is faulty, whatever is found', async () => {
      const value = word();
      await make(value, 2);
      expectRefusal(
        await create(`identifier=urn:test|${value}`, patient(value)),
        412,
        'precondition-failed',
        'Several',
        value,
      );
      const failed = await create(`identifier=urn:test|${value}`, patient(value));
      expect(failed.json().issue[0].code).toBe('multiple-matches');
      const [status] = [(await create(`identifier=urn:test|${value}`, patient(value, { nonsense: 1 }))).status];
      expect(status).toBe(400);
      expect(await found(value)).toHaveLength(2);
    });

    it('may create a resource that does not fulfil the criteria', async () => {
      const [value, other] = [word(), word()];
      expect((await create(`identifier=urn:test|${value}`, patient(other))).status).toBe(201);
      expect((await create(`identifier=urn:test|${value}`, patient(other))).status).toBe(201);
      expect(await found(other)).toHaveLength(2);
    });

    it('creates again what was deleted', async () => {
      const value = word();
      const [id] = await make(value, 1);
      await server.send('DELETE', `/Patient/${id}`);
      const answer = await create(`identifier=urn:test|${value}`, patient(value));
      expect([answer.status, answer.json().id === id]).toEqual([201, false]);
    });

    it('makes one of 200 at once, however the criteria are spelled', async () => {
      const value = word();
      const forms = [
        `identifier=urn:test|${value}&active=true`,
        `active=true&identifier=urn:test|${value}`,
        `Patient?identifier=urn:test|${value}&active=true&active=true`,
      ];
      const body = patient(value, { active: true });
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, i) => insist(() => create(forms[i % 3] ?? '', body))),
      );
      const count = (status: number) => answers.filter((answer) => answer.status === status).length;
      expect([count(201), count(200)]).toEqual([1, 199]);
      expect(new Set(answers.map((answer) => answer.json().id)).size).toBe(1);
      expect(await found(value)).toHaveLength(1);
    }, 60_000);
  });

  describe('conditional update: PUT [base]/[type]?… (http.html#cond-update)', () => {
    it('creates under an id of the server where nothing is found, and updates what is found', async () => {
      const value = word();
      const first = await update(`identifier=urn:test|${value}`, patient(value));
      const { id } = first.json();
      expect([first.status, first.headers.location]).toEqual([201, `${server.url}/fhir/Patient/${id}/_history/1`]);
      const second = await update(`identifier=urn:test|${value}`, patient(value, familyName('new')));
      expect([second.status, second.headers.etag, second.headers.location]).toEqual([
        ...[200, 'W/"2"'],
        `${server.url}/fhir/Patient/${id}/_history/2`,
      ]);
      expect(second.json()).toMatchObject({ id, name: [{ family: 'new' }] });
      const same = await update(`identifier=urn:test|${value}`, patient(value, { id, ...familyName('new') }));
      expect([same.status, same.headers.etag]).toEqual([200, 'W/"2"']);
    });

    it('creates under the id of the body, which revives what was deleted', async () => {
      const value = word();
      const id = `own-${value}`;
      const first = await update(`identifier=urn:test|${value}`, patient(value, { id }));
      expect([first.status, first.json().id]).toEqual([201, id]);
      await server.send('DELETE', `/Patient/${id}`);
      const again = await update(`identifier=urn:test|${value}`, patient(value, { id }));
      expect([again.status, again.headers.etag]).toEqual([201, 'W/"3"']);
    });

    it('refuses an id that is another, or that of a resource the criteria do not find', async () => {
      const value = word();
      const [id = ''] = await make(value, 1);
      const criteria = `identifier=urn:test|${value}`;
      expectRefusal(await update(criteria, patient(value, { id: 'other' })), 400, 'id-mismatch', '"other"', `"${id}"`);
      expectRefusal(await update(`${criteria}x`, patient(value, { id })), 409, 'id-taken', `Patient/${id}`);
      expectRefusal(await update(criteria, patient(value, { id: 'a_b' })), 400, 'id-invalid');
      expectRefusal(await update(criteria, patient(value, { id: 7 })), 400, 'id-invalid');
      expectRefusal(await update(criteria, { resourceType: 'Basic' }), 400, 'type-mismatch');
    });

    it('is 412 where several are found', async () => {
      const value = word();
      await make(value, 2);
      const answer = await update(`identifier=urn:test|${value}`, patient(value));
      expectRefusal(answer, 412, 'precondition-failed', 'Several');
      expect(answer.json().issue[0].code).toBe('multiple-matches');
    });

    it('tells the version that was found in Content-Location, whatever Prefer says', async () => {
      const value = word();
      const criteria = `identifier=urn:test|${value}`;
      const minimal = { prefer: 'return=minimal' };
      const made = await update(criteria, patient(value), minimal);
      expect([made.status, made.headers['content-location']]).toEqual([201, undefined]);
      const [id] = await found(value);
      const versionOf = (version: number) => `${server.url}/fhir/Patient/${id}/_history/${version}`;
      expect(made.headers.location).toBe(versionOf(1));
      for (const [body, headers, version] of [
        [patient(value, { active: true }), minimal, 2],
        [patient(value, { active: true }), minimal, 2],
        [patient(value, { active: false }), {}, 3],
        [patient(value, { active: true }), { prefer: 'return=OperationOutcome' }, 4],
      ] as const) {
        const answer = await update(criteria, body, headers);
        expect([answer.status, answer.headers.location]).toEqual([200, versionOf(version)]);
        expect(answer.headers['content-location']).toBe(versionOf(version));
        expect(answer.text === '').toBe(headers === minimal);
      }
      const byId = await server.send('PUT', `/Patient/${id}`, patient(value, { id }), minimal);
      expect([byId.status, byId.headers['content-location']]).toEqual([200, versionOf(5)]);
    });

    it.each([
      ['the current version, weak', 'W/"1"', 200],
      ['the current version, strong', '"1"', 200],
      ['the current version among others', '"7" , W/"1"', 200],
      ['anything that exists', '*', 200],
      ['another version', 'W/"2"', 412],
      ['others, strong', '"2", "3"', 412],
      ['the current version, without quotes', '1', 200],
      ['nonsense', 'one', 400],
    ])('If-Match: %s', async (_name, header, status) => {
      const value = word();
      const [id = ''] = await make(value, 1);
      const criteria = `identifier=urn:test|${value}`;
      const before = { 'if-match': header };
      expect((await update(criteria, patient(value, { active: true }), before)).status).toBe(status);
      const current = await server.send('GET', `/Patient/${id}`);
      expect(current.headers.etag).toBe(status === 200 ? 'W/"2"' : 'W/"1"');
    });

    it('If-Match is 412 where nothing is found; If-None-Match: * where something is', async () => {
      const value = word();
      const criteria = `identifier=urn:test|${value}`;
      expectRefusal(await update(criteria, patient(value), { 'if-match': 'W/"1"' }), 412, 'precondition-failed');
      expect((await update(criteria, patient(value), { 'if-none-match': '*' })).status).toBe(201);
      expectRefusal(await update(criteria, patient(value), { 'if-none-match': '*' }), 412, 'precondition-failed');
      expect(await found(value)).toHaveLength(1);
    });

    it('of many at once makes one chain of versions without gaps', async () => {
      const value = word();
      const names = Array.from({ length: 60 }, (_, i) => `n${i}`);
      const answers = await Promise.all(
        names.map((name) => insist(() => update(`identifier=urn:test|${value}`, patient(value, familyName(name))))),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(names.length - 1);
      const versions = answers.map(({ headers }) => Number(/\d+/.exec(String(headers.etag))?.[0]));
      expect(versions.sort((a, b) => a - b)).toEqual(names.map((_, i) => i + 1));
      const [id] = await found(value);
      const history = (await server.send('GET', `/Patient/${id}/_history?_count=100`)).json();
      const written = history.entry.map((entry: any) => entry.resource.name[0].family); // eslint-disable-line @typescript-eslint/no-explicit-any
      expect(written.sort()).toEqual([...names].sort());
    }, 60_000);

    it('beside conditional creates and updates by id makes one resource all the same', async () => {
      const value = word();
      const id = `id-${value}`;
      const criteria = `identifier=urn:test|${value}`;
      const works: (() => Promise<Answer>)[] = Array.from({ length: 30 }, (_, i) => [
        () => create(criteria, patient(value, familyName(`c${i}`))),
        () => update(criteria, patient(value, familyName(`u${i}`))),
        () => update(criteria, patient(value, { id, ...familyName(`i${i}`) })),
      ]).flat();
      const answers = await Promise.all(works.map(insist));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      // Those with an id of their own fit only if it is the one that was made.
      for (const { status } of answers) expect([200, 201, 400]).toContain(status);
      expect(await found(value)).toHaveLength(1);
    }, 60_000);
  });

  describe('conditional delete: DELETE [base]/[type]?… (http.html#cdelete)', () => {
    it('deletes the one that is found, and says where there is none', async () => {
      const value = word();
      const [id] = await make(value, 1);
      const answer = await remove(`identifier=urn:test|${value}`);
      expect([answer.status, answer.headers.etag]).toEqual([200, 'W/"2"']);
      expect(answer.json().issue[0].details.text).toBe(`Patient/${id} is deleted`);
      expect((await server.send('GET', `/Patient/${id}`)).status).toBe(410);
      const none = await remove(`identifier=urn:test|${value}`);
      expect([none.status, none.headers.etag]).toEqual([200, undefined]);
      expect(none.json().issue[0].details.text).toContain(
        'Nothing is deleted: no resource fulfils Patient?identifier=',
      );
      expect((await remove(`identifier=urn:test|${value}`, { prefer: 'return=minimal' })).status).toBe(204);
    });

    it('deletes none of several, unless the configuration says so', async () => {
      const value = word();
      await make(value, 2);
      const answer = await remove(`identifier=urn:test|${value}`);
      expectRefusal(answer, 412, 'precondition-failed', 'Several');
      expect(answer.json().issue[0].code).toBe('multiple-matches');
      expect(await found(value)).toHaveLength(2);
    });

    it('If-Match is of the version that is found, and 412 where there is none', async () => {
      const value = word();
      await make(value, 1);
      const criteria = `identifier=urn:test|${value}`;
      const unmet = await remove(criteria, { 'if-match': 'W/"2"' });
      expectRefusal(unmet, 412, 'precondition-failed', 'W/"1"');
      expect(unmet.json().issue[0].code).toBe('conflict');
      expect((await remove(criteria, { 'if-match': '"1"' })).status).toBe(200);
      expectRefusal(await remove(criteria, { 'if-match': '*' }), 412, 'precondition-failed');
    });
  });

  describe('criteria of writes', () => {
    const cases: [string, string, string, string][] = [
      ['no criterion', '', 'criteria-missing', 'criteria'],
      ['only what says how to answer', '_format=json', 'criteria-missing', 'criteria'],
      ['an unknown parameter', 'nonsense=1', 'parameter-unknown', '"nonsense"'],
      ['an unknown modifier', 'identifier:nonsense=1', 'modifier-unknown', '"identifier:nonsense"'],
      ['a criterion without a value', 'identifier=&active=true', 'parameter-invalid', '"identifier" has no value'],
      ['a criterion with an empty alternative', 'identifier=a,,b', 'parameter-invalid', '"identifier"'],
      ['an order', 'identifier=a&_sort=name', 'parameter-invalid', '"_sort"'],
      ['a number of results', 'identifier=a&_count=1', 'parameter-invalid', '"_count"'],
      ['a view', 'identifier=a&_elements=name', 'parameter-invalid', '"_elements"'],
      ['an include', 'identifier=a&_include=Patient:link', 'parameter-invalid', '"_include"'],
      [
        'an include that iterates',
        'identifier=a&_revinclude:iterate=Patient:link',
        'parameter-invalid',
        '"_revinclude',
      ],
      ['a chain', 'link:Patient.name=a', 'parameter-invalid', '"link:Patient.name" asks for other resources'],
      ['a chain back', '_has:Patient:link:name=a', 'parameter-invalid', 'search by it first, then write by id'],
      ['a search of the whole system', 'identifier=a&_type=Patient', 'parameter-unknown', '"_type"'],
      ['what is encoded wrongly', 'identifier=%zz', 'parameter-invalid', 'not encoded well'],
    ];

    it.each(cases)('with %s are 400', async (_name, query, code, text) => {
      const lenient = { prefer: 'handling=lenient' };
      expectRefusal(
        await create(query, patient('x'), lenient),
        400,
        code,
        'If-None-Exist',
        text.replace('criteria', 'criteria'),
      );
      expectRefusal(await update(query, patient('x'), lenient), 400, code, text);
      expectRefusal(await remove(query, lenient), 400, code, text);
      const patch = { ...lenient, 'content-type': 'application/json-patch+json' };
      expectRefusal(await server.send('PATCH', `/Patient?${query}`, '[]', patch), 400, code, text);
    });

    it('are what an update needs, where it names no id', async () => {
      const answer = await server.send('PUT', '/Patient', patient('x'));
      expectRefusal(answer, 400, 'criteria-missing', '[type]/[id]', '[type]?identifier=');
    });

    it('in If-None-Exist lie below the base of the server, if any', async () => {
      const answer = await create('http://other.example/fhir/Patient?identifier=x', patient('x'));
      expectRefusal(answer, 400, 'parameter-invalid', 'If-None-Exist: "http://other.example/fhir/Patient" lies under');
      expectRefusal(
        answer,
        400,
        'parameter-invalid',
        'another base than that of this server; the query alone is enough',
      );
    });

    it('in If-None-Exist are of the type in the URL, once, and ASCII', async () => {
      expectRefusal(await create('Basic?identifier=x', patient('x')), 400, 'type-mismatch', 'Basic', 'Patient');
      expectRefusal(await create('name=Müller', patient('x')), 400, 'header-invalid', 'percent-encoded');
      const twice = ['identifier=x', 'identifier=y'] as unknown as string;
      expectRefusal(await create(twice, patient('x')), 400, 'header-invalid', 'once');
    });

    it('may be what all resources have, by all kinds of parameters', async () => {
      const value = word();
      const [id = ''] = await make(value, 1);
      await server.send(
        'PUT',
        `/Patient/${id}`,
        patient(value, { id, birthDate: '1990-05-05', meta: { tag: [{ code: value }] } }),
      );
      for (const query of [`_id=${id}`, `_tag=${value}`, `birthdate=1990&_id=${id}`, `_id=${id}&active:missing=true`]) {
        expect((await create(query, patient(value))).status, query).toBe(200);
      }
      expect((await create(`_id=${id}&active:missing=false`, patient(word()))).status).toBe(201);
    });
  });

  describe('conditional deletion of several', () => {
    const several = useWriteServer(data, { deletesMultiple: true });
    const removeAll = (criteria: string, headers: Record<string, string> = {}) =>
      several.send('DELETE', `/Patient?${criteria}`, undefined, headers);

    it('removes all of them at once', async () => {
      const value = word();
      const ids = await make(value, 30);
      const answer = await removeAll(`identifier=urn:test|${value}`);
      expect([answer.status, answer.headers.etag]).toEqual([200, undefined]);
      const text = answer.json().issue[0].details.text as string;
      expect(text).toContain(`Patient/${ids[0]}, `);
      expect(text).toMatch(/ and 20 more are deleted$/);
      expect(await found(value)).toEqual([]);
      for (const id of ids) expect((await server.send('GET', `/Patient/${id}`)).status).toBe(410);
    });

    it('refuses If-Match for several, and takes it for one', async () => {
      const value = word();
      await make(value, 2);
      const match = { 'if-match': 'W/"1"' };
      expectRefusal(await removeAll(`identifier=urn:test|${value}`, match), 412, 'precondition-failed', 'If-Match');
      await server.send('DELETE', `/Patient/${(await found(value))[0]}`);
      expect((await removeAll(`identifier=urn:test|${value}`, match)).status).toBe(200);
    });

    it('says in its CapabilityStatement what it does', async () => {
      const type = async (of: typeof server) =>
        (await of.send('GET', '/metadata'))
          .json()
          .rest[0].resource.find((each: { type: string }) => each.type === 'Patient');
      expect(await type(several)).toMatchObject({ conditionalDelete: 'multiple' });
      expect(await type(server)).toMatchObject({
        conditionalCreate: true,
        conditionalUpdate: true,
        conditionalPatch: true,
        conditionalDelete: 'single',
      });
    });
  });
}
