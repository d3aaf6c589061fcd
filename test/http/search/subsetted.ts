import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { entry, transaction, useBundleServer, urn, word } from '../bundles/bundle-server.js';
import { expectRefusal } from '../write-server.js';

const TAG = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' };

/** What is written stays whole and valid, whatever the store. */
export function wholeWrites(store: Store): void {
  const server = useBundleServer(store);

  describe('a part of a resource, as _summary and _elements return it, overwrites no whole one (search.html#summary)', () => {
    const whole = async (): Promise<{ id: string; body: object }> => {
      const id = word();
      const body = {
        resourceType: 'Patient',
        id,
        identifier: [{ value: id }],
        name: [{ family: 'A' }],
        photo: [{ title: 'p' }],
      };
      expect((await server.send('PUT', `/Patient/${id}`, body)).status).toBe(201);
      return { id, body };
    };
    const partOf = async (id: string) => (await server.send('GET', `/Patient/${id}?_elements=name`)).json();

    it('by id, by criteria, by create and in a transaction', async () => {
      const { id } = await whole();
      const part = await partOf(id);
      expect(part.meta.tag).toMatchObject([TAG]);
      const { id: _id, ...noId } = part;
      for (const answer of [
        await server.send('PUT', `/Patient/${id}`, part),
        await server.send('PUT', `/Patient?identifier=${id}`, part),
        await server.send('POST', '/Patient', noId),
        await server.send('POST', '', transaction(entry('PUT', `Patient/${id}`, part))),
      ]) {
        expectRefusal(answer, 400, 'resource-subsetted', 'SUBSETTED', 'whole resource');
        expect(answer.json().issue[0].expression[0]).toMatch(/[.]meta[.]tag$/);
      }
      const now = (await server.send('GET', `/Patient/${id}`)).json();
      expect([now.meta.versionId, now.photo]).toEqual(['1', [{ title: 'p' }]]);
    });

    it('nor by a patch that adds the tag', async () => {
      const { id } = await whole();
      const patch = [{ op: 'add', path: '/meta/tag', value: [TAG] }];
      const answer = await server.send('PATCH', `/Patient/${id}`, patch, {
        'content-type': 'application/json-patch+json',
      });
      expectRefusal(answer, 400, 'resource-subsetted');
    });

    it('a tag with another code of the system is an ordinary tag', async () => {
      const id = word();
      const body = { resourceType: 'Patient', id, meta: { tag: [{ ...TAG, code: 'REDACTED' }] } };
      expect((await server.send('PUT', `/Patient/${id}`, body)).status).toBe(201);
    });
  });

  describe('what a transaction stores stays valid (http.html#trules)', () => {
    it('a uuid that equals a fullUrl stays a uuid, and the resource can be changed afterwards', async () => {
      const id = word();
      const fullUrl = urn();
      const basic = {
        resourceType: 'Basic',
        id,
        code: { text: 'x' },
        extension: [
          { url: 'http://x.example/uuid', valueUuid: fullUrl },
          { url: 'http://x.example/uri', valueUri: fullUrl },
        ],
      };
      const answer = await server.send(
        'POST',
        '',
        transaction(
          entry('POST', 'Patient', { resourceType: 'Patient' }, { fullUrl }),
          entry('PUT', `Basic/${id}`, basic),
        ),
      );
      expect(answer.status, answer.text).toBe(200);
      const stored = (await server.send('GET', `/Basic/${id}`)).json();
      expect(stored.extension[0].valueUuid).toBe(fullUrl);
      expect(stored.extension[1].valueUri).toMatch(/^Patient\//);
      const changed = await server.send('PUT', `/Basic/${id}`, { ...stored, author: { display: 'd' } });
      expect(changed.status, changed.text).toBe(200);
    });
  });
}
