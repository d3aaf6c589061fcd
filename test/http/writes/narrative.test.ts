import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { FHIR_JSON, useToyServer } from '../server.js';

const XHTML = 'xmlns="http://www.w3.org/1999/xhtml"';
const FHIR_XML = 'application/fhir+xml';
const xml = {
  read: (bytes: Buffer) => readXml(bytes, tables),
  write: (resource: object, pretty: boolean) => writeXml(resource as Resource, tables, { pretty }),
};
const patient = (id: string, div: string) => ({ resourceType: 'Patient', id, text: { status: 'generated', div } });

describe('narratives that are no XHTML (narrative.html)', () => {
  const server = useToyServer({ validate: createValidator(tables), codecs: { xml } });

  it.each([`<div ${XHTML}>a<br>b</div>`, `<div ${XHTML}>&nbsp;</div>`, 'text', `<div ${XHTML}>\uffff</div>`])(
    '%s: 400 with its place, and nothing is written, whatever the answer was to be',
    async (div) => {
      const answer = await server.send('PUT', '/Patient/bad', patient('bad', div), { accept: FHIR_XML });
      expect([answer.status, answer.text]).toEqual([
        400,
        expect.stringContaining('<expression value="Patient.text.div"/>'),
      ]);
      expect((await server.send('GET', '/Patient/bad')).status).toBe(404);
    },
  );

  it('100 elements deep comes back in XML, and from XML; 101 are refused in both', async () => {
    const nested = (depth: number) => `<div ${XHTML}>${'<p>'.repeat(depth - 1)}${'</p>'.repeat(depth - 1)}</div>`;
    const asXml = (div: string) =>
      `<Patient xmlns="http://hl7.org/fhir"><id value="deep"/><text><status value="generated"/>${div}</text></Patient>`;
    const deep = patient('deep', nested(100));
    expect((await server.send('PUT', '/Patient/deep', deep)).status).toBe(201);
    const read = await server.send('GET', '/Patient/deep', undefined, { accept: FHIR_XML });
    expect([read.status, read.text]).toEqual([200, expect.stringContaining(nested(100))]);
    const back = await server.send('PUT', '/Patient/deep', asXml(nested(100)), { 'content-type': FHIR_XML });
    expect([back.status, back.headers.etag]).toEqual([200, 'W/"1"']);
    expect((await server.send('PUT', '/Patient/deep', patient('deep', nested(101)))).status).toBe(400);
    const deeper = await server.send('PUT', '/Patient/deep', asXml(nested(101)), { 'content-type': FHIR_XML });
    expect(deeper.status).toBe(400);
  });
});

describe('narratives that were stored before they were checked', () => {
  const server = useToyServer({ codecs: { xml } });

  it('do not keep the others of a history page from being read as XML', async () => {
    await server.send('PUT', '/Patient/good', patient('good', `<div ${XHTML}>fine</div>`));
    await server.send('PUT', '/Patient/old', patient('old', `<div ${XHTML}>a<br>b</div>`));
    await server.send(
      'PUT',
      '/Patient/deep',
      patient('deep', `<div ${XHTML}>${'<p>'.repeat(20_000)}${'</p>'.repeat(20_000)}</div>`),
    );
    const page = await server.send('GET', '/_history?_format=xml');
    expect(page.status).toBe(200);
    const bundle = readXml(page.text, tables) as unknown as { entry: { fullUrl: string; resource: Resource }[] };
    expect(bundle.entry.map(({ resource }) => resource.resourceType)).toEqual([
      'OperationOutcome',
      'OperationOutcome',
      'Patient',
    ]);
    expect(bundle.entry[1]?.fullUrl).toMatch(/\/Patient\/old$/);
    expect(bundle.entry[1]?.resource).toMatchObject({
      issue: [{ severity: 'error', expression: ['Bundle.entry[1].resource.text.div'] }],
    });
    expect((await server.send('GET', '/Patient/old', undefined, { accept: FHIR_XML })).status).toBe(406);
    expect((await server.send('GET', '/_history', undefined, { accept: FHIR_JSON })).json().entry[1].resource.id).toBe(
      'old',
    );
  });

  it('a Bundle that a client has stored is given as it is or not at all', async () => {
    const entry = [{ resource: patient('in', '<div>a<br>b</div>'), response: { status: '200' } }];
    const bundle = { resourceType: 'Bundle', id: 'x', type: 'history', entry };
    expect(() => writeXml(bundle as unknown as Resource, tables)).toThrow('cannot be written as XML');
  });
});
