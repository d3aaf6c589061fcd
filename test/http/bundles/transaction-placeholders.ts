import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Store } from '../../../runtime/store/store.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import {
  batch,
  entry,
  nameOf,
  observation,
  patient,
  responsesOf,
  transaction,
  useBundleServer,
  word,
  type TestEntry,
} from './bundle-server.js';
import { codeOf } from '../server.js';

/** The `fullUrl`s of transactions, which other clients choose as they like. The server checks rules of content, too. */
export function transactionPlaceholders(store: Store): void {
  const server = useBundleServer(store, { rules: createRuleChecker(tables), validation: 'full' });
  const run = (...entries: TestEntry[]) => server.send('POST', '', transaction(...entries));
  const storedBy = async (...entries: TestEntry[]) => {
    const answer = await run(...entries);
    expect(answer.status, answer.text).toBe(200);
    const names = responsesOf(answer)
      .filter(({ location }) => location !== undefined)
      .map(nameOf);
    const stored = await Promise.all(names.map((name) => server.send('GET', `/${name}`)));
    return { names, stored: stored.map((each) => each.json()) };
  };

  describe('a fullUrl may be any absolute URI', () => {
    const odd = [
      ...['urn:uuid:patient', 'urn:uuid:Patient-1', 'urn:uuid:', 'urn:oid:x', 'urn:oid:1.02', 'URN:UUID:patient'],
      ...['urn:x:1', 'urn:ietf:rfc:2648', 'tag:example.org,2026:patient', 'https://other.example/anything?x=1'],
      'http://other.example/Patient/1',
    ];

    it.each(odd)('%s', async (fullUrl) => {
      const { names, stored } = await storedBy(
        entry('POST', 'Observation', observation(fullUrl), { fullUrl: 'urn:uuid:observation' }),
        entry('POST', 'Patient', patient(word()), { fullUrl }),
      );
      expect(stored[0].subject.reference).toBe(names[1]);
    });

    it('names that differ only in the case of letters are two', async () => {
      const { names, stored } = await storedBy(
        entry('POST', 'Patient', patient(word()), { fullUrl: 'urn:uuid:p' }),
        entry('POST', 'Patient', patient(word()), { fullUrl: 'urn:uuid:P' }),
        entry('POST', 'Observation', observation('urn:uuid:P')),
        entry('POST', 'Observation', observation('urn:uuid:p')),
      );
      expect([stored[2].subject.reference, stored[3].subject.reference]).toEqual([names[1], names[0]]);
    });

    it.each(['urn:uuid:patient', 'urn:x:1'])('%s is replaced wherever a UUID is', async (fullUrl) => {
      const id = word();
      await server.send('PUT', `/Observation/${id}`, { ...observation('Patient/other'), id });
      const { names, stored } = await storedBy(
        entry('POST', 'Patient', patient(word()), { fullUrl, request: { ifNoneExist: `identifier=${word()}` } }),
        entry('POST', 'Observation', {
          ...observation(`${fullUrl}#part`),
          text: {
            status: 'generated',
            div: `<div xmlns="http://www.w3.org/1999/xhtml"><a href="${fullUrl}">it</a></div>`,
          },
          note: [{ text: fullUrl }],
          extension: [
            { url: 'http://a.example/uri', valueUri: fullUrl },
            { url: 'http://a.example/url', valueUrl: fullUrl },
          ],
        }),
        entry('PATCH', `Observation/${id}`, {
          resourceType: 'Parameters',
          parameter: [
            {
              name: 'operation',
              part: [
                { name: 'type', valueCode: 'replace' },
                { name: 'path', valueString: 'Observation.subject.reference' },
                { name: 'value', valueString: fullUrl },
              ],
            },
          ],
        }),
      );
      const [, { subject, text, note, extension }] = stored;
      const patched = (await server.send('GET', `/Observation/${id}`)).json();
      expect(subject.reference).toBe(`${names[0]}#part`);
      expect(text.div).toContain(`href="${names[0]}"`);
      expect(note).toEqual([{ text: fullUrl }]);
      expect(extension.map((each: object) => Object.values(each)[1])).toEqual([names[0], names[0]]);
      expect(patched.subject.reference).toBe(names[0]);
    });

    it('in the searches of entries', async () => {
      const answer = await run(
        entry('POST', 'Patient', patient(word()), { fullUrl: 'urn:uuid:patient' }),
        entry('POST', 'Observation', observation('urn:uuid:patient')),
        entry('GET', 'Observation?subject=urn:uuid:patient'),
      );
      const found = answer.json().entry[2].resource.entry;
      expect(found.map(({ resource }: { resource: { subject: unknown } }) => resource.subject)).toEqual([
        { reference: nameOf(responsesOf(answer)[0]) },
      ]);
    });
  });

  describe('what is stored stays valid', () => {
    it.each([
      ['a canonical', { instantiatesCanonical: 'urn:uuid:patient' }],
      ['the URL of an extension', { extension: [{ url: 'urn:uuid:patient', valueString: 'x' }] }],
    ])('%s is no reference, and refused', async (_, more) => {
      const answer = await run(
        entry('POST', 'Patient', patient(word()), { fullUrl: 'urn:uuid:patient' }),
        entry('POST', 'Observation', { ...observation('urn:uuid:patient'), ...more }),
      );
      expect([answer.status, codeOf(answer)], answer.text).toEqual([422, 'url-invalid-in-content']);
    });

    it('a placeholder that no entry has is named', async () => {
      const answer = await run(entry('POST', 'Observation', observation('urn:uuid:nobody')));
      expect([answer.status, codeOf(answer)], answer.text).toEqual([400, 'bundle-placeholder']);
      expect(answer.text).toContain('urn:uuid:nobody');
    });

    it('by itself, and in a batch, such a reference is refused; a fullUrl alone is not', async () => {
      const alone = await server.send('POST', '/Observation', observation('urn:uuid:patient'));
      expect([alone.status, codeOf(alone)]).toEqual([422, 'url-invalid-in-content']);
      const answer = await server.send(
        'POST',
        '',
        batch(
          entry('POST', 'Patient', patient(word()), { fullUrl: 'urn:uuid:patient' }),
          entry('POST', 'Observation', observation('urn:uuid:patient'), { fullUrl: 'urn:uuid:observation' }),
        ),
      );
      expect(responsesOf(answer).map(({ status }) => status.slice(0, 3))).toEqual(['201', '422']);
    });

    it('text that is no URL may begin as a URN', async () => {
      const noted = { ...observation('Patient/1'), note: [{ text: 'urn:uuid: is a scheme' }] };
      expect((await server.send('POST', '/Observation', noted)).status).toBe(201);
    });
  });

  it('the envelope is not checked by rules of content', async () => {
    const answer = await server.send('POST', '', {
      ...transaction(entry('POST', 'Patient', patient(word()), { fullUrl: 'urn:uuid:patient' })),
      // bdl-1 and bdl-2: neither belongs into a transaction.
      total: 1,
      identifier: { system: 'urn:uuid:system', value: 'x' },
    });
    expect(answer.status, answer.text).toBe(200);
  });
}
