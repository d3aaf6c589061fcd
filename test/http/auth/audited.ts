import { beforeAll, describe, expect, it } from 'vitest';

import { OWN } from '../../toy/own.js';
import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { tables } from '../../../generated/tables.js';
import { prepareAudit, type RunningAudit } from '../../../runtime/assembly/audit.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import { SILENT } from '../../../runtime/observe/log.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import type { Store } from '../../../runtime/store/store.js';
import { batch, entry } from '../bundles/bundle-server.js';
import { FORM_TYPE } from '../search-server.js';
import { EVERYTHING, serveWith } from './support.js';

const JWT = 'eyJhbGciOiJFUzM4NCJ9.eyJzdWIiOiJsYWIifQ.c2lnbmF0dXJl-c2lnbmF0dXJl_c2lnbmF0dXJl';

/** Method, path, what is posted, and what is told of it; lenient, so that searches are answered. */
const REQUESTS: readonly (readonly [string, string, string | object | undefined, string])[] = [
  ['GET', `/Patient/x?${JWT}`, undefined, 'Patient/x?***='],
  ['GET', `/Patient/x?token=${JWT}`, undefined, 'Patient/x?token=***'],
  ['GET', `/Patient?Access_Token=${JWT}`, undefined, 'Patient?Access_Token=***'],
  ['GET', '/Patient?Access%5FToken=opaque', undefined, 'Patient?Access_Token=***'],
  ['GET', `/Patient?client_assertion=${JWT}&family=x`, undefined, 'Patient?client_assertion=***&family=x'],
  ['GET', `/Patient?_id=${JWT},x`, undefined, 'Patient?_id=***,x'],
  ['GET', `/Patient?_id=${JWT.replaceAll('.', '%252E')}`, undefined, 'Patient?_id=***'],
  ['POST', '/Patient/_search', `token=${JWT}&family=${JWT}`, 'Patient?token=***&family=***'],
  ['GET', `/Patient/${JWT}`, undefined, 'Patient/***'],
  ['GET', `/Patient/${JWT}/Observation`, undefined, 'Patient/***/Observation'],
  ['DELETE', `/Patient/${JWT}`, undefined, 'Patient/***'],
  ['GET', `/Observation?patient=${JWT}`, undefined, 'Observation?patient=***'],
  ['GET', '/Observation?code=http://loinc.org|8867-4', undefined, 'Observation?code=http://loinc.org|8867-4'],
  ['POST', '', batch(entry('GET', `Patient?token=${JWT}`)), 'Patient?token=***'],
  // An event tells which operation it was, also where it is refused, and where it is about one resource.
  ['POST', '/Patient/$merge', { resourceType: 'Parameters' }, 'Patient/$merge'],
  ['GET', `/Patient/none/$everything?token=${JWT}`, undefined, 'Patient/none/$everything?token=***'],
  ['GET', '/$get-resource-counts', undefined, '$get-resource-counts'],
  ['POST', '/Patient/$validate', { resourceType: 'Patient' }, 'Patient/$validate'],
  ['POST', '', batch(entry('GET', 'Patient/$meta')), 'Patient/$meta'],
  ['POST', '', batch(entry('GET', `Patient/x?_id=${JWT}`)), 'Patient/x?_id=***'],
];

/** Parameters of a call. */
const called = (...parameter: readonly object[]) => ({ resourceType: 'Parameters', parameter });
const text = (name: string, valueString: string) => ({ name, valueString });
const hfql = (query: string, more: readonly object[] = []) =>
  called({ name: 'action', valueCode: 'search' }, text('query', query), ...more);
const GRAPHQL = '{ ObservationList(code: "audited") { value: id } }';

const PERSON = { name: [{ family: 'Audited', given: ['Pat'] }], birthDate: '1970-01-01', gender: 'other' };

/** Resources that the operations below read. */
const AUDITED = [
  ...['ada', 'bo', 'cy'].map((id) => ({ resourceType: 'Patient', id: `audited-${id}`, ...PERSON })),
  ...['ada', 'bo'].map((id) => ({
    ...{ resourceType: 'Observation', id: `audited-${id}`, status: 'final', code: { coding: [{ code: 'audited' }] } },
    ...{ subject: { reference: `Patient/audited-${id}` }, effectiveDateTime: `2026-01-0${id.length}` },
  })),
];

/** Method, path, what is sent, what the event says was asked, the patients, and headers. */
const OPERATIONS: readonly (readonly [string, string, string | object | undefined, string, readonly string[], object?])[] = [
  ['POST', '/$graphql', { query: GRAPHQL, variables: { n: 1 } }, `$graphql?query=${GRAPHQL}&variables={"n":1}`, ['ada', 'bo']],
  ['POST', '/$graphql', GRAPHQL, `$graphql?query=${GRAPHQL}`, ['ada', 'bo'], { 'content-type': 'application/graphql' }],
  ['GET', `/$graphql?query=${encodeURIComponent(GRAPHQL)}`, undefined, `$graphql?query=${GRAPHQL}`, ['ada', 'bo']],
  ['POST', '/$graphql', called(text('query', GRAPHQL)), `$graphql?query=${GRAPHQL}`, ['ada', 'bo']],
  ['POST', '/$graphql', { query: '{ Observation(id: "audited-bo") { status } }' }, '$graphql?query={ Observation(id: "audited-bo") { status } }', ['bo']],
  ['POST', '/Observation/audited-ada/$graphql', { query: '{ subject { resource { id } } }' }, 'Observation/audited-ada/$graphql?query={ subject { resource { id } } }', ['ada']],
  ['POST', '', batch({ ...entry('POST', '$graphql'), resource: called(text('query', GRAPHQL)) }), `$graphql?query=${GRAPHQL}`, ['ada', 'bo']],
  ['POST', '/$hfql-execute', hfql("select status from Observation where code.coding.code = 'audited'"), "$hfql-execute?action=search&query=select status from Observation where code.coding.code = 'audited'", ['ada', 'bo']],
  ['POST', '/$hfql-execute', hfql("select status from Observation where id = 'audited-bo' order by status"), "$hfql-execute?action=search&query=select status from Observation where id = 'audited-bo' order by status", ['bo']],
  ['POST', '/$hfql-execute', hfql("select id from Patient where name.family = 'Audited'", [{ name: 'limit', valueInteger: 2 }]), "$hfql-execute?action=search&query=select id from Patient where name.family = 'Audited'&limit=2", ['ada', 'bo']],
  ['POST', '', batch({ ...entry('POST', '$hfql-execute'), resource: hfql("select status from Observation where id = 'audited-ada'") }), "$hfql-execute?action=search&query=select status from Observation where id = 'audited-ada'", ['ada']],
  ['GET', '/Observation/$lastn?code=audited&patient=audited-ada', undefined, 'Observation/$lastn?code=audited&patient=audited-ada', ['ada']],
  ['POST', '/Observation/$lastn', called(text('code', 'audited'), text('patient', 'audited-ada')), 'Observation/$lastn?code=audited&patient=audited-ada', ['ada']],
  ['GET', '/Patient/audited-ada/$everything', undefined, 'Patient/audited-ada/$everything', ['ada']],
  ['POST', '/Patient/$match', called({ name: 'resource', resource: { resourceType: 'Patient', ...PERSON } }), 'Patient/$match?resource=Patient', ['ada', 'bo', 'cy']],
  ['GET', '/Observation/audited-bo/$meta', undefined, 'Observation/audited-bo/$meta', ['bo']],
  ['POST', '/Observation/audited-bo/$meta-add', called({ name: 'meta', valueMeta: { tag: [{ code: 'x' }] } }), 'Observation/audited-bo/$meta-add?meta={"tag":[{"code":"x"}]}', ['bo']],
  ['GET', '/Observation/audited-bo/$diff', undefined, 'Observation/audited-bo/$diff', ['bo']],
  ['GET', '/Observation/audited-bo/_history', undefined, 'Observation/audited-bo', ['bo']],
  ['POST', '/Patient/$merge', called({ name: 'source-patient', valueReference: { reference: 'Patient/audited-x' } }), 'Patient/$merge?source-patient=Patient/audited-x', []],
  ['PATCH', '/Observation/audited-bo', [{ op: 'add', path: '/note', value: [{ text: 'n' }] }], 'Observation/audited-bo/_history/2', ['bo'], { 'content-type': 'application/json-patch+json', prefer: 'return=minimal' }],
  ['DELETE', '/Observation?_id=audited-bo', undefined, 'Observation?_id=audited-bo', ['bo']],
  ['DELETE', '/Observation/audited-ada', undefined, 'Observation/audited-ada/_history/2', ['ada']],
]; // prettier-ignore

/** What is sent without a token, at length. */
const LONG = 'x'.repeat(7000);
const UNKNOWN: readonly (readonly [string, string, string | undefined, Record<string, string>])[] = [
  ['GET', `/Patient?family=${LONG}`, undefined, {}],
  ['GET', `/Patient/${LONG}`, undefined, {}],
  ['GET', `/Patient/1/_history/${LONG}`, undefined, {}],
  ['GET', `/${LONG}`, undefined, {}],
  ['OPTIONS', `/Patient/${LONG}`, undefined, {}],
  ['OPTIONS', `/Patient/1/_history/${LONG}`, undefined, {}],
  ['OPTIONS', `/Patient?family=${LONG}`, undefined, {}],
  ['POST', '/Patient/_search', `family=${LONG}`, FORM_TYPE],
  ['POST', '/$graphql', JSON.stringify({ query: LONG }), {}],
  ['GET', `/Patient?family=${LONG}`, undefined, { authorization: 'Bearer forged' }],
  ['GET', `/Patient?family=${LONG}`, undefined, { authorization: `Bearer ${LONG}` }],
  ['GET', '/Patient', undefined, { 'user-agent': LONG, 'x-correlation-id': LONG, referer: LONG, accept: LONG }],
];

interface Told {
  readonly outcome: { readonly code: { readonly code: string } };
  readonly entity: readonly {
    readonly query?: string;
    readonly what?: { readonly reference?: string; readonly identifier?: { readonly value: string } };
  }[];
}

/** The audit of a server, as resources on a store. */
export function audited(store: Store): void {
  let audit: RunningAudit;
  const server = serveWith(store, {
    audit: {
      answered: (call, reply) => audit.answered(call, reply),
      failed: (call, error) => audit.failed(call, error),
      notes: () => audit.notes!(),
    },
  });
  const events: Told[] = [];

  beforeAll(async () => {
    const { config } = readConfig({}, {});
    const services = {
      ...DEFAULT_SERVICES,
      store,
      extract: createExtractor(tables, { own: OWN }),
      limits: DEFAULT_LIMITS,
      tables,
    };
    audit = await prepareAudit('store', config, services, SILENT, () => server.url);
    const admin = server.as(EVERYTHING);
    for (const [i, [method, path, body]] of REQUESTS.entries()) {
      const type = typeof body === 'string' ? FORM_TYPE : {};
      const headers = { ...type, prefer: 'handling=lenient', 'x-request-id': `audited-${i}` };
      await admin.send(method, path, body, headers);
    }
    for (const each of AUDITED) {
      const made = await admin.send('PUT', `/${each.resourceType}/${each.id}`, each, { 'x-request-id': 'arranged' });
      expect(made.status, made.text).toBe(201);
    }
    for (const [i, [method, path, body, , , headers]] of OPERATIONS.entries()) {
      await admin.send(method, path, body, { ...headers, 'x-request-id': `operation-${i}` });
    }
    for (const [i, [method, path, body, headers]] of UNKNOWN.entries()) {
      await server.send(method, path, body, { ...headers, 'x-request-id': `unknown-${i}` });
    }
    await server.as('system/Patient.r').send('POST', '/$graphql', GRAPHQL, { 'content-type': 'application/graphql', 'x-request-id': 'refused' }); // prettier-ignore
    await admin.send('GET', `/Patient?family=${LONG}`, undefined, { 'x-request-id': 'known' });
    await audit.close();
    const found = await admin.send('GET', '/AuditEvent?_count=1000');
    events.push(...found.json().entry.map(({ resource }: { resource: Told }) => resource));
  });

  const eventsOf = (requestId: string) =>
    events.filter(({ entity }) => entity.some(({ what }) => what?.identifier?.value === requestId));
  const queryOf = ({ entity }: Told): string | undefined => {
    const query = entity.find((each) => each.query !== undefined)?.query;
    return query === undefined ? undefined : Buffer.from(query, 'base64').toString();
  };
  const plain = (query: string | undefined): string | undefined => query && decodeURIComponent(query.replaceAll('+', ' ')); // prettier-ignore

  it.each(OPERATIONS.map((request, i) => [i, ...request] as const))(
    '%i: %s %s %j: an event says what was asked, and which patients were read',
    (i, _method, _path, _body, asked, patients) => {
      const [event, ...more] = eventsOf(`operation-${i}`);
      expect(more).toEqual([]);
      const references = event!.entity.flatMap(({ what }) => what?.reference ?? []);
      const [about] = references;
      expect([plain(queryOf(event!)), about]).toContain(asked);
      const named = new Set(references.filter((each) => each.startsWith('Patient/audited-')));
      expect([...named].sort()).toEqual(patients.map((id) => `Patient/audited-${id}`));
    },
  );

  it('the document of a query that was refused is told, too', () => {
    const [event] = eventsOf('refused');
    expect([event!.outcome.code.code, plain(queryOf(event!))]).toEqual(['4', `$graphql?query=${GRAPHQL}`]);
  });

  it.each(UNKNOWN.map((request, i) => [i, ...request] as const))(
    '%i: %s %.40s without a token leaves little, whatever it holds',
    (i, method) => {
      const [event, ...more] = eventsOf(`unknown-${i}`);
      expect([more, method === 'OPTIONS' || event!.outcome.code.code !== '0']).toEqual([[], true]);
      expect(queryOf(event!)?.length ?? 0).toBeLessThanOrEqual(200);
      expect(JSON.stringify(event).length).toBeLessThan(2500);
    },
  );

  it('a client that is known leaves its whole query', () => {
    expect(queryOf(eventsOf('known')[0]!)).toBe(`Patient?family=${LONG}`);
  });

  describe('a token that stands where it does not belong is told to be one', () => {
    it.each(REQUESTS.map((request, i) => [i, ...request] as const))(
      '%i: %s %s %j',
      (i, _method, _path, _body, told) => {
        const isOfIt = ({ entity }: Told) => entity.some(({ what }) => what?.identifier?.value === `audited-${i}`);
        const [event, ...more] = events.filter(isOfIt);
        expect(more).toEqual([]);
        const texts = event!.entity.flatMap(({ query, what }) =>
          query === undefined ? (what?.reference ?? []) : decodeURIComponent(Buffer.from(query, 'base64').toString()),
        );
        expect(texts).toContain(told);
        expect(texts.join('\n')).not.toContain('eyJ');
        expect(JSON.stringify(event)).not.toContain('eyJ');
      },
    );
  });
}
