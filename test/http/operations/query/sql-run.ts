import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { tables } from '../../../../generated/tables.js';
import { writeJson } from '../../../../runtime/format/write-json.js';
import { jsonMembers } from '../../../../runtime/core/write/compose-change.js';
import { readJson } from '../../../../runtime/format/read-json.js';
import type { JsonObject, Resource } from '../../../../runtime/fhir/resource.js';
import { createExtractor } from '../../../../runtime/indexing/extract.js';
import type { FindPage, Store } from '../../../../runtime/store/store.js';
import { readSuite, unordered, type SuiteCase } from '../../../conformance/views/suite.js';
import { scopedServer } from '../../auth/scoped.js';
import type { Answer } from '../../server.js';
import { expectRefusal } from '../../write-server.js';

type Part = Readonly<Record<string, unknown>>;

/** `$sql-run` */
export function sqlRun(store: Store): void {
  const server = scopedServer(store);
  const inline = (view: JsonObject): Part => ({
    name: 'subjectResource',
    resource: { resourceType: 'ViewDefinition', status: 'active', ...view },
  });
  /** The store, whose pages are shown as they are read. */
  const watchedPages = (look: (page: FindPage) => unknown): Store =>
    new Proxy(store, {
      get(target, name: keyof Store) {
        const value: unknown = target[name];
        if (name !== 'find') return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        return async (...args: Parameters<Store['find']>) => {
          const page = await target.find(...args);
          await look(page);
          return page;
        };
      },
    });
  const run = (
    parameter: readonly Part[],
    as: Pick<typeof server.all, 'send'> = server.all,
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    as.send('POST', '/$sql-run', writeJson({ resourceType: 'Parameters', parameter } as unknown as JsonObject), {
      'content-type': 'application/fhir+json',
      ...headers,
    });
  const rowsOf = ({ status, text }: Answer): JsonObject[] => {
    expect(status, text).toBe(200);
    return text.split('\n').filter((line) => line !== '').map((line) => readJson(line) as JsonObject); // prettier-ignore
  };
  const columns = (resource: string, paths: Readonly<Record<string, string>>, more: JsonObject = {}): JsonObject => ({
    resource,
    select: [{ column: Object.entries(paths).map(([name, path]) => ({ name, path })) }],
    ...more,
  });

  describe('the language suite', () => {
    const files = readSuite();
    const check = ({ expect: rows }: SuiteCase, answer: Answer): void => {
      if (rows === undefined) {
        expect([400, 422]).toContain(answer.status);
        expectRefusal(answer, answer.status, 'view-invalid');
        return;
      }
      expect(unordered(rowsOf(answer))).toEqual(unordered(rows));
    };

    it.each(files)('$name runs over data of the request', async ({ cases, resources }) => {
      const data = resources.map((resource) => ({ name: 'resource', resource }));
      for (const each of cases) check(each, await run([inline(each.view), ...data]));
    });

    it.each(files)('$name runs over stored data', async ({ cases, resources }) => {
      const types = [...new Set(resources.map(({ resourceType }) => resourceType))];
      // Written past the checks of a server: some of the data are of earlier releases.
      await clear(types);
      for (const each of resources) await put(each);
      for (const each of cases) check(each, await run([inline(each.view)]));
      await clear(types);
    });
  });

  describe('the answer', () => {
    const people: readonly JsonObject[] = [
      { id: 'ada', active: true, name: [{ family: 'Lovelace', given: ['Ada', 'Augusta'] }], birthDate: '1815-12-10' },
      { id: 'bo', name: [{ family: 'O"Hara, junior', given: ['Bo'] }], gender: 'other' },
    ];
    const view = columns('Patient', { id: 'id', active: 'active', family: 'name.family', born: 'birthDate' });
    beforeAll(async () => {
      for (const each of people)
        await server.all.send('PUT', `/Patient/${String(each['id'])}`, { resourceType: 'Patient', ...each });
      const value = `{"resourceType":"Observation","id":"o","status":"final","code":{"text":"x"},"subject":{"reference":"Patient/ada"},"issued":"2020-01-02T03:04:05.678+02:00","valueQuantity":{"value":5.40}}`;
      const { status } = await server.all.send('PUT', '/Observation/o', value, {
        'content-type': 'application/fhir+json',
      });
      expect(status).toBe(201);
      await server.all.send('PUT', '/Group/g', { resourceType: 'Group', id: 'g', type: 'person', membership: 'enumerated', member: [{ entity: { reference: 'Patient/bo' } }, { entity: { reference: 'Patient/ada' }, inactive: true }] }); // prettier-ignore
    });

    it.each([
      ['ndjson', 'application/x-ndjson', '{"id":"ada","active":true,"family":"Lovelace","born":"1815-12-10"}\n{"id":"bo","active":null,"family":"O\\"Hara, junior","born":null}\n'],
      ['json', 'application/json', '[{"id":"ada","active":true,"family":"Lovelace","born":"1815-12-10"},\n{"id":"bo","active":null,"family":"O\\"Hara, junior","born":null}]'],
      ['csv', 'text/csv; charset=utf-8', 'id,active,family,born\nada,true,Lovelace,1815-12-10\nbo,,"O""Hara, junior",\n'],
    ])('is %s', async (format, type, text) => {
      const answer = await run([inline(view), { name: '_format', valueCode: format }]);
      expect([answer.headers['content-type'], answer.text]).toEqual([type, text]);
      expect((await run([inline(view)], server.all, { accept: type })).text).toBe(text);
    }); // prettier-ignore

    it('is Parameters', async () => {
      const answer = await run([inline(view), { name: '_format', valueCode: 'fhir' }]);
      expect(answer.headers['content-type']).toContain('application/fhir+json');
      expect(answer.json()).toMatchObject({ resourceType: 'Parameters', parameter: [
        { name: 'row', part: [{ name: 'id', valueId: 'ada' }, { name: 'active', valueBoolean: true }, { name: 'family', valueString: 'Lovelace' }, { name: 'born', valueDate: '1815-12-10' }] },
        { name: 'row', part: [{ name: 'id' }, { name: 'family' }] },
      ] }); // prettier-ignore
    });

    it('is in a Binary for a client that takes resources alone', async () => {
      const parts = [inline(view), { name: '_format', valueCode: 'csv' }, { name: 'header', valueBoolean: false }];
      const { contentType, data } = (
        await run(parts, server.all, { accept: 'application/fhir+json' })
      ).json() as Record<string, string>;
      expect(contentType).toBe('text/csv; charset=utf-8');
      expect(Buffer.from(data!, 'base64').toString()).toMatch(/^ada,/);
      const refused = run([inline(view), { name: '_format', valueCode: 'ndjson' }], server.all, {
        accept: 'application/fhir+json',
      });
      expectRefusal(await refused, 406, 'not-acceptable');
    });

    it('keeps the digits of decimals and instants', async () => {
      const observation = columns('Observation', {
        value: 'value.ofType(Quantity).value',
        issued: 'issued',
        subject: 'subject.getReferenceKey(Patient)',
      });
      expect((await run([inline(observation)])).text).toBe(
        '{"value":5.40,"issued":"2020-01-02T03:04:05.678+02:00","subject":"ada"}\n',
      );
      expect((await run([inline(observation), { name: '_format', valueCode: 'csv' }])).text).toBe(
        'value,issued,subject\n5.40,2020-01-02T03:04:05.678+02:00,ada\n',
      );
    });

    it.each([
      ['_limit', [{ name: '_limit', valueInteger: 1 }], ['ada']],
      ['_limit=0', [{ name: '_limit', valueInteger: 0 }], []],
      ['patient', [{ name: 'patient', valueReference: { reference: 'Patient/bo' } }], ['bo']],
      ['group', [{ name: 'group', valueReference: { reference: 'Group/g' } }], ['bo']],
      ['both', [{ name: 'group', valueReference: { reference: 'Group/g' } }, { name: 'patient', valueReference: { reference: 'Patient/ada' } }], []],
      ['_since', [{ name: '_since', valueInstant: '2999-01-01T00:00:00Z' }], []],
    ])('is narrowed by %s', async (_name, more, ids) => {
      expect(rowsOf(await run([inline(view), ...more])).map(({ id }) => id)).toEqual(ids);
    }); // prettier-ignore

    it('has what was sent in place of what is stored, narrowed as well', async () => {
      const entry = ['p', 'q'].map((id) => ({ resource: { resourceType: 'Patient', id, link: 'no list' } }));
      const data = { name: 'resource', resource: { resourceType: 'Bundle', type: 'collection', entry } };
      expect(rowsOf(await run([inline(view), data], server.as(''))).map(({ id }) => id)).toEqual(['p', 'q']);
    });

    it.each<[string, readonly Part[], number, string, string]>([
      ['without a subject', [], 400, 'parameter-invalid', 'subject'],
      ['with two', [inline(view), { name: 'subjectCanonical', valueCanonical: 'http://x.example/v' }], 400, 'parameter-invalid', 'subject'],
      ['of a broken view', [inline(columns('Patient', { a: 'foo(' }))], 422, 'view-invalid', 'subjectResource'],
      ['of several values', [inline(columns('Patient', { a: 'name.given' }))], 422, 'view-invalid', 'subjectResource'],
      ['in an unknown form', [inline(view), { name: '_format', valueCode: 'xlsx' }], 400, 'parameter-invalid', '_format'],
      ['below zero', [inline(view), { name: '_limit', valueInteger: -1 }], 400, 'parameter-invalid', '_limit'],
      ['of an unknown patient', [inline(view), { name: 'patient', valueReference: { reference: 'Patient/none' } }], 400, 'parameter-invalid', 'patient'],
      ['from elsewhere', [inline(view), { name: 'source', valueUri: 'https://x.example' }], 400, 'parameter-unknown', 'source'],
    ])('%s is refused', async (_title, parts, status, code, expression) => {
      const answer = await run(parts);
      expectRefusal(answer, status, code);
      const [issue] = (answer.json() as { issue: { expression?: string[] }[] }).issue;
      expect(issue?.expression?.[0] ?? '').toBe(expression);
    }); // prettier-ignore

    it('shows what a search with the token shows', async () => {
      expect((await run([inline(view)], server.as('system/Observation.s'))).status).toBe(403);
      const narrowed = server.as('system/Patient.s?gender=other');
      expect(rowsOf(await run([inline(view)], narrowed)).map(({ id }) => id)).toEqual(['bo']);
      const where = [{ path: "name.family = 'Lovelace'" }];
      expect(rowsOf(await run([inline({ ...view, where })], narrowed))).toEqual([]);
      expect(
        rowsOf(await run([inline(view), { name: '_limit', valueInteger: 1 }], narrowed)).map(({ id }) => id),
      ).toEqual(['bo']);
    });

    describe('of many pages', () => {
      const ids = Array.from({ length: 60 }, (_, n) => `m${n + 10}`);
      const write = (active: boolean): Promise<Answer> => {
        const entry = ids.map((id) => ({ resource: { resourceType: 'Patient', id, language: 'de', active }, request: { method: 'PUT', url: `Patient/${id}` } })); // prettier-ignore
        return server.all.send('POST', '/', { resourceType: 'Bundle', type: 'transaction', entry });
      };
      let pages = 0;
      const between = watchedPages(async ({ versions }) => {
        if (versions.length > 0 && pages++ === 0) expect((await write(false)).status).toBe(200);
      });
      const own = scopedServer(between);
      beforeAll(async () => expect((await write(true)).status).toBe(200));
      afterAll(() => clear(['Patient'], ids));

      it('is of one moment, whatever clocks say, and what is written between them', async () => {
        const clock = vi.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() + 5000);
        try {
          const table = columns('Patient', { id: 'id', active: 'active' }, { where: [{ path: "language = 'de'" }] });
          const rows = rowsOf(await run([inline(table)], own.all));
          expect(rows.map(({ active }) => active)).toEqual(ids.map(() => true));
          expect(pages).toBeGreaterThan(1);
        } finally {
          clock.mockRestore();
        }
      });
    });

    it.each<[string, string, string, number, readonly string[] | string]>([
      ['a patient, with s', 'system/Patient.s', 'patient', 200, ['bo']],
      ['a patient, without rights on Patient', 'system/Observation.s', 'patient', 403, 'scope="system/Patient.r"'],
      ['a patient, hidden', 'system/Observation.s system/Patient.s?gender=male', 'patient', 400, ''],
      ['a group, with r', 'system/Patient.s system/Group.r', 'group', 200, ['bo']],
      ['a group, with s alone', 'system/Patient.s system/Group.s', 'group', 403, 'scope="system/Group.r"'],
      ['a group, hidden', 'system/Patient.s system/Group.r?type=device', 'group', 400, ''],
    ])('takes %s', async (_title, scopes, name, status, wanted) => {
      const table = scopes.includes('Observation') ? columns('Observation', { id: 'id' }) : view;
      const reference = name === 'patient' ? 'Patient/bo' : 'Group/g';
      const answer = await run([inline(table), { name, valueReference: { reference } }], server.as(scopes));
      expect(answer.status, answer.text).toBe(status);
      if (Array.isArray(wanted)) expect(rowsOf(answer).map(({ id }) => id)).toEqual(wanted);
      else expect(String(answer.headers['www-authenticate'] ?? '')).toContain(wanted);
    });

    it('is of one instant', async () => {
      const answers = [
        run([inline(view)]),
        server.all.send('PUT', '/Patient/ada', { resourceType: 'Patient', id: 'ada', name: [{ family: 'King' }] }),
      ];
      const [answer] = await Promise.all(answers);
      // What is replaced before it is reached comes last.
      expect(
        rowsOf(answer!)
          .map(({ id }) => String(id))
          .sort(),
      ).toEqual(['ada', 'bo']);
    });

    describe('with conditions', () => {
      let found = 0;
      const stale: string[] = [];
      const counted = watchedPages(({ versions }) => (found += versions.length));
      const indexStatus = { notCurrent: () => Promise.resolve(stale) };
      const own = scopedServer(counted, { indexStatus });
      const patients = ['ada', 'bo'].map((id) => ({ name: 'patient', valueReference: { reference: `Patient/${id}` } }));
      const who = own.as('system/Patient.rs');
      const conditions = (...paths: readonly string[]) => columns('Patient', { id: 'id' }, { where: paths.map((path) => ({ path })) }); // prettier-ignore

      it.each<[string, readonly string[], readonly string[], readonly string[], number]>([
        ['reads what a search for them finds', ["gender = 'other'"], [], ['bo'], 1],
        ['tests what it finds', ["name.where(use = 'usual').family = 'King'"], [], [], 1],
        ['reads all where no search finds them', ["gender.startsWith('o')"], [], ['bo'], 2],
        ['reads all while an index is not current', ["gender = 'other'"], ['Patient.gender'], ['bo'], 2],
        ['goes by those whose index is current', ["gender = 'other'", "name.family = 'x'"], ['Patient.gender'], [], 0],
      ])('%s', async (_title, paths, notCurrent, ids, looked) => {
        stale.splice(0, stale.length, ...notCurrent);
        found = 0;
        const rows = rowsOf(await run([inline(conditions(...paths)), ...patients], who));
        // Each patient is looked up first.
        expect([rows.map(({ id }) => id), found - patients.length]).toEqual([ids, looked]);
      });
    });

    it('is a Binary in a batch', async () => {
      const request = { method: 'POST', url: '$sql-run' };
      const resource = { resourceType: 'Parameters', parameter: [inline(view), { name: '_format', valueCode: 'csv' }] };
      const answer = await server.all.send('POST', '', {
        resourceType: 'Bundle',
        type: 'batch',
        entry: [{ request, resource }],
      });
      const [entry] = (answer.json() as { entry: { resource: { data: string; contentType: string } }[] }).entry;
      expect(entry?.resource.contentType).toContain('text/csv');
      expect(Buffer.from(entry!.resource.data, 'base64').toString()).toMatch(/^id,active,family,born\n/);
    });
  });

  const extract = createExtractor(tables);
  const put = async (resource: Resource): Promise<void> => {
    const { resourceType: type, id, ...rest } = resource;
    const found = await store.read(type, String(id));
    const body = { head: `{"resourceType":"${type}","id":"${String(id)}","meta":{`, tail: `}${jsonMembers(rest)}}` };
    await store.write([
      { type, id: String(id), expected: found?.version ?? 0, content: resource, body, entries: extract(resource) },
    ]);
  };
  const clear = async (types: readonly string[], ids?: readonly string[]): Promise<void> => {
    for (const type of types) {
      const { versions } = await store.find({ type, where: { all: [] }, sort: [], count: 1000, total: 'none' });
      for (const { id, version } of versions) {
        if (ids === undefined || ids.includes(id)) await store.write([{ type, id, expected: version }]);
      }
    }
  };
}
