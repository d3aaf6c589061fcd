import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { idsOf, putAll } from '../../search-server.js';
import { neededBy, scopedServer } from '../scoped.js';

const isIn = '?_tag=t%7Cin';
const SEEN = `system/Patient.cruds${isIn}`;

const patient = (value: string, tag: string, more: object = {}) => ({
  resourceType: 'Patient',
  meta: { tag: [{ system: 't', code: tag }] },
  identifier: [{ system: 's', value }],
  ...more,
});
const observation = (subject: string) => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'x' },
  subject: { reference: subject },
});

/** Criteria of writes and references, of clients with scopes: they look at nothing but what a client may search. */
export function criteriaScopes(store: Store): void {
  const server = scopedServer(store);
  const create = (scopes: string, value: string, tag = 'in') =>
    server.as(scopes).send('POST', '/Patient', patient(value, tag), { 'if-none-exist': `identifier=s|${value}` });
  const found = async (value: string): Promise<string[]> =>
    idsOf(await server.all.send('GET', `/Patient?identifier=s|${value}`));
  const transaction = (scopes: string, ...entry: object[]) =>
    server.as(scopes).send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
  const referring = (criteria: string) => ({
    resource: observation(criteria),
    request: { method: 'POST', url: 'Observation' },
  });

  beforeAll(() =>
    putAll(server.all, [
      ...['create', 'update', 'delete', 'both', 'cond', 'two'].map((value) => ({
        ...patient(value, 'out'),
        id: `hidden-${value}`,
      })),
      { ...patient('both', 'in'), id: 'seen-both' },
      { ...patient('cond-seen', 'in'), id: 'seen-cond' },
      { ...patient('two', 'in'), id: 'seen-two' },
    ]),
  );

  describe('a conditional create', () => {
    it('finds what may be searched alone', async () => {
      const first = await create(SEEN, 'create');
      expect(first.status).toBe(201);
      const second = await create(SEEN, 'create');
      expect([second.status, second.json().id]).toEqual([200, first.json().id]);
      expect(await found('create')).toHaveLength(2);
      // Who sees both has to be more precise.
      expect((await create('system/Patient.cruds', 'create')).status).toBe(412);
    });

    it('needs s, even where nothing is found', async () => {
      expect(neededBy(await create('system/Patient.crud', 'nobody'))).toBe('system/Patient.cs');
      expect(await found('nobody')).toEqual([]);
    });

    it('makes one of many at once, hidden ones or not', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => create(SEEN, 'two-at-once')));
      expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
      expect(await found('two-at-once')).toHaveLength(1);
    });
  });

  it('a conditional update of what is hidden makes another one', async () => {
    const answer = await server.as(SEEN).send('PUT', '/Patient?identifier=s|update', patient('update', 'in'));
    expect(answer.status).toBe(201);
    expect(await found('update')).toHaveLength(2);
    const again = await server.as(SEEN).send('PUT', '/Patient?identifier=s|update', patient('update', 'in', { active: true })); // prettier-ignore
    expect([again.status, again.json().id]).toEqual([200, answer.json().id]);
    const hidden = await server.all.send('GET', '/Patient/hidden-update');
    expect(hidden.headers.etag).toBe('W/"1"');
  });

  it('a conditional update with one that is hidden besides is none of several', async () => {
    const answer = await server
      .as(SEEN)
      .send('PUT', '/Patient?identifier=s|two', patient('two', 'in', { active: true }));
    expect([answer.status, answer.json().id]).toEqual([200, 'seen-two']);
  });

  it('a conditional delete says of what is hidden the same as of what is not there', async () => {
    const remove = (value: string) => server.as(SEEN).send('DELETE', `/Patient?identifier=s|${value}`);
    const [hidden, none] = [await remove('delete'), await remove('DELETE')];
    expect([hidden.status, hidden.text.replaceAll('delete', 'DELETE')]).toEqual([none.status, none.text.replaceAll('delete', 'DELETE')]); // prettier-ignore
    expect(await found('delete')).toEqual(['hidden-delete']);
    expect((await remove('both')).status).toBe(200);
    expect(await found('both')).toEqual(['hidden-both']);
  });

  describe('a conditional reference', () => {
    const scopes = `system/Observation.c system/Patient.s${isIn}`;

    it('leads to what may be searched alone', async () => {
      expect((await transaction(scopes, referring('Patient?identifier=s|cond-seen'))).status).toBe(200);
      const told = async (value: string) => {
        const answer = await transaction(scopes, referring(`Patient?identifier=s|${value}`));
        return [answer.status, answer.text.replaceAll(value, 'VALUE')];
      };
      expect(await told('cond')).toEqual(await told('none'));
      expect(await found('cond')).toEqual(['hidden-cond']);
    });

    it('needs s', async () => {
      const answer = await transaction('system/Observation.c', referring('Patient?identifier=s|cond'));
      expect(neededBy(answer)).toContain('system/Patient.s');
    });
  });

  it('a hierarchy in criteria needs s on its type', async () => {
    const path = '/Encounter?location:below=Location/x';
    const answer = await server.as('system/Encounter.ds').send('DELETE', path);
    expect(neededBy(answer)).toContain('system/Location.s');
    expect((await server.as('system/Encounter.ds system/Location.s').send('DELETE', path)).status).toBe(200);
  });
}
