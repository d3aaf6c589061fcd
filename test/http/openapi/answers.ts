import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createFetchFile } from '../../../runtime/assembly/fetch-file.js';
import { OPERATIONS } from '../../../runtime/operations/registry.js';
import { isWired } from '../../../runtime/interactions/registry.js';
import { contentDigest, NEW } from '../../../runtime/subscriptions/engine/digest.js';
import { SubscriptionRows } from '../../../runtime/subscriptions/engine/rows.js';
import { publishOn } from '../../../runtime/jobs/export/publish.js';
import type { Store } from '../../../runtime/store/store.js';
import { ASYNC, jobsServer } from '../jobs/jobs-server.js';
import { FORM_CALLS, JOBS } from '../operations/forms/form-calls.js';
import { FORM_WORLD } from '../operations/forms/form-world.js';
import { parametersOf, pathOf, postPath, queryOf } from '../operations/forms/forms.js';
import { mergeParameters, replacementParameters, undoMergeParameters } from '../operations/replacement-support.js';
import { codeOf, type Answer } from '../server.js';
import { Documented, type Document } from './documented.js';

const XML = { accept: 'application/fhir+xml' };
const MINIMAL = { prefer: 'return=minimal' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const PLAIN = { 'content-type': 'text/plain' };
const NDJSON = { 'content-type': 'application/fhir+ndjson' };

/** Places where a request needs what only a body can have: the definition of the operation lets them be called by GET. */
const REFUSED = [
  'GET /$sql-run',
  'GET /Patient/$validate',
  'GET /Binary/$validate',
  'GET /CodeSystem/$find-matches',
  'GET /CodeSystem/{id}/$find-matches',
];

/** Types that interactions of every type are tried on: an ordinary one, and the one whose resources are contents. */
const TRIED = ['Patient', 'Binary'];

const outcome = { prefer: 'return=OperationOutcome' };
const patient = (more: object = {}) => ({ resourceType: 'Patient', ...more });
const value = (name: string, type: string, given: unknown) => ({ name, [`value${type}`]: given });
const VIEW = {
  name: 'subjectResource',
  resource: {
    ...{ resourceType: 'ViewDefinition', status: 'active', resource: 'Patient' },
    select: [{ column: [{ name: 'id', path: 'id' }] }],
  },
};
const parameters = (...parameter: object[]) => ({
  resourceType: 'Parameters',
  ...(parameter.length > 0 && { parameter }),
});
const below = (answer: Answer, header = 'content-location'): string =>
  String(answer.headers[header]).replace(/^.*?\/fhir/, '');

/** What is published. */
const PUBLISHED = { types: ['Patient'], every: 3_600_000 };

/** Every place of the interface is called, and its answers are those that its OpenAPI document has. */
export function documentedAnswers(store: Store): void {
  const server = jobsServer(store, {
    allowsExpunge: true,
    publish: PUBLISHED,
    hasWebsocket: true,
    fetchFile: createFetchFile(['files.example']),
  });
  let documented: Documented;
  let documents: Document;
  const call: Documented['call'] = (...request) => documented.call(...request);

  beforeAll(async () => {
    documents = (await server.raw('GET', '/openapi/all.json')).json() as Document;
    documented = new Documented(documents, server.all.send);
    const more = ['Device', 'Practitioner', 'RelatedPerson'].map((resourceType) => ({
      ...{ resourceType, id: 'good' },
      ...(resourceType === 'RelatedPerson' && { patient: { reference: 'Patient/good' } }),
    }));
    for (const content of [...FORM_WORLD, ...more, { resourceType: 'Patient', id: 'other' }]) {
      await server.all.send('PUT', `/${content.resourceType}/${content.id}`, content);
    }
    await server.all.send('PUT', '/Patient/good', { ...FORM_WORLD[0], gender: 'male' });
  });

  it('reads and writes of a type', async () => {
    const made = await call('POST', '/Patient', patient({ identifier: [{ value: 'one' }] }), { 'if-none-exist': 'identifier=one' }); // prettier-ignore
    const [, type = '', id = ''] = below(made, 'location').split('/');
    await call('POST', '/Patient', patient(), { 'if-none-exist': 'identifier=one', ...MINIMAL });
    await call('POST', '/Patient', patient(), outcome);
    const at = `/${type}/${id}`;
    const read = await call('GET', at, undefined, XML);
    await call('GET', at, undefined, { 'if-none-match': String(read.headers['etag']) });
    await call('GET', `${at}/_history/1`);
    await call('PUT', at, patient({ id, active: true }), { 'if-match': 'W/"1"' });
    await call('PUT', `${at}-new`, patient({ id: `${id}-new` }), { 'if-none-match': '*', ...MINIMAL });
    await call('PUT', '/Patient?identifier=two', patient({ identifier: [{ value: 'two' }] }));
    await call('PUT', '/Patient?identifier=two', patient({ identifier: [{ value: 'two' }], active: true }), outcome);
    const activate = [{ op: 'add', path: '/active', value: false }];
    await call('PATCH', at, activate, { ...JSON_PATCH, ...MINIMAL });
    await call('PATCH', '/Patient?identifier=two', activate, JSON_PATCH);
    await call('GET', `${at}/_history`);
    await call('GET', '/Patient/_history');
    await call('GET', '/Patient?family=a&_count=2', undefined, XML);
    await call('POST', '/Patient/_search', 'family=a', FORM);
    await call('DELETE', `${at}/_history/1`);
    await call('DELETE', `${at}/_history`);
    await call('DELETE', '/Patient?identifier=two');
    await call('DELETE', `${at}-new`);
    await call('DELETE', at, undefined, MINIMAL);
  });

  it('contents of any type', async () => {
    const context = { 'x-security-context': 'Patient/good' };
    const made = await call('POST', '/Binary', 'some text', { ...PLAIN, ...context });
    const at = /^\/Binary\/[^/]+/.exec(below(made, 'location'))![0];
    const open = below(await call('POST', '/Binary', { resourceType: 'Binary', contentType: 'text/plain', data: 'eA==' }), 'location'); // prettier-ignore
    const read = await call('GET', at);
    expect(read.headers['content-type']).toMatch(/^text\/plain/);
    const version = { 'if-none-match': String(read.headers['etag']) };
    await call('GET', at, undefined, { accept: 'application/fhir+json' });
    await call('GET', at, undefined, { range: 'bytes=0-3' });
    await call('GET', at, undefined, version);
    await call('GET', `${at}/_history/1`);
    await call('PUT', at, 'other', { ...PLAIN, ...context });
    await call('PUT', at, 'others', { ...PLAIN, ...context, prefer: 'return=representation' });
    await call('PUT', `${at}-new`, 'new', { ...PLAIN, ...context, prefer: 'return=representation' });
    await call('PUT', '/Binary?_id=none', 'new', { ...PLAIN, ...context });
    await call('PATCH', at, [{ op: 'replace', path: '/contentType', value: 'text/csv' }], JSON_PATCH);
    const patched = await call('PATCH', `/Binary?_id=${open.split('/')[2]}`, [{ op: 'replace', path: '/contentType', value: 'text/csv' }], JSON_PATCH); // prettier-ignore
    expect(patched.status, patched.text).toBe(200);
    await call('POST', '/Binary', 'x', { ...PLAIN, 'if-none-exist': `_id=${open.split('/')[2]}`, prefer: 'return=representation' }); // prettier-ignore
    await call('GET', `${at}/_history`);
    await call('GET', '/Binary/_history');
    await call('GET', '/Binary?_id=x');
    await call('POST', '/Binary/_search', '_id=x', FORM);
    await call('DELETE', `${at}/_history/1`);
    await call('DELETE', `${at}/_history`);
    await call('DELETE', `/Binary?_id=${at.slice(8)}-new`);
    await call('DELETE', at);
  });

  it('what names no type', async () => {
    const statement = await call('GET', '/metadata');
    await call('GET', '/metadata?mode=terminology');
    await call('GET', '/metadata', undefined, { 'if-none-match': String(statement.headers['etag']) });
    await call('POST', '/', { resourceType: 'Bundle', type: 'batch', entry: [{ request: { method: 'GET', url: 'Patient' } }] }); // prettier-ignore
    await call('GET', '/?_type=Patient&_count=1');
    await call('POST', '/_search', '_type=Patient&_count=1', FORM);
    await call('GET', '/_history?_count=1');
  });

  it('searches in compartments', async () => {
    for (const { method, path } of tables.routes.filter(({ interaction }) => interaction === 'search-compartment')) {
      const place = `/${path.replace('[id]', 'good')}`;
      const answer = method === 'GET' ? await call('GET', `${place}?_count=1`) : await call('POST', place, '_count=1', FORM); // prettier-ignore
      expect(answer.status, `${method} ${place} ${answer.text.slice(0, 200)}`).toBe(200);
    }
  });

  describe('operations', () => {
    it('of types that have no call of their own', async () => {
      const meta = parameters(value('meta', 'Meta', { tag: [{ system: 'http://x.example', code: 'x' }] }));
      const bodies: Readonly<Record<string, object>> = { 'Resource-meta-add': meta, 'Resource-meta-delete': meta };
      const bytes = (text: string) => server.all.send('PUT', '/Binary/seat', text, PLAIN);
      const graph = (start: string) => ({
        ...{ resourceType: 'GraphDefinition', id: start.toLowerCase(), url: `http://x.example/${start}`, name: 'X' },
        ...{ status: 'active', start: 'a', node: [{ nodeId: 'a', type: start }] },
      });
      for (const [type, id] of [
        ['Patient', 'good'],
        ['Binary', 'seat'],
      ] as const) {
        await server.all.send('PUT', `/GraphDefinition/${type.toLowerCase()}`, graph(type));
        for (const { method, path, operation = '' } of tables.routes) {
          if (!path.startsWith('[type]') || !OPERATIONS.has(operation)) continue;
          if (type === 'Binary') for (const text of ['x', 'y']) await bytes(text);
          const queries: Readonly<Record<string, string>> = {
            'Resource-graph': `?graph=GraphDefinition/${type.toLowerCase()}`,
            'Resource-graphql': path.includes('[id]') ? '?query={id}' : `?query={${type}List(_id:"none"){id}}`,
            ...(method === 'POST' && { 'Resource-graphql': '' }),
          };
          const place = path.replace('[type]', type).replace('[id]', id).replace('[vid]', '1');
          const query = path.includes('[id]') ? '{id}' : `{${type}List(_id:"none"){id}}`;
          const sent =
            operation === 'Resource-graphql' ? parameters(value('query', 'String', query)) : bodies[operation];
          await call(method, `/${place}${queries[operation] ?? ''}`, method === 'GET' ? undefined : (sent ?? parameters())); // prettier-ignore
        }
      }
      await call('GET', '/CodeSystem/$find-matches?system=http://form.example/codes&exact=true');
      await call('GET', '/CodeSystem/good/$find-matches?exact=true');
    });

    it('requests that are answered later', async () => {
      const later = async (prefer: string): Promise<string> => {
        const answer = await server.all.send('GET', '/Patient', undefined, { prefer });
        expect(answer.status, answer.text).toBe(202);
        return below(answer);
      };
      const [plain, redirected] = [await later('respond-async'), await later('respond-async, async-form=redirect')];
      expect((await call('GET', plain)).status).toBe(202);
      await server.finish();
      expect((await call('GET', plain)).json().resourceType).toBe('Bundle');
      const redirect = await call('GET', redirected);
      expect(redirect.status).toBe(303);
      expect((await call('GET', redirected.replace('poll-status', 'result'))).json().type).toBe('searchset');
      for (const at of [plain, redirected]) expect((await call('DELETE', at)).status).toBe(202);
    });

    it('changes of many', async () => {
      const search = value('url', 'String', 'Basic?_id=none');
      const patch = { name: 'patch', resource: { resourceType: 'Parameters' } };
      const dry = { name: 'dryRun', valueBoolean: true };
      for (const [operation, more] of [
        ['/$bulk-delete', []],
        ['/$bulk-patch', [patch]],
      ] as const)
        // prettier-ignore
        expect((await call('POST', operation, parameters(search, ...more, dry))).status).toBe(200);
      const at = below(await call('POST', '/$bulk-delete', parameters(search), ASYNC));
      await server.finish();
      expect((await call('GET', at)).status).toBe(200);
      const undo = parameters(value('_jobId', 'String', at.split('=')[1]));
      expect((await call('POST', '/$bulk-undo', undo, ASYNC)).status).toBe(202);
      await server.finish();
    });

    it('what is published', async () => {
      const look = () => publishOn({ store, jobs: server.jobs, settings: PUBLISHED, now: Date.now });
      await look();
      await server.finish();
      await look();
      const answer = await call('GET', '/$bulk-publish');
      expect(answer.status, answer.text).toBe(200);
      const known = { 'if-none-match': String(answer.headers['etag']) };
      expect((await call('GET', '/$bulk-publish', undefined, known)).status).toBe(304);
    });

    it('what is submitted', async () => {
      const names = [
        { name: 'submitter', valueIdentifier: { value: 'us' } },
        { name: 'submissionId', valueString: 'one' },
      ];
      const state = (code: string) => parameters(...names, { name: 'submissionStatus', valueCoding: { code } });
      expect((await call('POST', '/$bulk-submit', state('in-progress'))).status).toBe(200);
      const at = below(await call('POST', '/$bulk-submit-status', parameters(...names), ASYNC));
      expect((await call('GET', at)).status).toBe(202);
      expect((await call('POST', '/$bulk-submit', state('completed'))).status).toBe(200);
      expect((await call('GET', at)).status).toBe(200);
      expect((await call('DELETE', at)).status).toBe(202);
    });

    it('work that is followed', async () => {
      for (const [start, body] of [
        ['/$export', parameters(value('_type', 'String', 'Patient'), value('_exportId', 'String', 'a'))],
        ['/$import', parameters({ name: 'input', part: [value('url', 'Uri', await uploaded()), value('type', 'Code', 'Patient')] })], // prettier-ignore
      ] as const) {
        const without = await server.all.send('POST', start, body);
        expect([without.status, codeOf(without)]).toEqual([400, 'async-only']);
        const at = below(await call('POST', start, body, ASYNC));
        expect((await call('GET', at)).status).toBe(202);
        await server.finish();
        const ended = await call('GET', at);
        expect([ended.status, ended.headers['content-type']], ended.text).toEqual([200, 'application/json']);
        const [operation = '', id = ''] = at.split('?_jobId=');
        expect((await call('POST', operation, parameters(value('_jobId', 'String', id)))).status).toBe(200);
        expect((await call('DELETE', at)).status).toBe(202);
      }
      const tables = below(await call('POST', '/$sql-export', parameters({ name: 'subject', part: [VIEW] }), ASYNC));
      expect((await call('GET', tables)).status).toBe(202);
      await server.finish();
      expect((await call('GET', tables)).status).toBe(303);
      expect((await call('GET', `${tables}&_result=true`)).status).toBe(200);
      expect((await call('POST', '/$sql-export-poll-status', parameters(value('_jobId', 'String', tables.split('=')[1])))).status).toBe(303); // prettier-ignore
      expect((await call('DELETE', tables)).status).toBe(202);
      const at = below(await call('POST', '/$reindex', parameters(value('url', 'String', 'Patient?')), ASYNC));
      expect((await call('GET', at)).status).toBe(202);
      await server.finish();
      expect((await call('GET', at)).json().resourceType).toBe('Bundle');
      const [operation = '', id = ''] = at.split('?_jobId=');
      expect((await call('POST', operation, parameters(value('_jobId', 'String', id)))).status).toBe(200);
      const report = await call('GET', `${at}&_return=report`);
      expect(report.headers['content-type']).toBe('text/plain; charset=utf-8');
    });

    async function uploaded(): Promise<string> {
      const made = await server.all.send('POST', '/Binary', JSON.stringify(patient({ id: 'imported' })), NDJSON);
      return /Binary\/[^/]+/.exec(String(made.headers['location']))![0];
    }

    it('what is done can be undone', async () => {
      for (const id of ['c', 'd']) await server.all.send('PUT', `/Patient/${id}`, patient({ id }));
      const referring = { resourceType: 'Basic', id: 'e', code: { text: 'x' }, subject: { reference: 'Patient/c' } };
      await server.all.send('PUT', '/Basic/e', referring);
      const pair = replacementParameters('Patient/c', 'Patient/d');
      const names = new Map(tables.operations.map(({ id, name }) => [id, name]));
      expect((await call('POST', `/$${names.get('replace-references')}`, pair)).status).toBe(200);
      expect((await call('POST', `/$${names.get('undo-replace-references')}`, pair)).status).toBe(200);
      const merge = mergeParameters('Patient/c', 'Patient/d', [value('preview', 'Boolean', false)]);
      expect((await call('POST', '/Patient/$merge', merge)).status).toBe(200);
      const undo = `/Patient/$${names.get('undo-merge')}`;
      expect((await call('POST', undo, undoMergeParameters('Patient/c', 'Patient/d'))).status).toBe(200);
      expect((await call('POST', '/Patient/$merge', merge, ASYNC)).status).toBe(202);
      await server.finish();
    });

    it('work that is waited for', async () => {
      let isAnswered = false;
      const pass = call('POST', '/$perform-reindexing-pass').finally(() => (isAnswered = true));
      while (!isAnswered) await server.finish();
      expect((await pass).status).toBe(200);
    });

    // A pass waits for jobs, which do not begin by themselves here.
    const alone = FORM_CALLS.filter(
      ({ operation }) => !/^perform-reindexing-pass$|^async-|^bulk-publish$|^bulk-submit-poll-status$/.test(operation),
    );
    it.each(alone.map((each) => [`$${each.operation} at ${each.at || '/'}`, each] as const))('%s', async (_, each) => {
      const headers = JOBS.has(each.operation) ? ASYNC : {};
      const posted = await call('POST', postPath(each), parametersOf(each), headers);
      expect(posted.status, posted.text).toBe(each.done ?? 200);
      const query = queryOf(each);
      if (query !== undefined) await call('GET', `${pathOf(each)}${query}`, undefined, headers);
    });

    it('state and events of one Subscription', async () => {
      const channelType = { code: 'rest-hook' };
      const body = { resourceType: 'Subscription', id: 'told', status: 'off', topic: 'http://example.org/topic', channelType, endpoint: 'https://example.org/', content: 'empty' }; // prettier-ignore
      const written = await server.all.send('PUT', '/Subscription/told', body);
      expect(written.status, written.text).toBe(201);
      for (const operation of ['$status', '$events']) {
        expect((await call('GET', `/Subscription/told/${operation}`)).status).toBe(200);
        expect((await call('POST', `/Subscription/told/${operation}`, parameters())).status).toBe(200);
      }
    });

    it('binding tokens of web sockets', async () => {
      const channelType = { code: 'websocket' };
      const body = { resourceType: 'Subscription', id: 'bound', status: 'off', topic: 'http://example.org/topic', channelType, content: 'empty' } as const; // prettier-ignore
      const written = await server.all.send('PUT', '/Subscription/bound', body);
      expect(written.status, written.text).toBe(201);
      const owner = { clientId: 'client', granted: 0 };
      await new SubscriptionRows(store.maps).keepOwner('bound', NEW, contentDigest(body), owner, Date.now() + 60_000);
      for (const path of ['/Subscription/bound', '/Subscription']) {
        const answer = await call('POST', `${path}/$get-ws-binding-token`);
        expect(answer.status, answer.text).toBe(200);
      }
    });

    it('answers that are no resources, under the names that clients ask for', async () => {
      const query = '{Patient(id:"good"){id}}';
      const named = { accept: 'application/graphql-response+json' };
      const plain = { 'content-type': 'application/graphql' };
      expect((await call('POST', '/$graphql', query, plain)).headers['content-type']).toMatch(/^application\/json/);
      const json = { 'content-type': 'application/json', ...named };
      expect((await call('POST', '/$graphql', { query }, json)).headers['content-type']).toMatch(/^application\/graphql-response/); // prettier-ignore
      await call('POST', '/Patient/good/$graphql', '{id}', plain);
      const rows = await call('POST', '/$hfql-execute', parameters(value('action', 'Code', 'search'), value('query', 'String', 'select id from Patient'))); // prettier-ignore
      expect(rows.headers['content-type']).toBe('text/csv; charset=UTF-8');
      for (const format of ['ndjson', 'json', 'csv', 'parquet']) {
        const table = await call('POST', '/$sql-run', parameters(VIEW, value('_format', 'Code', format)));
        expect(table.status, table.text).toBe(200);
      }
    });
  });

  it('leave no place out, and show all that is promised', () => {
    const wired = tables.routes.filter((row) => isWired(row, OPERATIONS));
    const seats = wired.flatMap(({ method, path }) => {
      const place = `/${path.replace('[id]', '{id}').replace('[vid]', '{vid}')}`;
      return path.startsWith('[type]') ? TRIED.map((type) => `${method} ${place.replace('[type]', type)}`) : [`${method} ${place}`]; // prettier-ignore
    });
    expect(seats.length).toBeGreaterThan(500);
    expect(seats.filter((seat) => !documented.seats.has(seat))).toEqual(REFUSED.filter((seat) => seats.includes(seat)));
    expect(documented.unseen()).toEqual([]);
    expect(server.defects).toEqual([]);
  });
}
