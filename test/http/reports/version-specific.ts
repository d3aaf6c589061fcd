import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import {
  batch,
  entry,
  nameOf,
  observation,
  patient,
  responsesOf,
  transaction,
  urn,
  useBundleServer,
  word,
  type TestEntry,
} from '../bundles/bundle-server.js';
import { fhirPathPatch, jsonPatch, xmlPatch } from '../bundles/patch-entries.js';
import { expectRefusal } from '../write-server.js';

const URL = 'http://hl7.org/fhir/StructureDefinition/resolve-as-version-specific';
const RESOLVE = { url: URL, valueBoolean: true };
/** A reference that asks for a version. */
const to = (reference: string, ...others: object[]) => ({ reference, extension: [...others, RESOLVE] });
const provenance = (reference: string, more: object = {}) => ({
  resourceType: 'Provenance',
  target: [to(reference)],
  agent: [{ who: { display: 'x' } }],
  ...more,
});

/** References that a transaction makes version-specific, whatever the store. */
export function versionSpecificReferences(store: Store): void {
  const server = useBundleServer(store);
  const run = (...entries: TestEntry[]) => server.send('POST', '', transaction(...entries));
  const read = async (name: string) => (await server.send('GET', `/${name}`)).json();
  const put = async (id: string, more: object = {}) => {
    const answer = await server.send('PUT', `/Patient/${id}`, { ...patient(id, more), id });
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  /** The targets of the Provenance that the first entry creates. */
  const targetsOf = async (...entries: TestEntry[]) => {
    const answer = await run(...entries);
    expect(answer.status, answer.text).toBe(200);
    return (await read(nameOf(responsesOf(answer)[0]))).target;
  };

  describe('R13: resolve-as-version-specific (http.html#trules)', () => {
    it('is version 1 of what an entry creates, and the extension goes', async () => {
      const fullUrl = urn();
      const answer = await run(
        entry('POST', 'Provenance', provenance(fullUrl)),
        entry('POST', 'Patient', patient('x'), { fullUrl }),
      );
      const [made, created] = responsesOf(answer);
      expect((await read(nameOf(made))).target).toEqual([{ reference: `${nameOf(created)}/_history/1` }]);
      expect(created.location).toBe(`${nameOf(created)}/_history/1`);
    });

    it('is the new version of what an entry updates, by fullUrl, by Type/id and by an absolute URL', async () => {
      const id = word();
      await put(id);
      await put(id, { active: true });
      const fullUrl = urn();
      const base = `${server.url}/fhir`;
      const targets = await targetsOf(
        entry(
          'POST',
          'Provenance',
          provenance('', {
            target: [
              fullUrl,
              `Patient/${id}`,
              `${base}/Patient/${id}`,
              `${base.replace('http:', 'https:')}/Patient/${id}`,
            ].map((text) => to(text)),
          }),
        ),
        entry('PUT', `Patient/${id}`, { ...patient(id), id, active: false }, { fullUrl }),
      );
      expect(targets).toEqual(Array(4).fill({ reference: `Patient/${id}/_history/3` }));
    });

    it('is the current version of what an entry leaves as it is', async () => {
      const id = word();
      await put(id);
      const targets = await targetsOf(
        entry('POST', 'Provenance', provenance(`Patient/${id}`)),
        entry('PUT', `Patient/${id}`, { ...patient(id), id }),
      );
      expect(targets).toEqual([{ reference: `Patient/${id}/_history/1` }]);
    });

    it('is the version of what criteria found, or made', async () => {
      const [there, none] = [word(), word()];
      await put(there);
      await put(there, { active: true });
      const [a, b, c] = [urn(), urn(), urn()];
      const answer = await run(
        entry(
          'POST',
          'Provenance',
          provenance('', { target: [to(a), to(b), to(c), to(`Patient?identifier=${there}`)] }),
        ),
        entry('POST', 'Patient', patient(there), { fullUrl: a, request: { ifNoneExist: `identifier=${there}` } }),
        entry('POST', 'Patient', patient(none), { fullUrl: b, request: { ifNoneExist: `identifier=${none}` } }),
        entry('PUT', `Observation?identifier=${none}`, observation(b), { fullUrl: c }),
      );
      expect(answer.status, answer.text).toBe(200);
      const [made, , created, observed] = responsesOf(answer);
      expect((await read(nameOf(made))).target.map(({ reference }: { reference: string }) => reference)).toEqual([
        `Patient/${there}/_history/2`,
        `${nameOf(created)}/_history/1`,
        `${nameOf(observed)}/_history/1`,
        `Patient/${there}/_history/2`,
      ]);
    });

    it('is the current version of what is stored, though no entry writes to it', async () => {
      const id = word();
      await put(id);
      await put(id, { active: true });
      const base = `${server.url}/fhir`;
      const target = [to(`Patient/${id}`), to(`${base}/Patient/${id}`), to(`Patient?identifier=${id}`)];
      const targets = await targetsOf(entry('POST', 'Provenance', provenance('', { target })));
      expect(targets).toEqual(Array(3).fill({ reference: `Patient/${id}/_history/2` }));
    });

    it('is the version after a patch, and after a patch that changes nothing', async () => {
      const [id, other] = [word(), word()];
      await put(id);
      await put(other);
      const targets = await targetsOf(
        entry('POST', 'Provenance', provenance('', { target: [to(`Patient/${id}`), to(`Patient/${other}`)] })),
        entry('PATCH', `Patient/${id}`, jsonPatch({ op: 'add', path: '/active', value: true })),
        entry('PATCH', `Patient/${other}`, jsonPatch({ op: 'test', path: '/id', value: other })),
      );
      expect(targets).toEqual([
        { reference: `Patient/${id}/_history/2` },
        { reference: `Patient/${other}/_history/1` },
      ]);
    });

    it('reaches through chains and circles of entries', async () => {
      const [one, two, three] = [word(), word(), word()];
      for (const id of [one, two, three]) await put(id);
      const linked = (id: string, other: string) => ({
        ...patient(id, { link: [{ other: to(`Patient/${other}`), type: 'seealso' }] }),
        id,
      });
      const circle = async () => {
        const answer = await run(
          entry('PUT', `Patient/${one}`, linked(one, two)),
          entry('PUT', `Patient/${two}`, linked(two, three)),
          entry('PUT', `Patient/${three}`, linked(three, one)),
        );
        expect(answer.status, answer.text).toBe(200);
        const stored = await Promise.all([one, two, three].map((id) => read(`Patient/${id}`)));
        return stored.map(({ link, meta }) => [meta.versionId, link[0].other.reference.split('/').at(-1)]);
      };
      expect(await circle()).toEqual([['2', '2'], ['2', '2'], ['2', '2']]); // prettier-ignore
      expect(await circle()).toEqual([['3', '3'], ['3', '3'], ['3', '3']]); // prettier-ignore
      const chain = await run(
        entry('PUT', `Patient/${one}`, linked(one, two)),
        entry('PUT', `Patient/${two}`, linked(two, three)),
        entry('PUT', `Patient/${three}`, { ...patient(three), id: three }),
      );
      expect(chain.status, chain.text).toBe(200);
      const versions = async () => (await Promise.all([one, two, three].map((id) => read(`Patient/${id}`)))).map(({ meta }) => meta.versionId); // prettier-ignore
      expect(await versions()).toEqual(['4', '4', '4']);
      const again = await run(
        entry('PUT', `Patient/${one}`, linked(one, two)),
        entry('PUT', `Patient/${two}`, linked(two, three)),
        entry('PUT', `Patient/${three}`, { ...patient(three), id: three }),
      );
      expect(again.status, again.text).toBe(200);
      expect(await versions()).toEqual(['4', '4', '4']);
    });

    it('names its own version where a resource refers to itself', async () => {
      const fullUrl = urn();
      const self = (text: string, more: object) =>
        patient('x', { link: [{ other: to(text), type: 'seealso' }], ...more });
      const [created] = responsesOf(await run(entry('POST', 'Patient', self(fullUrl, {}), { fullUrl })));
      const name = nameOf(created);
      expect((await read(name)).link[0].other).toEqual({ reference: `${name}/_history/1` });
      await run(entry('PUT', name, self(name, { id: name.split('/')[1] })));
      const after = await read(name);
      expect([after.meta.versionId, after.link[0].other.reference]).toEqual(['2', `${name}/_history/2`]);
    });

    it('is followed wherever a Reference may stand: contained, extensions, CodeableReference, other extensions stay', async () => {
      const id = word();
      await put(id);
      const other = { url: 'http://x.example/e', valueString: 'y' };
      const body = {
        ...observation(''),
        subject: to(`Patient/${id}`, other),
        contained: [
          { resourceType: 'Provenance', id: 'p', target: [to(`Patient/${id}`)], agent: [{ who: { display: 'x' } }] },
        ],
        extension: [{ url: 'http://x.example/r', valueReference: to(`Patient/${id}`) }],
        _status: { extension: [{ url: 'http://x.example/r', valueReference: to(`Patient/${id}`) }] },
        note: [{ text: 'x', authorReference: to(`Patient/${id}`) }],
      };
      const answer = await run(entry('POST', 'Observation', body));
      expect(answer.status, answer.text).toBe(200);
      const stored = await read(nameOf(responsesOf(answer)[0]));
      const reference = { reference: `Patient/${id}/_history/1` };
      expect(stored.subject).toEqual({ ...reference, extension: [other] });
      expect(stored).toMatchObject({
        contained: [{ target: [reference] }],
        extension: [{ valueReference: reference }],
        _status: { extension: [{ valueReference: reference }] },
        note: [{ authorReference: reference }],
      });
      expect(JSON.stringify(stored)).not.toContain(URL);
    });

    it('works in XML', async () => {
      const id = word();
      await put(id);
      const xml = `<Bundle xmlns="http://hl7.org/fhir"><type value="transaction"/><entry><resource><Provenance>
        <target><extension url="${URL}"><valueBoolean value="true"/></extension><reference value="Patient/${id}"/></target>
        <agent><who><display value="x"/></who></agent></Provenance></resource>
        <request><method value="POST"/><url value="Provenance"/></request></entry></Bundle>`;
      const answer = await server.send('POST', '', xml, { 'content-type': 'application/fhir+xml' });
      expect(answer.status, answer.text).toBe(200);
      const { target } = await read(nameOf(responsesOf(answer)[0]));
      expect(target).toEqual([{ reference: `Patient/${id}/_history/1` }]);
    });

    it.each([
      ['JSON', (text: string) => jsonPatch({ op: 'replace', path: '/subject', value: to(text) })],
      ['FHIRPath', (text: string) => fhirPathPatch('replace', 'Observation.subject', { valueReference: to(text) })],
      [
        'XML',
        (text: string) =>
          xmlPatch(
            'replace',
            'Observation/subject',
            `<subject><extension url="${URL}"><valueBoolean value="true"/></extension><reference value="${text}"/></subject>`,
          ),
      ],
    ])('works in a %s Patch', async (_name, patchOf) => {
      const id = word();
      await put(id);
      const fullUrl = urn();
      const observed = await server.send('POST', '/Observation', observation('Patient/x'));
      const name = `Observation/${observed.json().id}`;
      for (const [text, version] of [
        [fullUrl, 1],
        [`Patient/${id}`, 1],
      ] as const) {
        const answer = await run(
          entry('PATCH', name, patchOf(text)),
          entry('POST', 'Patient', patient('x'), { fullUrl }),
        );
        expect(answer.status, answer.text).toBe(200);
        const target = text === fullUrl ? nameOf(responsesOf(answer)[1]) : text;
        expect((await read(name)).subject).toEqual({ reference: `${target}/_history/${version}` });
      }
    });

    it('leaves what names a version, another server or a contained resource; the extension goes all the same', async () => {
      const id = word();
      await put(id);
      await put(id, { active: true });
      const texts = [`Patient/${id}/_history/1`, 'http://other.example/fhir/Patient/1', '#p'];
      const targets = await targetsOf(
        entry(
          'POST',
          'Provenance',
          provenance('', {
            target: texts.map((text) => to(text)),
            contained: [{ resourceType: 'Patient', id: 'p' }],
          }),
        ),
      );
      expect(targets).toEqual(texts.map((reference) => ({ reference })));
    });

    it('asks for nothing where its value is false, or outside of a transaction', async () => {
      const id = word();
      await put(id);
      const not = { reference: `Patient/${id}`, extension: [{ ...RESOLVE, valueBoolean: false }] };
      expect(await targetsOf(entry('POST', 'Provenance', provenance('', { target: [not] })))).toEqual([not]);
      const asked = provenance(`Patient/${id}`);
      const answer = await server.send('POST', '', batch(entry('POST', 'Provenance', asked)));
      expect((await read(nameOf(responsesOf(answer)[0]))).target).toEqual(asked.target);
    });

    it('refuses the transaction where there is no version to name', async () => {
      const [never, deleted, going] = [word(), word(), word()];
      await put(deleted);
      await put(going);
      await server.send('DELETE', `/Patient/${deleted}`);
      for (const id of [never, deleted]) {
        const answer = await run(entry('POST', 'Provenance', provenance(`Patient/${id}`)));
        expectRefusal(answer, 404, 'not-found', `Patient/${id}`);
        expect(answer.json().issue[0].expression).toEqual(['Bundle.entry[0].resource.target[0].reference']);
      }
      const answer = await run(
        entry('DELETE', `Patient/${going}`),
        entry('POST', 'Provenance', provenance(`Patient/${going}`)),
      );
      expect(answer.status).toBe(404);
      expect((await server.send('GET', `/Patient/${going}`)).status).toBe(200);
    });
  });
}
