import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import {
  batch,
  entry,
  faultsOf,
  nameOf,
  observation,
  patient,
  responsesOf,
  statusesOf,
  transaction,
  urn,
  useBundleServer,
  word,
  type TestEntry,
} from './bundle-server.js';
import { fhirPathPatch, jsonPatch, value, xmlPatch } from './patch-entries.js';
import { LEFT, REPLACED, SENT } from './transaction-patch-cases.js';

/** What patches in a transaction say of its other entries. */
export function transactionPatches(store: Store): void {
  const server = useBundleServer(store);
  const run = (...entries: TestEntry[]) => server.send('POST', '', transaction(...entries));
  const read = async (name: string) => (await server.send('GET', `/${name}`)).json();
  const make = async (more: object = {}): Promise<string> => {
    const { id } = (await server.send('POST', '/Observation', { ...SENT, ...more })).json();
    return `Observation/${id}`;
  };

  /** Patches an Observation beside an entry that creates a Patient; gives the first, and the name of the second. */
  const patched = async (patch: object, made: TestEntry, more: object = {}) => {
    const name = await make(more);
    const answer = await run(entry('PATCH', name, patch), made);
    expect(answer.status, answer.text).toBe(200);
    return { after: await read(name), who: nameOf(responsesOf(answer)[1]) };
  };

  describe('placeholders in patches (http.html#trules)', () => {
    it.each(REPLACED)('are replaced in %s', async (_name, patchOf, expected) => {
      const fullUrl = urn();
      const { after, who } = await patched(patchOf(fullUrl), entry('POST', 'Patient', patient('x'), { fullUrl }));
      expect(after).toMatchObject(expected(who, fullUrl));
    });

    it.each(LEFT)('are left in %s', async (_name, patchOf, expected) => {
      const fullUrl = urn();
      const { after } = await patched(patchOf(fullUrl), entry('POST', 'Patient', patient('x'), { fullUrl }));
      expect(after).toMatchObject(expected(fullUrl));
    });

    it.each([
      ['JSON', (text: string) => jsonPatch({ op: 'replace', path: '/subject', value: { reference: text } })],
      ['JSON, by path', (text: string) => jsonPatch({ op: 'replace', path: '/subject/reference', value: text })],
      ['FHIRPath', (text: string) => fhirPathPatch('replace', 'Observation.subject', { valueReference: value(text) })],
      [
        'FHIRPath, by path',
        (text: string) => fhirPathPatch('replace', 'Observation.subject.reference', { valueString: text }),
      ],
      [
        'XML',
        (text: string) =>
          xmlPatch(
            'replace',
            '/Observation/subject',
            `<subject><reference value="${text.replace('&', '&amp;')}"/></subject>`,
          ),
      ],
      [
        'XML, by path',
        (text: string) => xmlPatch('replace', '/Observation/subject/reference/@value', text.replace('&', '&amp;')),
      ],
    ])('may be Type/id, a URL and a conditional reference: %s Patch', async (_name, patchOf) => {
      const id = word();
      const byId = await patched(patchOf(`Patient/${id}`), entry('POST', 'Patient', patient('x', { id })));
      expect(byId.after.subject.reference).toBe(byId.who);
      const fullUrl = `http://a.example/fhir/Patient/${id}`;
      const byUrl = await patched(patchOf(fullUrl), entry('POST', 'Patient', patient('x'), { fullUrl }));
      expect(byUrl.after.subject.reference).toBe(byUrl.who);
      const found = await patched(
        patchOf(`Patient?identifier=urn:test|${id}&active=true`),
        entry('POST', 'Patient', patient(id, { active: true })),
      );
      expect(found.after.subject.reference).toBe(found.who);
      const other = await patched(patchOf(`Patient/${id}-not`), entry('POST', 'Patient', patient('x', { id })));
      expect(other.after.subject.reference).toBe(`Patient/${id}-not`);
      const none = await run(entry('PATCH', await make(), patchOf(`Patient?identifier=urn:test|${id}-not`)));
      expect([none.status, faultsOf(none)[0]?.[0]]).toEqual([404, 'not-found']);
      expect(faultsOf(none)[0]?.[1]).toMatch(
        /^Bundle\.entry\[0\]\.resource\.(?:data|parameter\[0\]\.part\[2\]\.value)/,
      );
    });

    it.each([
      ['JSON', (text: string) => jsonPatch({ op: 'replace', path: '/subject/reference', value: text }), 'data'],
      ['XML', (text: string) => xmlPatch('replace', '/Observation/subject/reference/@value', text), 'data'],
      [
        'FHIRPath',
        (text: string) => fhirPathPatch('replace', 'Observation.subject.reference', { valueString: text }),
        'parameter[0].part[2].valueString',
      ],
    ])('that no entry has are refused in references: %s Patch', async (_name, patchOf, place) => {
      const name = await make();
      const answer = await run(
        entry('POST', 'Patient', patient('x'), { fullUrl: urn() }),
        entry('PATCH', name, patchOf(urn())),
      );
      expect([answer.status, ...faultsOf(answer)]).toEqual([
        400,
        ['bundle-placeholder', `Bundle.entry[1].resource.${place}`],
      ]);
      expect((await read(name)).meta.versionId).toBe('1');
    });

    it('stand for what a JSON Patch tests for, found or made', async () => {
      const [fullUrl, other, id] = [urn(), urn(), word()];
      await server.send('PUT', `/Patient/${id}`, patient(id, { id }));
      const name = await make({ subject: { reference: `Patient/${id}` } });
      const patch = (...values: string[]) =>
        jsonPatch(...values.map((each) => ({ op: 'test', path: '/subject', value: { reference: each } })));
      const url = `Patient?identifier=urn:test|${id}`;
      const entries = (...values: string[]) => [
        entry('PATCH', name, patch(...values)),
        entry('PUT', url, patient(id), { fullUrl }),
        entry('POST', 'Patient', patient('x'), { fullUrl: other }),
        // What is searched for is looked at before all names are known.
        entry('POST', 'Observation', observation('Patient/x'), { request: { ifNoneExist: `_id=${word()}` } }),
      ];
      const right = await run(...entries(fullUrl, url));
      expect(statusesOf(right), right.text).toEqual(['200 OK', '200 OK', '201 Created', '201 Created']);
      const wrong = await run(...entries(other));
      expect([wrong.status, ...faultsOf(wrong)]).toEqual([422, ['patch-test-failed', 'Bundle.entry[0].resource.data']]);
    });

    it('are seen by searches that come after', async () => {
      const [fullUrl, tag] = [urn(), word()];
      const name = await make();
      const answer = await run(
        entry('PATCH', name, xmlPatch('replace', '/Observation/subject/reference/@value', fullUrl)),
        entry('POST', 'Patient', patient(tag), { fullUrl }),
        entry('PUT', `Observation?subject=${fullUrl}&_id=${word()}`, observation(fullUrl)),
        entry('GET', `Observation?subject=${fullUrl}&_id=${name.split('/')[1]}`),
      );
      expect(answer.status, answer.text).toBe(200);
      expect(answer.json().entry[3].resource.entry).toHaveLength(1);
    });

    it('stay in a batch', async () => {
      const [fullUrl, name] = [urn(), await make()];
      const patch = xmlPatch('replace', '/Observation/subject/reference/@value', fullUrl);
      const entries = [entry('POST', 'Patient', patient('x'), { fullUrl }), entry('PATCH', name, patch)];
      const answer = await server.send('POST', '', batch(...entries));
      expect(statusesOf(answer), answer.text).toEqual(['201 Created', '200 OK']);
      expect((await read(name)).subject.reference).toBe(fullUrl);
    });

    it('may say which resource is patched', async () => {
      const [fullUrl, id] = [urn(), word()];
      await server.send('PUT', `/Patient/${id}`, patient('x', { id }));
      const name = await make({ subject: { reference: `Patient/${id}` } });
      const answer = await run(
        entry(
          'PATCH',
          `Observation?subject=${fullUrl}`,
          jsonPatch({ op: 'add', path: '/focus', value: [{ reference: fullUrl }] }),
        ),
        entry('PUT', `Patient/${id}`, patient('y', { id }), { fullUrl }),
      );
      expect(statusesOf(answer), answer.text).toEqual(['200 OK', '200 OK']);
      expect((await read(name)).focus).toEqual([{ reference: `Patient/${id}` }]);
    });
  });

  describe('patches that are malformed', () => {
    const binary = (contentType: string, data: string) => ({
      resourceType: 'Binary',
      contentType,
      data: Buffer.from(data).toString('base64'),
    });
    const XML = 'application/xml-patch+xml';
    const JSON_PATCH = 'application/json-patch+json';
    const link = `<reference value="urn:uuid:x"/>`;
    it.each([
      ['no XML', XML, `<diff><add sel="/Observation">${link}</diff>`],
      ['no patch', XML, `<other>${link}</other>`],
      ['an unknown operation', XML, `<diff><put sel="/Observation">${link}</put></diff>`],
      ['a selector that is none', XML, `<diff><replace sel="//*">${link}</replace></diff>`],
      [
        'a selector that leads nowhere',
        XML,
        `<diff xmlns="http://hl7.org/fhir"><add sel="/Observation/bodyStructure/extension">${'<x/>'}</add></diff>`,
      ],
      ['too many operations', XML, `<diff>${'<remove sel="x"/>'.repeat(1001)}</diff>`],
      ['no array', JSON_PATCH, '{"op":"add","path":"/subject/reference","value":"x"}'],
      ['an operation that is none', JSON_PATCH, '[7,null,{"op":"add","path":7,"value":"x"}]'],
      ['a path that is none', JSON_PATCH, '[{"op":"add","path":"subject/reference~","value":"x"}]'],
      ['no JSON', JSON_PATCH, '[{'],
    ])('are told as without a transaction: %s', async (_name, type, text) => {
      const name = await make();
      const alone = await server.send('PATCH', `/${name}`, text, { 'content-type': type });
      const within = await run(
        entry('POST', 'Patient', patient('x'), { fullUrl: urn() }),
        entry('PATCH', name, binary(type, text)),
      );
      expect(alone.status).toBeGreaterThanOrEqual(400);
      expect(alone.status).toBeLessThan(500);
      expect([within.status, faultsOf(within)[0]?.[0]]).toEqual([alone.status, faultsOf(alone)[0]?.[0]]);
      expect(faultsOf(within)[0]?.[1]).toBe('Bundle.entry[1].resource.data');
      const told: string = alone.json().issue[0].details.text;
      // Lines are those of a text that stands in the Bundle as Base64.
      const where = told.startsWith('Line ') ? 'The patch in Binary.data: ' : '';
      expect(within.json().issue[0].details.text).toBe(where + told);
    });

    it.each([
      ['a path that cannot be read', fhirPathPatch('replace', 'Observation.subject.(', { valueString: 'x' })],
      [
        'no path',
        {
          resourceType: 'Parameters',
          parameter: [
            {
              name: 'operation',
              part: [
                { name: 'type', valueCode: 'add' },
                { name: 'value', valueString: 'x' },
              ],
            },
          ],
        },
      ],
      ['no parts', { resourceType: 'Parameters', parameter: [{ name: 'operation' }] }],
      ['an element that there is not', fhirPathPatch('add', 'Observation', { valueString: 'x' }, 'subjekt')],
    ])('are told as without a transaction: FHIRPath Patch with %s', async (_name, patch) => {
      const name = await make();
      const alone = await server.send('PATCH', `/${name}`, patch);
      const within = await run(entry('POST', 'Patient', patient('x'), { fullUrl: urn() }), entry('PATCH', name, patch));
      expect(alone.status).toBeGreaterThanOrEqual(400);
      expect([within.status, faultsOf(within)[0]?.[0]]).toEqual([alone.status, faultsOf(alone)[0]?.[0]]);
      expect(faultsOf(within)[0]?.[1]).toMatch(/^Bundle\.entry\[1\]\.resource/);
    });

    it('are refused where they are of another release', async () => {
      const name = await make();
      const old = binary(`${JSON_PATCH}; fhirVersion=4.0`, '[]');
      const within = await run(entry('PATCH', name, old));
      expect([within.status, ...faultsOf(within)]).toEqual([
        415,
        ['unsupported-media-type', 'Bundle.entry[0].resource.contentType'],
      ]);
    });

    it('are told at the patch where they make something wrong', async () => {
      const name = await make();
      const wrong = binary(JSON_PATCH, '[{"op":"add","path":"/foo","value":1}]');
      const within = await run(entry('PATCH', name, wrong));
      expect([within.status, ...faultsOf(within)]).toEqual([
        400,
        ['unknown-property', 'Bundle.entry[0].resource.data'],
      ]);
      expect(within.text).toContain('What the patch makes: Observation.foo: Observation has no property');
    });
  });

  describe('narrative', () => {
    it.each(['urn&#58;uuid:', '&#117;rn&#x3A;uuid:', 'URN:uuid:'])(
      'has its links found however they are written: %s',
      async (start) => {
        const fullUrl = urn();
        const href = start + fullUrl.slice('urn:uuid:'.length);
        const answer = await run(
          entry('POST', 'Patient', patient('x'), { fullUrl }),
          entry(
            'POST',
            'Patient',
            patient('y', {
              text: {
                status: 'generated',
                div: `<div xmlns="http://www.w3.org/1999/xhtml"><a href="${href}&#35;a&lt;b">x</a><p title="${href}">${href}</p></div>`,
              },
            }),
          ),
        );
        const [made, other] = responsesOf(answer).map(nameOf);
        expect((await read(other!)).text.div).toBe(
          `<div xmlns="http://www.w3.org/1999/xhtml"><a href="${made}#a&lt;b">x</a><p title="${href}">${href}</p></div>`,
        );
      },
    );

    it('has links whose URL has an "&" in it found, and no entity is read twice', async () => {
      const fullUrl = `http://a.example/fhir?x=1&y=2`;
      const links = [
        'http://a.example/fhir?x=1&amp;y=2',
        'http://a.example/fhir?x=1&#38;y=2',
        'http://a.example/fhir?x=1&amp;amp;y=2',
      ];
      const div = `<div xmlns="http://www.w3.org/1999/xhtml">${links.map((href) => `<a href="${href}">x</a>`).join('')}</div>`;
      const answer = await run(
        entry('POST', 'Patient', patient('x'), { fullUrl }),
        entry('POST', 'Patient', patient('y', { text: { status: 'generated', div } })),
      );
      const [made, other] = responsesOf(answer).map(nameOf);
      const hrefs = [...(await read(other!)).text.div.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
      expect(hrefs).toEqual([made, made, links[2]]);
    });
  });
}
