import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { batch, entry, transaction } from '../bundles/bundle-server.js';
import { expectRefusal } from '../write-server.js';
import { observation, useReports } from './support.js';

const XML = { 'content-type': 'application/fhir+xml' };
const TAG = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' };

/** Reported kinds of fault in what is sent, and their siblings, whatever the store. */
export function reportedMessages(store: Store): void {
  const { server, put, find } = useReports(store);

  describe('R03: what is tagged SUBSETTED is refused wherever it is sent', () => {
    it('by $meta-add, in XML, by a conditional create whose criteria match, in a batch, by conditional patch', async () => {
      const whole = { resourceType: 'Patient', id: 'r03', identifier: [{ value: 'r03' }], photo: [{ title: 'p' }] };
      await put(whole);
      const part = (await server.send('GET', '/Patient/r03?_elements=identifier')).json();
      const xml = (
        await server.send('GET', '/Patient/r03?_summary=true', undefined, { accept: 'application/fhir+xml' })
      ).text;
      const meta = { resourceType: 'Parameters', parameter: [{ name: 'meta', valueMeta: { tag: [TAG] } }] };
      const patch = JSON.stringify([{ op: 'add', path: '/meta/tag', value: [TAG] }]);
      for (const answer of [
        await server.send('POST', '/Patient/r03/$meta-add', meta),
        await server.send('PUT', '/Patient/r03', xml, XML),
        await server.send('POST', '/Patient', part, { 'if-none-exist': 'identifier=r03' }),
        await server.send('PATCH', '/Patient?identifier=r03', patch, { 'content-type': 'application/json-patch+json' }),
      ]) {
        expectRefusal(answer, 400, 'resource-subsetted');
      }
      const answers = await server.send('POST', '', batch(entry('PUT', 'Patient/r03', part)));
      expect(answers.json().entry[0].response.status).toMatch(/^400/);
      expect((await server.send('GET', '/Patient/r03')).json()).toMatchObject({ ...whole, meta: { versionId: '1' } });
    });
  });

  describe('R05: processing instructions are dropped', () => {
    it.each([
      ['after the root', (patient: string) => `${patient}<?xml-stylesheet href="a"?>`],
      ['within it', (patient: string) => patient.replace('<active', '<?x y?><active')],
      ['before it, after a byte order mark', (patient: string) => `\ufeff<?xml version="1.0"?><?x?>${patient}`],
    ])('%s', async (_where, change) => {
      const patient = '<Patient xmlns="http://hl7.org/fhir"><active value="true"/></Patient>';
      const answer = await server.send('POST', '/Patient', change(patient), XML);
      expect(answer.status, answer.text).toBe(201);
      const request = '<request><method value="POST"/><url value="Patient"/></request>';
      const bundle = `<Bundle xmlns="http://hl7.org/fhir"><type value="batch"/><entry><resource>${patient}</resource>${request}</entry></Bundle>`;
      expect((await server.send('POST', '', change(bundle), XML)).status).toBe(200);
    });
  });

  it('R07: parameters that are no criteria of a type are ignored without a value, too', async () => {
    await put({ resourceType: 'Patient', id: 'r07' });
    for (const name of ['_query', '_type', '_filter', '_summary', '_sort', 'name', 'name:exact']) {
      expect(await find(`Patient?_id=r07&${name}=`), name).toEqual(['r07']);
    }
    expect((await server.send('GET', '/Patient?nonsense=')).status).toBe(400);
    // A write never ignores a criterion: without it, it would be about other resources.
    expect((await server.send('DELETE', '/Patient?identifier=')).status).toBe(400);
  });

  it('R09: the case of scheme and host does not matter', async () => {
    const shouted = `${server.url.replace('http://127', 'HTTP://127')}/fhir/Patient/r09u`;
    await put({ resourceType: 'Patient', id: 'r09u', name: [{ family: 'Upper' }] });
    await put(observation('r09u', { subject: { reference: shouted } }));
    await put(observation('r09w', { subject: { reference: 'https://Other.Example/fhir/Patient/r09u' } }));
    const both = 'Observation?_id=r09u,r09w';
    expect(await find(`${both}&subject=Patient/r09u`)).toEqual(['r09u']);
    expect(await find(`${both}&subject:Patient.family=upper`)).toEqual(['r09u']);
    expect(await find(`${both}&_include=Observation:subject`, 'include')).toEqual(['r09u']);
    expect(await find(`${both}&subject=http://oTHER.example/fhir/Patient/r09u`)).toEqual(['r09w']);
    expect(await find(`${both}&subject=http://other.example/FHIR/Patient/r09u`)).toEqual([]);
    const answer = await server.send('POST', '', transaction(entry('GET', shouted)));
    expect(answer.status, answer.text).toBe(200);
  });

  it('R12: a fragment after a fullUrl stays, and a urn:uuid or urn:oid may have one', async () => {
    const fullUrl = 'urn:uuid:0b1c8e52-5f0a-4e0e-8a0e-0d3d0a6d8c11';
    const extension = [
      { url: 'http://x.example/e', valueUri: `${fullUrl}#page=2` },
      { url: 'http://x.example/e', valueUrl: 'urn:oid:1.2.3?+a=b' },
      { url: 'http://x.example/e', valueUri: 'urn:uuid:00000001-1111-4222-8333-444444444444#page=3' },
    ];
    const basic = { resourceType: 'Basic', id: 'r12', code: { text: 'x' }, extension };
    const answer = await server.send(
      'POST',
      '',
      transaction(entry('POST', 'Patient', { resourceType: 'Patient' }, { fullUrl }), entry('PUT', 'Basic/r12', basic)),
    );
    expect(answer.status, answer.text).toBe(200);
    const [uri, ...others] = (await server.send('GET', '/Basic/r12')).json().extension;
    expect(uri.valueUri).toMatch(/^Patient\/[0-9a-f-]{36}#page=2$/);
    expect(others).toEqual(extension.slice(1));
  });
}
