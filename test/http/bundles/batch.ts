import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import {
  batch,
  entry,
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
import { codeOf } from '../server.js';

/** What a batch does, and what is done with Bundles that are neither batch nor transaction; whatever the store. */
export function batches(store: Store): void {
  const server = useBundleServer(store, { limits: { entries: 50 } });
  const run = (bundle: object, headers: Record<string, string> = {}) => server.send('POST', '', bundle, headers);

  describe('batch (http.html#brules)', () => {
    it('executes each entry by itself, in the order of work, and tells failures in their entries', async () => {
      const id = word();
      await server.send('PUT', `/Patient/${id}-old`, patient('x', { id: `${id}-old` }));
      const answer = await run(
        batch(
          entry('GET', `Patient/${id}`),
          entry('PUT', `Patient/${id}`, patient('x', { id })),
          entry('POST', 'Observation', { resourceType: 'Observation', status: 'final' }),
          entry('POST', 'Patient', patient('x')),
          entry('GET', `Patient/${id}-old`),
          entry('DELETE', `Patient/${id}-old`),
          entry('GET', 'http://elsewhere.example/fhir/Patient/1'),
          entry('POST', 'Patient/$nothing'),
          { resource: patient('x') },
          entry('HEAD', `Patient/${id}`),
        ),
      );
      expect(answer.status).toBe(200);
      expect(answer.json().type).toBe('batch-response');
      expect(statusesOf(answer).map((status) => status.slice(0, 3))).toEqual([
        '200',
        '201',
        '400',
        '201',
        '410',
        '204',
        '400',
        '404',
        '400',
        '200',
      ]);
      const [got, put, wrong] = answer.json().entry;
      expect(got.resource.id).toBe(id);
      expect(put.resource).toBeUndefined();
      expect(wrong.response.outcome.issue[0].expression).toEqual(['Bundle.entry[2].resource.code']);
      expect(server.defects).toEqual([]);
    });

    it('honours conditions, and Prefer for what it writes', async () => {
      const value = word();
      const create = entry('POST', 'Patient', patient(value), {
        request: { ifNoneExist: `identifier=urn:test|${value}` },
      });
      const first = await run(batch(create, create), { prefer: 'return=representation' });
      expect(statusesOf(first).sort()).toEqual(['200 OK', '201 Created']);
      expect(
        first
          .json()
          .entry.map(({ resource }: { resource: { identifier: [{ value: string }] } }) => resource.identifier[0].value),
      ).toEqual([value, value]);
      const [{ location }] = responsesOf(first);
      const stale = await run(
        batch(
          entry('PUT', nameOf({ location }), patient(value, { id: nameOf({ location }).slice(8) }), {
            request: { ifMatch: 'W/"9"' },
          }),
        ),
      );
      expect(statusesOf(stale)).toEqual(['412 Precondition Failed']);
    });

    it('does not resolve references between its entries', async () => {
      const who = urn();
      const answer = await run(
        batch(entry('POST', 'Patient', patient('x'), { fullUrl: who }), entry('POST', 'Observation', observation(who))),
      );
      const [, seen] = responsesOf(answer);
      expect((await server.send('GET', `/${nameOf(seen)}`)).json().subject.reference).toBe(who);
    });

    it('keeps and gives contents of Binaries', async () => {
      const binary = { resourceType: 'Binary', contentType: 'text/plain', data: 'aGVsbG8=' };
      const [made] = responsesOf(await run(batch(entry('POST', 'Binary', binary))));
      expect((await server.send('GET', `/${nameOf(made)}`)).text).toBe('hello');
      const read = await run(batch(entry('GET', nameOf(made))));
      expect(read.json().entry[0].resource).toMatchObject(binary);
    });
  });

  it('the CapabilityStatement claims batch and transaction', async () => {
    const [rest] = (await server.send('GET', '/metadata')).json().rest;
    const codes = rest.interaction.map(({ code }: { code: string }) => code);
    expect(codes).toEqual(expect.arrayContaining(['transaction', 'batch']));
  });

  describe('Bundles of other types', () => {
    it.each(['document', 'message', 'collection', 'searchset', 'history', 'batch-response'])(
      '%s is not executed, with a hint',
      async (type) => {
        const answer = await run({ resourceType: 'Bundle', type });
        expect([answer.status, codeOf(answer)]).toEqual([400, 'bundle-type']);
        expect(answer.text).toContain('/Bundle stores');
      },
    );

    it('no type, and what is no Bundle, are refused', async () => {
      expect(codeOf(await run({ resourceType: 'Bundle' }))).toBe('bundle-type');
      const other = await run(patient('x'));
      expect(codeOf(other)).toBe('type-mismatch');
      expect(other.json().issue[0].details.text).toBe(
        'POST to the base takes a Bundle of type batch or transaction, not "Patient"; POST [base]/[type] creates a resource',
      );
      expect(codeOf(await server.send('POST', '/'))).toBe('body-missing');
      expect(codeOf(await server.send('POST', '?nonsense=1', batch()))).toBe('parameter-unknown');
      expect((await run({ resourceType: 'Bundle', type: 'batch', entry: 7 })).status).toBe(400);
      expect((await run({ resourceType: 'Bundle', type: 'batch', entry: [7] })).status).toBe(400);
      expect(server.defects).toEqual([]);
    });

    it('POST to Bundle stores batches and transactions as they are', async () => {
      const bundle = transaction(entry('POST', 'Patient', patient('x'), { fullUrl: urn() }));
      const answer = await server.send('POST', '/Bundle', bundle);
      expect(answer.status, answer.text).toBe(201);
      expect(answer.json()).toMatchObject(bundle);
    });

    it('may have so many entries', async () => {
      const answer = await run(batch(...Array.from({ length: 51 }, () => entry('GET', 'Patient/x'))));
      expect([answer.status, codeOf(answer)]).toEqual([413, 'too-many-entries']);
    });
  });
}
