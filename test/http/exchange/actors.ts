import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { prepareAudit, type RunningAudit } from '../../../runtime/assembly/audit.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { ACTOR_NAMES, actorsOf } from '../../../runtime/exchange/actors.js';
import { SILENT } from '../../../runtime/observe/log.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import type { Store } from '../../../runtime/store/store.js';
import { OWN } from '../../toy/own.js';
import { scopedServer } from '../auth/scoped.js';
import type { ToyServer } from '../server.js';
import { batch, entry } from '../bundles/bundle-server.js';
import { FORM_TYPE } from '../search-server.js';
import { generatedDocument } from './generate.js';
import { providedBundle } from './provide.js';
import { attachment, BYTES, identifier, publication, sha1 } from './publish-cases.js';

const CLINICAL = [
  'AllergyIntolerance',
  'Condition',
  'DiagnosticReport',
  'Encounter',
  'Immunization',
  'MedicationDispense',
  'MedicationRequest',
  'MedicationStatement',
  'Observation',
];

/** Searches for documents (IHE MHD 5.1.0, 2:3.67.4.1.2.1): one that finds the document below, and one that does not. */
const FIND_DOCUMENTS: readonly (readonly [string, string])[] = [
  ['patient=actors-1', 'patient=actors-2'],
  ['patient=Patient/actors-1', 'patient=Patient/actors-2'],
  ['patient.identifier=urn:actors|one', 'patient.identifier=urn:actors|two'],
  ['patient=actors-1&type=http://loinc.org|60591-5', 'patient=actors-1&type=http://loinc.org|11502-2'],
  ['patient=actors-1&category=summary', 'patient=actors-1&category=other'],
  ['patient=actors-1&status=current', 'patient=actors-1&status=superseded'],
  ['patient=actors-1&identifier=urn:ietf:rfc:3986|urn:oid:1.2.3.99', 'patient=actors-1&identifier=urn:oid:1.2.3.98'],
  ['patient=actors-1&date=ge2026-01-01', 'patient=actors-1&date=lt2026-01-01'],
  ['patient=actors-1&creation=2026-02-02', 'patient=actors-1&creation=gt2026-02-03'],
  ['patient=actors-1&period=ge2025-06-15&period=le2025-07', 'patient=actors-1&period=ge2025-07'],
  ['patient=actors-1&author.family=Actorson', 'patient=actors-1&author.family=Nobodyson'],
  ['patient=actors-1&author.given=Ann', 'patient=actors-1&author.given=Bob'],
  ['patient=actors-1&event-code=event-1', 'patient=actors-1&event-code=event-2'],
  ['patient=actors-1&format-code=urn:format:1', 'patient=actors-1&format-code=urn:format:2'],
  ['patient=actors-1&facility=hospital', 'patient=actors-1&facility=practice'],
  ['patient=actors-1&setting=cardiology', 'patient=actors-1&setting=surgery'],
  ['patient=actors-1&security-label=N', 'patient=actors-1&security-label=R'],
  ['patient=actors-1&_lastUpdated=ge2026-01-01', 'patient=actors-1&_lastUpdated=lt2026-01-01'],
];

/** The same for submission sets (2:3.66.4.1.2.1). */
const FIND_LISTS: readonly (readonly [string, string])[] = [
  ['patient=actors-1&code=submissionset', 'patient=actors-1&code=folder'],
  [
    'patient=actors-1&code=https://profiles.ihe.net/ITI/MHD/CodeSystem/MHDlistTypes|submissionset',
    'patient=actors-1&code=http://loinc.org|submissionset',
  ],
  ['patient.identifier=urn:actors|one&code=submissionset', 'patient.identifier=urn:actors|two&code=submissionset'],
  ['patient=actors-1&status=current', 'patient=actors-1&status=retired'],
  ['patient=actors-1&date=ge2026-01-01', 'patient=actors-1&date=lt2026-01-01'],
  ['patient=actors-1&_lastUpdated=ge2026-01-01', 'patient=actors-1&_lastUpdated=lt2026-01-01'],
];

const concept = (code: string, system = 'urn:codes') => ({ coding: [{ system, code }] });

/** A document with all that it can be found by. */
const DOCUMENT = {
  ...publication('Patient/actors-1', {
    identifier: [identifier('uniqueId', 'urn:oid:1.2.3.99')],
    content: [
      {
        attachment: attachment(BYTES, { creation: '2026-02-02' }),
        profile: [{ valueCoding: { code: 'urn:format:1' } }],
      },
    ],
  }),
  type: concept('60591-5', 'http://loinc.org'),
  category: [concept('summary')],
  date: '2026-02-03T04:05:06Z',
  contained: [{ resourceType: 'Practitioner', id: 'p', name: [{ family: 'Actorson', given: ['Ann'] }] }],
  author: [{ reference: '#p' }],
  event: [{ concept: concept('event-1') }],
  facilityType: concept('hospital'),
  practiceSetting: concept('cardiology'),
  period: { start: '2025-06-01', end: '2025-06-30' },
  securityLabel: [concept('N')],
};

interface Audited {
  readonly code: { readonly coding: readonly { readonly code: string }[] };
  readonly category: readonly { readonly coding: readonly { readonly code: string }[] }[];
  readonly action: string;
  readonly outcome: { readonly code: { readonly code: string } };
  readonly agent: readonly { readonly type: { readonly coding: readonly { readonly code: string }[] } }[];
  readonly entity: readonly {
    readonly role: { readonly coding: readonly { readonly code: string }[] };
    readonly query?: string;
    readonly what?: { readonly reference?: string; readonly identifier?: { readonly value: string } };
  }[];
}

const only = ({ coding }: { readonly coding: readonly { readonly code: string }[] }): string => coding[0]!.code;

/** The actors of exchange guides, whatever the store. */
export function exchangeActors(store: Store): void {
  let audit: RunningAudit;
  const actors = actorsOf(ACTOR_NAMES);
  const exchange = { documents: true, actors };
  const server = scopedServer(store, {
    exchange,
    audit: {
      answered: (call, reply) => audit.answered(call, reply),
      failed: (call, error) => audit.failed(call, error),
      notes: () => audit.notes!(),
    },
  });
  const plain = scopedServer(store);
  let reference: {
    readonly id: string;
    readonly content: readonly [{ readonly attachment: { readonly url: string } }];
  };
  const events: Audited[] = [];

  const below = (url: string): string => url.slice(`${server.all.url}/fhir`.length);

  /** The path of a document below the base. */
  const documentPath = (): string =>
    new URL(reference.content[0].attachment.url).pathname.replace(/^.*(?=\/Binary\/)/, '');

  beforeAll(async () => {
    const { config } = readConfig({}, {});
    const extract = createExtractor(tables, { own: OWN });
    audit = await prepareAudit('store', config, { ...DEFAULT_SERVICES, store, extract, tables, exchange }, SILENT, () => server.url); // prettier-ignore
    for (const [i, id] of ['actors-1', 'actors-2', 'actors-3'].entries()) {
      const identifier = [{ system: 'urn:actors', value: ['one', 'two', 'three'][i] }];
      const made = await server.all.send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id, identifier, name: [{ family: 'Actors' }] }); // prettier-ignore
      expect(made.status, made.text).toBe(201);
    }
    const published = await server.all.send('POST', '/DocumentReference', DOCUMENT, { 'x-request-id': 'ITI-105' });
    expect(published.status, published.text).toBe(201);
    reference = published.json() as typeof reference;
    const provided = await server.all.send('POST', '', providedBundle('Patient/actors-3'), {
      'x-request-id': 'ITI-65',
    });
    expect(provided.status, provided.text).toBe(200);
    const ask = (name: string, method: string, path: string, body?: string | object, headers: object = {}) =>
      server.all.send(method, path, body, { ...headers, 'x-request-id': name });
    await ask('ITI-67', 'GET', '/DocumentReference?patient=actors-1&status=current');
    await ask('ITI-67-post', 'POST', '/DocumentReference/_search', 'patient.identifier=urn:actors|one', FORM_TYPE);
    await ask('ITI-66', 'GET', '/List?patient=actors-1&code=submissionset');
    await ask('ITI-78', 'GET', '/Patient?_id=actors-1');
    await ask('ITI-78-alone', 'GET', '/Patient?identifier=urn:actors|one');
    await ask('ITI-106', 'POST', '/DocumentReference/$generate-metadata', generatedDocument('Patient/actors-3'));
    await ask('ITI-68', 'GET', documentPath());
    await ask('ITI-119', 'POST', '/Patient/$match', { resourceType: 'Patient', name: [{ family: 'Actors' }] });
    await ask('other', 'GET', '/DocumentReference?status=current');
    await ask('refused', 'POST', '/DocumentReference', { ...DOCUMENT, status: 'superseded' });
    await ask('refused-ITI-65', 'POST', '', providedBundle('urn:uuid:00000000-0000-4000-8000-000000000009'));
    const unpublished = await server.all.send('POST', '/Binary', { resourceType: 'Binary', contentType: 'text/plain', data: 'eA==' }); // prettier-ignore
    await ask('binary', 'GET', `/Binary/${unpublished.json().id}`);
    await audit.close();
    const found = await server.all.send('GET', '/AuditEvent?_count=1000');
    events.push(...found.json().entry.map(({ resource }: { resource: Audited }) => resource));
  });

  const eventOf = (name: string): Audited => {
    const told = events.filter(({ entity }) => entity.some(({ what }) => what?.identifier?.value === name));
    // Each entry of a Bundle has an event of its own.
    const [event, ...others] = told.length === 1 ? told : told.filter(({ category }) => category.map(only).includes(name.replace('refused-', ''))); // prettier-ignore
    expect(others).toEqual([]);
    return event!;
  };

  describe('claims', () => {
    it('are in /metadata as long as the server is an actor', async () => {
      const claimed = (await server.all.send('GET', '/metadata')).json();
      const expected = actors.instantiates.filter(({ needs }) => needs === undefined).map(({ canonical }) => canonical);
      expect(claimed.instantiates).toEqual(expected);
      expect(claimed.instantiates).toContain('https://profiles.ihe.net/ITI/MHD/CapabilityStatement/IHE.MHD.DocumentResponder|5.1.0'); // prettier-ignore
      expect(claimed.implementationGuide).toEqual(actors.guides);
      const others = (await plain.all.send('GET', '/metadata')).json();
      expect(others).not.toHaveProperty('instantiates');
      expect(others).not.toHaveProperty('implementationGuide');
    });

    it('are none for a name that is no actor', () => {
      expect(readConfig({ 'profiles-actors': 'document-responder' }, {}).config['profiles.actors']).toEqual([
        'document-responder',
      ]);
      expect(() => readConfig({ 'profiles-actors': 'document-responder,druid' }, {})).toThrow('has to be a list of');
    });
  });

  describe('a domain of identifiers that no patient has (PDQm 2:3.78.4.1.3, case 5)', () => {
    const outcomes = async (client: Pick<ToyServer, 'send'>, query: string): Promise<readonly string[]> => {
      const answer = await client.send('GET', `/Patient?${query}`);
      expect(answer.status).toBe(200);
      const entries = (answer.json().entry ?? []) as { resource: { issue?: { severity: string; code: string }[] } }[];
      return entries.flatMap(({ resource }) => resource.issue ?? []).map(({ severity, code }) => `${severity} ${code}`);
    };
    it('is named in a warning, where the server supplies demographics', async () => {
      expect(await outcomes(server.all, 'identifier=urn:nobody|')).toEqual(['warning not-found']);
      expect(await outcomes(server.all, 'identifier=urn:nobody|,urn:none|')).toHaveLength(2);
      expect(await outcomes(server.all, 'identifier=urn:actors|&family=Nobodyson')).toEqual([]);
      expect(await outcomes(server.all, 'identifier=urn:nobody|1')).toEqual([]);
      expect(await outcomes(plain.all, 'identifier=urn:nobody|')).toEqual([]);
    });
    it('is one too where the token shows none of them', async () => {
      const blind = server.as('system/Patient.rs?gender=female');
      expect(await outcomes(blind, 'identifier=urn:actors|')).toEqual(['warning not-found']);
    });
  });

  describe('a search for clinical data names its patient', () => {
    it.each(CLINICAL)('%s', async (type) => {
      const others = ['patient=', 'patient:missing=false', 'patient.gender=male'].map((query) => `/${type}?${query}`);
      for (const path of [`/${type}`, `/${type}?_id=x`, `/?_type=${type}`, ...others]) {
        const refused = await server.all.send('GET', path);
        expect([path, refused.status, refused.json().issue?.[0]?.details.coding[0].code]).toEqual([path, 400, 'patient-required']); // prettier-ignore
      }
      const posted = await server.all.send('POST', `/${type}/_search`, '_id=x', FORM_TYPE);
      expect(posted.status).toBe(400);
      for (const path of [`/${type}?patient=actors-1`, `/${type}?patient.identifier=urn:actors|one`, `/Patient/actors-1/${type}`]) {
        const found = await server.all.send('GET', path);
        expect([path, found.status]).toEqual([path, 200]);
      } // prettier-ignore
      expect((await server.all.send('POST', `/${type}/_search`, 'patient=actors-1', FORM_TYPE)).status).toBe(200);
      expect((await plain.all.send('GET', `/${type}?_id=x`)).status).toBe(200);
    });

    it('in a batch too, and a page link goes on', async () => {
      const answer = await server.all.send('POST', '', batch(entry('GET', 'Observation?_id=x')));
      expect(answer.json().entry[0].response.status).toMatch(/^400/);
      for (const id of ['a', 'b', 'c']) {
        const observation = { resourceType: 'Observation', id: `actors-${id}`, status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/actors-1' } }; // prettier-ignore
        expect((await server.all.send('PUT', `/Observation/actors-${id}`, observation)).status).toBe(201);
      }
      const page = (await server.all.send('GET', '/Observation?patient=actors-1&_count=2')).json();
      const { url } = page.link.find(({ relation }: { relation: string }) => relation === 'next');
      const next = await server.all.send('GET', below(String(url)));
      expect(next.json().entry).toHaveLength(1);
    });

    it('other types are found without', async () => {
      for (const path of ['/Patient', '/DocumentReference', '/Practitioner', '/List'])
        expect((await server.all.send('GET', path)).status).toBe(200);
    });
  });

  describe.each([
    ['documents', 'DocumentReference', FIND_DOCUMENTS],
    ['submission sets', 'List', FIND_LISTS],
  ] as const)('finding %s', (_what, type, searches) => {
    it.each(searches)('%s, and not %s', async (finds, misses) => {
      for (const [query, total] of [[finds, 1], [misses, 0]] as const) {
        const params = new URLSearchParams(query).toString();
        const got = await server.all.send('GET', `/${type}?${params}`);
        const posted = await server.all.send('POST', `/${type}/_search`, params, FORM_TYPE);
        expect([query, got.status, got.json().total]).toEqual([query, 200, total]);
        expect([query, posted.status, posted.json().total]).toEqual([query, 200, total]);
        if (total === 1) expect(got.json().entry[0].fullUrl).toMatch(/^http/);
      } // prettier-ignore
    });
  });

  it('a document is fetched by the URL that its reference has', async () => {
    const { attachment } = reference.content[0] as { attachment: { url: string; hash?: string; size?: string } };
    const got = await server.all.send('GET', documentPath());
    expect(got.status).toBe(200);
    expect([attachment.size, attachment.hash]).toEqual([String(BYTES.length), sha1(BYTES)]);
    expect(got.text).toBe(BYTES.toString());
  });

  it.each([
    ['image/png', 406],
    ['text/*;q=0, */*', 406],
    ['text/plain;q=0.1, image/png', 200],
    ['text/*', 200],
    ['application/fhir+xml', 200],
  ])('a document in plain text, for a client that accepts %s: %s (ITI-68 table 68.4.2.2-1)', async (accept, status) => {
    expect((await server.all.send('GET', documentPath(), undefined, { accept })).status).toBe(status);
    // Without the actor, and for contents that no document names, the bytes come: FHIR lets servers do so.
    expect((await plain.all.send('GET', documentPath(), undefined, { accept })).status).toBe(200);
  });

  describe('audit', () => {
    it.each([
      ['ITI-105', 'create', 'C', ['110153', '110152'], ['4', '1']],
      ['ITI-65', undefined, 'C', ['110153', '110152'], ['20', '1']],
      ['ITI-67', 'search', 'E', ['110153', '110152'], ['1', '24']],
      ['ITI-66', 'search', 'E', ['110153', '110152'], ['1', '24']],
      ['ITI-78', 'search', 'E', ['110153', '110152'], ['1', '24']],
      ['ITI-106', 'create', 'C', ['110153', '110152'], ['4', '1', '24']],
      ['ITI-68', 'read', 'R', ['110152', '110153'], ['3', '1']],
    ])('%s', (name, interaction, action, agents, roles) => {
      const event = eventOf(name);
      expect(only(event.code)).toBe(interaction === undefined ? '110107' : 'rest');
      expect(event.category.map(only)).toEqual(interaction === undefined ? [name] : [interaction, name]);
      expect([event.action, event.outcome.code.code]).toEqual([action, '0']);
      expect(event.agent.map(({ type }) => only(type))).toEqual(agents);
      expect(event.entity.slice(0, -1).map(({ role }) => only(role))).toEqual(roles);
      expect(
        event.entity.some(
          ({ what }) => what?.reference === `Patient/actors-${name === 'ITI-65' || name === 'ITI-106' ? 3 : 1}`,
        ),
      ).toBe(true);
    });

    it('a search that is posted is one, and its query is told', () => {
      const event = eventOf('ITI-67-post');
      expect(event.category.map(only)).toEqual(['search', 'ITI-67']);
      const query = event.entity.find((each) => each.query !== undefined)?.query ?? '';
      expect(decodeURIComponent(Buffer.from(query, 'base64').toString())).toContain('patient.identifier=urn:actors|one'); // prettier-ignore
      expect(event.entity[0]).toMatchObject({ what: { reference: 'Patient/actors-1' }, role: { coding: [{ code: '1' }] } }); // prettier-ignore
    });

    it('a patient that is found alone is named', () => {
      const event = eventOf('ITI-78-alone');
      expect(event.category.map(only)).toEqual(['search', 'ITI-78']);
      expect(event.entity.map(({ what }) => what?.reference)).toContain('Patient/actors-1');
    });

    it('$match is one', () => {
      expect(eventOf('ITI-119').category.map(only)).toEqual(['search', 'ITI-119']);
    });

    it('what is refused is one that failed', () => {
      const event = eventOf('refused');
      expect(event.category.map(only)).toEqual(['create', 'ITI-105']);
      expect(event.outcome.code.code).toBe('4');
      const provided = eventOf('refused-ITI-65');
      expect([only(provided.code), provided.category.map(only)]).toEqual(['110107', ['ITI-65']]);
      expect([provided.action, provided.outcome.code.code]).toEqual(['C', '4']);
    });

    it('other requests keep their shape', () => {
      expect(eventOf('other').category.map(only)).toEqual(['rest']);
      expect(eventOf('binary').category.map(only)).toEqual(['rest']);
    });
  });
}
