import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';

import { untar } from '../../../runtime/cli/load/untar.js';
import type { Store } from '../../../runtime/store/store.js';
import { scopedServer } from '../auth/scoped.js';

const PACKAGE = new URL('../../guides/ihe.iti.mhd-5.1.0.tgz', import.meta.url);

/** The nine Bundles that IHE publishes as examples of ITI-65, and what two of them do wrong: what is sent, and what would be right. */
const BUNDLES: readonly { readonly name: string; readonly wrong?: string; readonly right?: string }[] = [
  {
    name: 'ProvideDocumentBundle-addToFolder',
    wrong: '"url":"List","method":"PUT"',
    right: '"url":"List/aaaaaaaa-bbbb-cccc-dddd-e00777700005","method":"PUT"',
  },
  { name: 'comprehensiveProvideDocumentBundleComplete' },
  { name: 'comprehensiveProvideDocumentBundleDocument' },
  { name: 'comprehensiveProvideDocumentBundleMultiple' },
  { name: 'comprehensiveProvideDocumentBundleReplace', wrong: '"size":"24"', right: '"size":"23"' },
  { name: 'comprehensiveProvideDocumentBundleSimple' },
  { name: 'minimalProvideDocumentBundleSimple' },
  { name: 'minimalProvideDocumentBundleSimpleContained' },
  { name: 'unContainedComprehensiveProvideDocumentBundleComplete' },
];

/** The published examples of ITI-65, whatever the store. IHE MHD 5.1.0, 2:3.65.4.1 */
export function publishedBundles(store: Store): void {
  const { all } = scopedServer(store);
  const texts = new Map<string, string>();

  const counts = async (): Promise<readonly number[]> => {
    const found: number[] = [];
    for (const type of ['DocumentReference', 'Binary', 'Bundle', 'List', 'Patient'])
      found.push((await all.send('GET', `/${type}?_summary=count`)).json().total);
    return found;
  };

  /** The method behind the URL, as the mends have them. */
  const inOrder = (text: string): string =>
    text.replace(/"method":"(\w+)","url":"([^"]+)"/g, '"url":"$2","method":"$1"');

  beforeAll(async () => {
    const isExample = (name: string): boolean => /^package\/example\/Bundle-.*\.json$/.test(name);
    for await (const { name, content } of untar(createReadStream(PACKAGE).pipe(createGunzip()), isExample, 2 ** 24)) {
      const key = /Bundle-ex-(.*)\.json$/.exec(name)?.[1] ?? name;
      texts.set(key, inOrder(JSON.stringify(JSON.parse(content!.toString('utf8')))));
    }
    for (const [type, id] of [['Patient', 'ex-patient'], ['Organization', 'ex-organization'], ['Practitioner', 'ex-practitioner']] as const)
      expect((await all.send('PUT', `/${type}/${id}`, { resourceType: type, id, active: true })).status).toBe(201); // prettier-ignore
    for (const id of ['ex-documentreference', 'ex-DocumentReferenceComprehensive']) {
      const body = {
        ...{ resourceType: 'DocumentReference', id, status: 'current', subject: { reference: 'Patient/ex-patient' } },
        content: [{ attachment: { url: 'http://example.com/x' } }],
      };
      expect((await all.send('PUT', `/DocumentReference/${id}`, body)).status).toBe(201);
    }
  });

  describe('the Bundles that IHE publishes', () => {
    it.each(BUNDLES)('$name', async ({ name, wrong, right = '' }) => {
      const published = texts.get(name) ?? '';
      if (wrong !== undefined) {
        expect(published).toContain(wrong);
        const before = await counts();
        const refused = await all.send('POST', '', published);
        expect([400, 422], refused.text).toContain(refused.status);
        expect(await counts()).toEqual(before);
      }
      const text = wrong === undefined ? published : published.replace(wrong, right);
      const bundle = JSON.parse(text) as { entry: { request: { method: string } }[] };
      const broken = text.replace(/("attachment":\{[^}]*"url":"urn:uuid:)\w{8}/, '$1deadbeef');
      expect(broken).not.toBe(text);
      const before = await counts();
      const refused = await all.send('POST', '', broken);
      expect(refused.status, refused.text).toBe(422);
      expect(await counts()).toEqual(before);
      const answer = await all.send('POST', '', text);
      expect(answer.status, answer.text).toBe(200);
      const responses = answer.json().entry.map(({ response }: { response: { status: string } }) => response.status);
      expect(responses).toEqual(bundle.entry.map(({ request }) => expect.stringMatching(request.method === 'PATCH' ? /^200/ : /^20[01]/))); // prettier-ignore
    });
  });
}
