import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createIntegrity } from '../../../runtime/core/references/integrity.js';
import type { Store } from '../../../runtime/store/store.js';
import { neededBy, scopedServer } from '../auth/scoped.js';
import { entry, transaction } from '../bundles/bundle-server.js';
import { OWN } from '../../toy/own.js';
import { FHIR_JSON, type Answer } from '../server.js';

const AGENT = [{ who: { display: 'someone' } }];
const PATIENT = { resourceType: 'Patient', active: true };

/** A Provenance as a header has it. */
const told = (more: object = {}): Record<string, string> => ({
  'x-provenance': JSON.stringify({
    resourceType: 'Provenance',
    recorded: '2026-01-02T03:04:05Z',
    agent: AGENT,
    ...more,
  }),
});

/** The header `X-Provenance`, whatever the store. */
export function provenanceHeader(store: Store): void {
  const server = scopedServer(store);
  const modes = { mode: 'enforced', paths: {} } as const;
  const strict = scopedServer(store, {
    integrity: createIntegrity(modes, { tables, own: OWN, isShipped: () => false }),
  });
  const { all } = server;
  let count = 0;
  const newId = (): string => `told-${++count}`;

  /** Targets of all Provenances about a resource. */
  async function targetsOf(name: string): Promise<readonly string[]> {
    const found = (await all.send('GET', `/Provenance?target=${name}&_count=100`)).json();
    const entries: readonly { resource: { target: readonly { reference: string }[] } }[] = found.entry ?? [];
    return entries.flatMap(({ resource }) => resource.target.map(({ reference }) => reference)).sort();
  }

  const nameIn = ({ headers }: Answer): string => /([A-Za-z]+\/[^/]+)\/_history/.exec(String(headers['location']))![1]!;

  it('is stored with what is created, updated and patched, about that version', async () => {
    const made = await all.send('POST', '/Patient', PATIENT, told());
    expect(made.status, made.text).toBe(201);
    const name = nameIn(made);
    expect(made.json().resourceType).toBe('Patient');
    const { id } = made.json() as { id: string };
    expect((await all.send('PUT', `/${name}`, { ...PATIENT, id, gender: 'other' }, told())).status).toBe(200);
    const patch = [{ op: 'replace', path: '/gender', value: 'unknown' }];
    const patched = await all.send('PATCH', `/${name}`, patch, { ...told(), 'content-type': 'application/json-patch+json' }); // prettier-ignore
    expect(patched.status, patched.text).toBe(200);
    expect(await targetsOf(name)).toEqual([1, 2, 3].map((version) => `${name}/_history/${version}`));
  });

  it('is stored with a Binary that is sent as bytes, and with a conditional update', async () => {
    const binary = await all.send('POST', '/Binary', 'plain', { ...told(), 'content-type': 'text/plain' });
    expect(binary.status, binary.text).toBe(201);
    expect(await targetsOf(nameIn(binary))).toHaveLength(1);
    const id = newId();
    const updated = await all.send('PUT', `/Patient?_id=${id}`, { ...PATIENT, id }, told());
    expect(updated.status, updated.text).toBe(201);
    expect(await targetsOf(`Patient/${id}`)).toEqual([`Patient/${id}/_history/1`]);
  });

  it('leads to what is written with it where references have to lead somewhere', async () => {
    const made = await strict.all.send('POST', '/Patient', PATIENT, told());
    expect(made.status, made.text).toBe(201);
    const lost = told({ agent: [{ who: { reference: 'Practitioner/none' } }] });
    expect((await strict.all.send('POST', '/Patient', PATIENT, lost)).status).toBe(409);
    expect(await targetsOf(nameIn(made))).toEqual([`${nameIn(made)}/_history/1`]);
  });

  it('may name what is written, and nothing else', async () => {
    const id = newId();
    const named = (reference: string) => told({ target: [{ reference }] });
    expect((await all.send('PUT', `/Patient/${id}`, { ...PATIENT, id }, named(`Patient/${id}`))).status).toBe(201);
    for (const other of ['Patient/other', `Patient/${id}/_history/1`, `Group/${id}`, 'urn:uuid:x']) {
      const refused = await all.send('PUT', `/Patient/${id}`, { ...PATIENT, id, gender: 'male' }, named(other));
      expect([other, refused.status]).toEqual([other, 400]);
      expect(refused.text).toContain(`Patient/${id}`);
    }
    const created = await all.send('POST', '/Patient', PATIENT, named('Patient/other'));
    expect(created.status).toBe(400);
    expect((await all.send('GET', `/Patient/${id}`)).json()).not.toHaveProperty('gender');
    expect(await targetsOf(`Patient/${id}`)).toEqual([`Patient/${id}/_history/1`]);
  });

  it('is read as UTF-8', async () => {
    const header = told({ agent: [{ who: { display: 'Zoë 東京' } }] })['x-provenance']!;
    const sent = { 'x-provenance': Buffer.from(header).toString('latin1'), 'content-type': FHIR_JSON };
    // With a text Node sends the headers as UTF-8 as well.
    const body = Buffer.from(JSON.stringify(PATIENT));
    const made = await all.send('POST', '/Patient', body, sent);
    expect(made.status, made.text).toBe(201);
    expect((await all.send('GET', `/Provenance?target=${nameIn(made)}`)).text).toContain('Zoë 東京');
    const other = told({ agent: [{ who: { display: 'Zoë' } }] });
    expect((await all.send('POST', '/Patient', body, { ...sent, ...other })).status).toBe(400);
  });

  it('that is refused leaves no bytes of a Binary behind', async () => {
    const before = await store.blobs.list('');
    for (const agent of [undefined, [{ who: { display: 1 } }]]) {
      const header = { ...told({ agent }), 'content-type': 'text/plain' };
      expect((await all.send('POST', '/Binary', 'left behind', header)).status).toBeGreaterThanOrEqual(400);
    }
    expect(await store.blobs.list('')).toEqual(before);
  });

  it('that is refused does not tell whether the content is another', async () => {
    const id = newId();
    expect((await all.send('PUT', `/Patient/${id}`, { ...PATIENT, id, gender: 'male' })).status).toBe(201);
    const client = server.as('system/Patient.u system/Provenance.c?recorded=2020');
    for (const [header, status] of [
      [told({ target: [{ reference: 'Patient/other' }] }), 400],
      [told(), 403],
    ] as const) {
      const answers = [];
      for (const gender of ['male', 'female'])
        answers.push(await client.send('PUT', `/Patient/${id}`, { ...PATIENT, id, gender }, header));
      expect(answers.map((each) => each.status)).toEqual([status, status]);
      expect(answers[0]!.text).toBe(answers[1]!.text);
    }
    expect(await targetsOf(`Patient/${id}`)).toEqual([]);
  });

  it('is not stored where nothing is written', async () => {
    const id = newId();
    const identifier = [{ system: 'urn:told', value: id }];
    const header = { ...told(), 'if-none-exist': `identifier=urn:told|${id}` };
    const first = await all.send('POST', '/Patient', { ...PATIENT, identifier }, header);
    expect(first.status).toBe(201);
    expect((await all.send('POST', '/Patient', { ...PATIENT, identifier }, header)).status).toBe(200);
    expect(await targetsOf(nameIn(first))).toHaveLength(1);
  });

  describe('is refused, and nothing is stored', () => {
    const broken: readonly (readonly [string, number, Record<string, string>])[] = [
      ['no JSON', 400, { 'x-provenance': '{' }],
      ['two of them', 400, { 'x-provenance': `${told()['x-provenance']}, ${told()['x-provenance']}` }],
      ['another resource', 400, { 'x-provenance': JSON.stringify(PATIENT) }],
      ['an unknown element', 400, told({ nothing: 1 })],
      ['no agent', 400, told({ agent: undefined })],
      ['a target that is no list', 400, told({ target: {} })],
      ['an empty list of targets', 400, told({ target: [] })],
    ];
    it.each(broken)('%s', async (_what, status, header) => {
      const id = newId();
      const refused = await all.send('PUT', `/Patient/${id}`, { ...PATIENT, id }, header);
      expect([status, 422]).toContain(refused.status);
      expect((await all.send('GET', `/Patient/${id}`)).status).toBe(404);
    });

    it('without the scope to create a Provenance', async () => {
      const id = newId();
      const client = server.as('system/Patient.cruds');
      const refused = await client.send('PUT', `/Patient/${id}`, { ...PATIENT, id }, told());
      expect(neededBy(refused)).toContain('Provenance.c');
      expect((await all.send('GET', `/Patient/${id}`)).status).toBe(404);
      const both = server.as('system/Patient.cruds system/Provenance.c');
      expect((await both.send('PUT', `/Patient/${id}`, { ...PATIENT, id }, told())).status).toBe(201);
      const without = server.as('system/Provenance.c');
      expect((await without.send('PUT', `/Patient/${id}`, { ...PATIENT, id, gender: 'male' }, told())).status).toBe(
        403,
      );
      expect(await targetsOf(`Patient/${id}`)).toHaveLength(1);
    });

    it('with a Bundle, a deletion or an operation', async () => {
      const id = newId();
      expect((await all.send('PUT', `/Patient/${id}`, { ...PATIENT, id })).status).toBe(201);
      const bundle = transaction({ ...entry('POST', 'Patient'), resource: PATIENT });
      for (const [method, path, body] of [
        ['POST', '', bundle],
        ['DELETE', `/Patient/${id}`, undefined],
        ['POST', '/Patient/$validate', PATIENT],
      ] as const) {
        expect([path, (await all.send(method, path, body, told())).status]).toEqual([path, 400]);
      }
      expect((await all.send('GET', `/Patient/${id}`, undefined, told())).status).toBe(200);
    });
  });
}
