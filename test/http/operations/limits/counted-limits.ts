import { describe, expect, it } from 'vitest';

import { sizeOf } from '../../../../runtime/path/size-of.js';
import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import { expectRefusal } from '../../write-server.js';

const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** What operations take is counted: as much as docs/limits.md says is done, and one more is refused with the limit. */
export function countedLimits(store: Store): void {
  const server = scopedServer(store);
  const post = (path: string, body: object) => server.all.send('POST', path, body);

  it('$convert takes 2 MB', async () => {
    const patient = (text: string) => ({
      resourceType: 'Patient',
      name: [{ text: 'x'.repeat(2 ** 20) }, { text: 'x'.repeat(500_000) }, { text }],
    });
    const most = 2 * 1024 * 1024;
    const long = 'x'.repeat(most - sizeOf(patient(''), most));
    const answer = await post('/$convert', patient(long));
    expect([answer.status, answer.json()], answer.text.slice(0, 500)).toEqual([200, patient(long)]);
    expectRefusal(await post('/$convert', patient(`${long}x`)), 413, 'body-too-large', '$convert', '2097152');
  });

  it('a resource of a transaction has 10,000 references to entries', async () => {
    const send = (count: number) => {
      const member = many(count, () => ({ entity: { reference: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a' } }));
      const entry = [
        {
          fullUrl: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a',
          resource: { resourceType: 'Patient' },
          request: { method: 'POST', url: 'Patient' },
        },
        {
          resource: { resourceType: 'Group', id: 'many', type: 'person', membership: 'enumerated', member },
          request: { method: 'PUT', url: 'Group/many' },
        },
      ];
      return post('/', { resourceType: 'Bundle', type: 'transaction', entry });
    };
    const answer = await send(10_000);
    expect(answer.status, answer.text.slice(0, 500)).toBe(200);
    const stored = (await server.all.send('GET', '/Group/many')).json();
    expect(stored.member).toHaveLength(10_000);
    expect(stored.member[9999].entity.reference).toMatch(/^Patient\//);
    expectRefusal(await send(10_001), 413, 'transaction-too-large', '10000 references');
    expect((await server.all.send('GET', '/Group/many')).json().meta.versionId).toBe('1');
  });

  it('a narrative of a transaction has 10,000 links to entries', async () => {
    const send = (count: number) => {
      const links = many(count, () => '<a href="urn:uuid:71ebe359-bfdc-4613-8bf2-c5e300945f0a">p</a>').join('');
      const div = `<div xmlns="http://www.w3.org/1999/xhtml">${links}</div>`;
      const entry = [
        {
          fullUrl: 'urn:uuid:71ebe359-bfdc-4613-8bf2-c5e300945f0a',
          resource: { resourceType: 'Patient' },
          request: { method: 'POST', url: 'Patient' },
        },
        {
          resource: { resourceType: 'Basic', id: 'linked', text: { status: 'generated', div }, code: { text: 'x' } },
          request: { method: 'PUT', url: 'Basic/linked' },
        },
      ];
      return post('/', { resourceType: 'Bundle', type: 'transaction', entry });
    };
    const answer = await send(10_000);
    expect(answer.status, answer.text.slice(0, 500)).toBe(200);
    const { div } = (await server.all.send('GET', '/Basic/linked')).json().text;
    expect(div.match(/href="Patient\//g)).toHaveLength(10_000);
    expectRefusal(await send(10_001), 413, 'transaction-too-large', '10000 links');
  });

  describe('$diff', () => {
    const diff = async (id: string, ...versions: object[]) => {
      for (const version of versions) {
        const answer = await server.all.send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id, ...version });
        expect(answer.status, answer.text.slice(0, 500)).toBeLessThan(300);
      }
      return server.all.send('GET', `/Patient/${id}/$diff`);
    };
    const names = (count: number, family: string) => many(count, (n) => ({ family: `${family}${n}` }));

    it('compares lists of 10,000 items', async () => {
      const common = { gender: 'male' };
      const answer = await diff('items', { ...common, name: names(5000, 'a') }, { ...common, name: names(5000, 'b') });
      expect(answer.status, answer.text.slice(0, 500)).toBe(200);
      const more = await diff('more-items', { name: names(5000, 'a') }, { name: names(5001, 'b') });
      expectRefusal(more, 422, 'diff-impossible', 'a list of more than 10000 items', 'Patient.name');
    });

    it('compares lists of 100,000 values together', async () => {
      // Each contact is a value, and so are its list, the items of that, and their texts; one more may hold an id and extensions.
      const contacts = (more: object) =>
        many(4000, (n) => ({ relationship: many(11, () => ({ text: 'x' })), ...(n === 0 && more) }));
      const answer = await diff('values', { contact: contacts({}) }, { active: true });
      expect(answer.status, answer.text.slice(0, 500)).toBe(200);
      const more = await diff('more-values', { contact: contacts({ gender: 'male' }) }, { active: true });
      expectRefusal(more, 422, 'diff-impossible', 'more than 100000 values');
    });

    it('makes 5,000 operations', async () => {
      const answer = await diff('operations', { active: true }, { active: true, name: names(5000, 'a') });
      expect([answer.status, answer.json().parameter.length], answer.text.slice(0, 500)).toEqual([200, 5000]);
      const more = await diff('more-operations', { active: true }, { active: true, name: names(5001, 'a') });
      expectRefusal(more, 422, 'diff-impossible', 'more than 5000 places');
    });
  });

  it('$implements and $conforms compare statements of 30,000 items', async () => {
    /** A format, the list of all types and three types, each with what they have. */
    const statement = (id: string, count: number) => ({
      resourceType: 'CapabilityStatement',
      ...{ id, url: `http://limits.example/${id}`, status: 'active', date: '2024', kind: 'requirements' },
      ...{ fhirVersion: '5.0.0', format: ['json'] },
      rest: [
        {
          mode: 'client',
          resource: ['Patient', 'Basic', 'Group'].map((type, n) => ({
            type,
            searchParam: many(n === 0 ? count - 20_006 : 10_000, (i) => ({ name: `p${i}`, type: 'token' })),
          })),
        },
      ],
    });
    const implement = (count: number) =>
      post('/CapabilityStatement/$implements', {
        resourceType: 'Parameters',
        parameter: [{ name: 'resource', resource: statement('sent', count) }],
      });
    const answer = await implement(30_000);
    expect([answer.status, answer.json().resourceType], answer.text.slice(0, 500)).toEqual([422, 'OperationOutcome']);
    expect(answer.json().issue[0].details.text).toContain('p0');
    expectRefusal(await implement(30_001), 413, 'body-too-large', '30000', '30001');
    for (const count of [30_000, 30_001]) {
      const { status, text } = await server.all.send('PUT', `/CapabilityStatement/c${count}`, statement(`c${count}`, count)); // prettier-ignore
      expect(status, text.slice(0, 500)).toBe(201);
    }
    const conforms = (count: number) =>
      server.all.send('GET', `/CapabilityStatement/$conforms?left=http://limits.example/c${count}&mode=client/server`);
    expect((await conforms(30_000)).status).toBe(200);
    expectRefusal(await conforms(30_001), 413, 'body-too-large', '30000', '30001');
  });
}
