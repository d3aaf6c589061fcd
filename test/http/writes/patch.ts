import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { FHIR_JSON, type Answer } from '../server.js';
import { expectRefusal, patient, useWriteServer, word } from '../write-server.js';

const JSON_PATCH = 'application/json-patch+json';
const XML_PATCH = 'application/xml-patch+xml';
const FHIR_XML = 'application/fhir+xml';

/** A FHIRPath Patch with one operation: parts by name, each with its value under the key of its type. */
const fhirPath = (...operations: readonly Record<string, object>[]) => ({
  resourceType: 'Parameters',
  parameter: operations.map((parts) => ({
    name: 'operation',
    part: Object.entries(parts).map(([name, value]) => ({ name, ...value })),
  })),
});

/** Patches of resources, whatever the store. */
export function patches(data: Store): void {
  const server = useWriteServer(data);
  const patch = (path: string, body: unknown, type = JSON_PATCH, headers: Record<string, string> = {}) =>
    server.send('PATCH', path, typeof body === 'string' ? body : JSON.stringify(body), {
      'content-type': type,
      ...headers,
    });
  /** A Patient of its own. @returns its id */
  const make = async (more: object = {}): Promise<string> => {
    const id = `p-${word()}`;
    const answer = await server.send('PUT', `/Patient/${id}`, patient(id, { id, ...more }));
    expect(answer.status, answer.text).toBe(201);
    return id;
  };
  const read = async (id: string) => (await server.send('GET', `/Patient/${id}`)).json();

  /** The same change in every format: the gender becomes another one. */
  const formats: [string, string, string][] = [
    ['JSON Patch', JSON_PATCH, JSON.stringify([{ op: 'add', path: '/gender', value: 'female' }])],
    [
      'JSON Patch, as JSON alone',
      'application/json',
      JSON.stringify([{ op: 'add', path: '/gender', value: 'female' }]),
    ],
    [
      'XML Patch',
      XML_PATCH,
      '<diff xmlns="http://hl7.org/fhir"><replace sel="Patient/gender/@value">female</replace></diff>',
    ],
    [
      'FHIRPath Patch in JSON',
      FHIR_JSON,
      JSON.stringify(
        fhirPath({
          type: { valueCode: 'replace' },
          path: { valueString: 'Patient.gender' },
          value: { valueCode: 'female' },
        }),
      ),
    ],
    [
      'FHIRPath Patch in XML',
      FHIR_XML,
      `<Parameters xmlns="http://hl7.org/fhir"><parameter><name value="operation"/>
        <part><name value="type"/><valueCode value="replace"/></part>
        <part><name value="path"/><valueString value="Patient.gender"/></part>
        <part><name value="value"/><valueCode value="female"/></part></parameter></Parameters>`,
    ],
  ];

  describe.each(formats)('%s (http.html#patch)', (_name, type, body) => {
    it('changes what it names, as a new version', async () => {
      const id = await make({ gender: 'male', multipleBirthInteger: 2 });
      const answer = await patch(`/Patient/${id}`, body, type);
      expect([answer.status, answer.headers.etag, answer.headers.location], answer.text).toEqual([
        200,
        'W/"2"',
        `${server.url}/fhir/Patient/${id}/_history/2`,
      ]);
      expect(answer.json()).toMatchObject({ id, gender: 'female', multipleBirthInteger: 2, meta: { versionId: '2' } });
      expect(await read(id)).toEqual(answer.json());
      const found = await server.send('GET', `/Patient?_id=${id}&gender=female`);
      expect(found.json().entry).toHaveLength(1);
    });

    it('keeps the version where it changes nothing', async () => {
      const id = await make({ gender: 'female', birthDate: '1990-01', contact: [{ gender: 'male' }] });
      const before = await read(id);
      const answer = await patch(`/Patient/${id}`, body, type);
      expect([answer.status, answer.headers.etag], answer.text).toEqual([200, 'W/"1"']);
      expect(answer.json()).toEqual(before);
    });

    it('is 404 of what never was, 410 of what is deleted', async () => {
      const gone = await make();
      await server.send('DELETE', `/Patient/${gone}`);
      expectRefusal(await patch(`/Patient/${word()}`, body, type), 404, 'not-found');
      expectRefusal(await patch(`/Patient/${gone}`, body, type), 410, 'deleted');
    });

    it('is 412 where If-Match names another version, or nothing is there', async () => {
      const id = await make({ gender: 'male' });
      const match = (version: string) => ({ 'if-match': version });
      expectRefusal(await patch(`/Patient/${id}`, body, type, match('W/"2"')), 412, 'precondition-failed', 'W/"1"');
      expectRefusal(await patch(`/Patient/${word()}`, body, type, match('W/"2"')), 412, 'precondition-failed');
      expect((await patch(`/Patient/${id}`, body, type, match('"1"'))).status).toBe(200);
      expect((await patch(`/Patient/${id}`, body, type, match('W/"1", W/"2"'))).headers.etag).toBe('W/"2"');
    });

    it('by criteria changes the one that is found', async () => {
      const id = await make({ gender: 'male' });
      const answer = await patch(`/Patient?identifier=urn:test|${id}`, body, type);
      expect([answer.status, answer.headers.etag], answer.text).toEqual([200, 'W/"2"']);
      expect((await read(id)).gender).toBe('female');
      const again = await patch(`/Patient?identifier=urn:test|${id}`, body, type, { prefer: 'return=minimal' });
      expect([again.status, again.text]).toEqual([200, '']);
      for (const { headers } of [answer, again]) {
        expect(headers['content-location']).toBe(`${server.url}/fhir/Patient/${id}/_history/2`);
      }
      expectRefusal(await patch(`/Patient?identifier=urn:test|${id}x`, body, type), 404, 'not-found', 'identifier=');
      await server.send('POST', '/Patient', patient(id));
      expectRefusal(
        await patch(`/Patient?identifier=urn:test|${id}`, body, type),
        412,
        'precondition-failed',
        'Several',
      );
      const unmet = await patch(`/Patient?_id=${id}`, body, type, { 'if-match': 'W/"1"' });
      expectRefusal(unmet, 412, 'precondition-failed', 'W/"2"');
    });

    it('honours Prefer', async () => {
      const id = await make({ gender: 'male' });
      const minimal = await patch(`/Patient/${id}`, body, type, { prefer: 'return=minimal' });
      expect([minimal.status, minimal.text, minimal.headers.etag]).toEqual([200, '', 'W/"2"']);
      const outcome = await patch(`/Patient/${id}`, body, type, { prefer: 'return=OperationOutcome' });
      expect(outcome.json().issue[0].details.text).toBe(`Patient/${id} unchanged, version 2`);
    });
  });

  describe('what a patch makes', () => {
    it('may not be another resource, another version, or of another time', async () => {
      const id = await make({ active: true });
      const { meta } = await read(id);
      const set = (path: string, value: unknown) => patch(`/Patient/${id}`, [{ op: 'replace', path, value }]);
      for (const [path, value] of [
        ['/id', 'other'],
        ['/resourceType', 'Person'],
        ['/meta/versionId', '7'],
        ['/meta/lastUpdated', '2020-01-01T00:00:00Z'],
      ] as const) {
        expectRefusal(await set(path, value), 400, 'patch-identity', path.slice(1).replace('/', '.'));
      }
      expectRefusal(await patch(`/Patient/${id}`, [{ op: 'remove', path: '/id' }]), 400, 'patch-identity', 'id');
      expectRefusal(await set('', [1]), 400, 'not-a-resource');
      const same = await patch(`/Patient/${id}`, [
        { op: 'replace', path: '/id', value: id },
        { op: 'replace', path: '/meta', value: meta },
        { op: 'replace', path: '/meta/versionId', value: '1' },
      ]);
      expect([same.status, same.headers.etag], same.text).toEqual([200, 'W/"1"']);
      expect((await patch(`/Patient/${id}`, [{ op: 'remove', path: '/meta' }])).headers.etag).toBe('W/"1"');
    });

    it('is validated as an update is', async () => {
      const id = await make({ birthDate: '1990-01-01' });
      const faults: [object, string][] = [
        [{ op: 'add', path: '/nonsense', value: 1 }, 'Patient.nonsense'],
        [{ op: 'replace', path: '/birthDate', value: 'yesterday' }, 'Patient.birthDate'],
        [{ op: 'add', path: '/name', value: { family: 'x' } }, 'Patient.name'],
        [{ op: 'add', path: '/gender', value: null }, 'Patient.gender'],
      ];
      for (const [operation, expression] of faults) {
        const answer = await patch(`/Patient/${id}`, [operation]);
        expect([answer.status, answer.json().issue[0].expression], answer.text).toEqual([400, [expression]]);
      }
      expect((await read(id)).meta.versionId).toBe('1');
    });

    it('of an XML Patch is told of without places in a text that nobody has sent', async () => {
      const id = await make();
      const add = '<diff xmlns="http://hl7.org/fhir"><add sel="Patient"><nonsense value="1"/></add></diff>';
      const answer = await patch(`/Patient/${id}`, add, XML_PATCH);
      expectRefusal(answer, 400, 'structure', 'What the patch makes: Patient has no element "nonsense"');
      expect(answer.json().issue[0].expression).toEqual(['Patient.nonsense']);
    });

    it('loses the tags and security labels that it takes away, and keeps the others', async () => {
      const [a, b] = [
        { system: 'urn:t', code: 'a' },
        { system: 'urn:t', code: 'b' },
      ];
      const id = await make({ meta: { tag: [a, b], security: [a] } });
      const one = await patch(`/Patient/${id}`, [{ op: 'remove', path: '/meta/tag/0' }]);
      expect(one.json().meta).toMatchObject({ versionId: '2', tag: [b], security: [a] });
      const none = await patch(`/Patient/${id}`, [{ op: 'remove', path: '/meta' }]);
      expect(Object.keys(none.json().meta)).toEqual(['versionId', 'lastUpdated']);
    });

    it('keeps the text of numbers', async () => {
      const id = `o-${word()}`;
      const body = `{"resourceType":"Observation","id":"${id}","status":"final","code":{"text":"x"},
        "valueQuantity":{"value":1.500},"component":[{"code":{"text":"y"},"valueQuantity":{"value":1e2}}]}`;
      await server.send('PUT', `/Observation/${id}`, body);
      const answer = await patch(
        `/Observation/${id}`,
        '[{"op":"test","path":"/valueQuantity/value","value":1.500},{"op":"replace","path":"/valueQuantity/value","value":2.00}]',
      );
      expect(answer.text).toContain('"value":2.00}');
      expect(answer.text).toContain('"value":1e2}');
      const xml = `<diff xmlns="http://hl7.org/fhir"><replace sel="Observation/status/@value">amended</replace></diff>`;
      const second = await patch(`/Observation/${id}`, xml, XML_PATCH);
      expect(second.text).toContain('"value":2.00}');
      expect(second.json().status).toBe('amended');
    });

    it('of many at once is made of all of them, in a chain of versions', async () => {
      const id = await make();
      const add = (i: number): Promise<Answer> =>
        patch(`/Patient/${id}`, [{ op: 'add', path: '/identifier/-', value: { value: `${i}` } }]);
      const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => add(i)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      const { identifier, meta } = await read(id);
      expect([identifier.length, meta.versionId]).toEqual([31, '31']);
    }, 60_000);
  });

  describe('a patch that does not go', () => {
    const refusals: [string, string, string, number, string, string][] = [
      ['a JSON Patch that is no list', JSON_PATCH, '{}', 400, 'patch-invalid', ''],
      ['a JSON Patch that is no JSON', JSON_PATCH, '[', 400, 'json-syntax', ''],
      ['an unknown operation', JSON_PATCH, '[{"op":"frob","path":"/a"}]', 400, 'patch-invalid', '0'],
      ['a path that leads nowhere', JSON_PATCH, '[{"op":"remove","path":"/photo/3"}]', 400, 'patch-target', '/photo/3'],
      [
        'a test that fails',
        JSON_PATCH,
        '[{"op":"test","path":"/active","value":false}]',
        422,
        'patch-test-failed',
        '/active',
      ],
      [
        'a test of what is absent, which was 400',
        JSON_PATCH,
        '[{"op":"test","path":"/photo/3","value":1}]',
        422,
        'patch-test-failed',
        '/photo/3',
      ],
      ['an XML Patch that is no XML', XML_PATCH, '<diff', 400, 'xml-syntax', ''],
      ['an XML Patch of another root', XML_PATCH, '<other/>', 400, 'invalid-diff-format', '<diff>'],
      [
        'a selector that finds nothing',
        XML_PATCH,
        '<diff xmlns="http://hl7.org/fhir"><remove sel="Patient/photo"/></diff>',
        400,
        'unlocated-node',
        '',
      ],
      ['another resource than Parameters', FHIR_JSON, '{"resourceType":"Patient"}', 400, 'type-mismatch', 'Parameters'],
      ['a list as a resource', FHIR_JSON, '[]', 400, 'not-a-resource', JSON_PATCH],
      [
        'Parameters without a path',
        FHIR_JSON,
        JSON.stringify(fhirPath({ type: { valueCode: 'delete' } })),
        400,
        'patch-invalid',
        '',
      ],
      [
        'Parameters with a property that they do not have',
        FHIR_JSON,
        '{"resourceType":"Parameters","params":[]}',
        400,
        'unknown-property',
        'has no property "params"',
      ],
      [
        'a value of a misspelt type',
        FHIR_JSON,
        JSON.stringify(
          fhirPath({
            type: { valueCode: 'replace' },
            path: { valueString: 'Patient.gender' },
            value: { valueCodee: 'x' },
          }),
        ),
        400,
        'unknown-property',
        '"valueCodee"',
      ],
      [
        'an Extension as the value of a parameter',
        FHIR_JSON,
        JSON.stringify(
          fhirPath({
            type: { valueCode: 'add' },
            path: { valueString: 'Patient' },
            name: { valueString: 'extension' },
            value: { valueExtension: { url: 'urn:x', valueString: 'x' } },
          }),
        ),
        400,
        'unknown-property',
        'valueExtension: a value that is an Extension is given by parts named url and value',
      ],
      [
        'a FHIRPath that finds nothing to replace',
        FHIR_JSON,
        JSON.stringify(
          fhirPath({
            type: { valueCode: 'replace' },
            path: { valueString: 'Patient.photo' },
            value: { valueCode: 'x' },
          }),
        ),
        400,
        'patch-target',
        '',
      ],
    ];

    it.each(refusals)('%s is refused, and changes nothing', async (_name, type, body, status, code, text) => {
      const id = await make({ active: true });
      expectRefusal(await patch(`/Patient/${id}`, body, type), status, code, text);
      expect((await read(id)).meta.versionId).toBe('1');
    });

    it('makes a list that the resource lacks, and drops one that loses its last item', async () => {
      const id = await make({ photo: [{ title: 'p' }] });
      const operations = [
        { op: 'add', path: '/address/-', value: { city: 'x' } },
        { op: 'add', path: '/address/-', value: { city: 'y' } },
        { op: 'remove', path: '/photo/0' },
      ];
      const { address, photo } = (await patch(`/Patient/${id}`, operations)).json();
      expect([address, photo]).toEqual([[{ city: 'x' }, { city: 'y' }], undefined]);
    });

    it('that leaves an object without content is refused, with what it makes', async () => {
      const id = await make({ name: [{ given: ['a'] }] });
      const answer = await patch(`/Patient/${id}`, [{ op: 'remove', path: '/name/0/given/0' }]);
      expect(answer.status).toBe(400);
      expect(answer.json().issue[0].details.text).toContain('What the patch makes: Patient.name[0]');
    });

    it('is refused whole, where one of its operations is', async () => {
      const id = await make({ active: true });
      const operations = [
        { op: 'replace', path: '/active', value: false },
        { op: 'remove', path: '/photo' },
      ];
      expectRefusal(await patch(`/Patient/${id}`, operations), 400, 'patch-target', '1');
      expect((await read(id)).active).toBe(true);
    });

    it.each([
      ['JSON that is no list', 'application/json', '{"resourceType":"Parameters"}', JSON_PATCH],
      ['XML that may be either', 'application/xml', '<diff/>', XML_PATCH],
      ['plain text', 'text/plain', 'x', JSON_PATCH],
      ['a merge patch', 'application/merge-patch+json', '{}', FHIR_JSON],
      ['another charset', `${JSON_PATCH}; charset=latin1`, '[]', 'UTF-8'],
      ['another release', `${FHIR_JSON}; fhirVersion=4.0`, '{}', '5.0'],
      ['a JSON Patch of another release', `${JSON_PATCH}; fhirVersion=4.0`, '[]', '5.0'],
      ['an XML Patch of another release', `${XML_PATCH}; charset=utf-8; fhirVersion=4.3`, '<diff/>', '5.0'],
    ])('%s is 415', async (_name, type, body, text) => {
      const id = await make();
      expectRefusal(await patch(`/Patient/${id}`, body, type), 415, 'unsupported-media-type', text);
    });

    it('a merge patch is told all three forms', async () => {
      const id = await make();
      for (const type of ['application/merge-patch+json', 'application/json']) {
        const answer = await patch(`/Patient/${id}`, '{"active":true}', type);
        expect([type, answer.status]).toEqual([type, 415]);
        for (const form of [JSON_PATCH, XML_PATCH, FHIR_JSON]) {
          expect(answer.headers['accept-patch']).toContain(form);
          expect(answer.json().issue[0].details.text).toContain(form);
        }
      }
    });

    it('may name the release that is served', async () => {
      const id = await make();
      expect((await patch(`/Patient/${id}`, '[]', `${JSON_PATCH}; fhirVersion=5.0`)).status).toBe(200);
    });

    it.each([
      ['no list', '{"resourceType":"Parameters"}'],
      ['no list, but an id', '{"resourceType":"Parameters","id":"x"}'],
      ['an empty list', '{"resourceType":"Parameters","parameter":[]}'],
    ])('changes nothing as a FHIRPath Patch without operations: %s', async (_name, body) => {
      const id = await make();
      for (const path of [`/Patient/${id}`, `/Patient?identifier=urn:test|${id}`]) {
        const answer = await patch(path, body, FHIR_JSON);
        expect([answer.status, answer.headers.etag], answer.text).toEqual([200, 'W/"1"']);
      }
      const misspelt = await patch(`/Patient/${id}`, '{"resourceType":"Parameters","parameters":[]}', FHIR_JSON);
      expectRefusal(misspelt, 400, 'unknown-property', 'parameters');
      const nothing = await patch(`/Patient/${id}`, '[]');
      expect([nothing.status, nothing.headers.etag]).toEqual([200, 'W/"1"']);
    });

    it('is told which types would be right', async () => {
      const id = await make();
      const answer = await patch(`/Patient/${id}`, 'x', 'text/plain');
      expect(answer.headers['accept-patch']).toBe(`${JSON_PATCH}, ${XML_PATCH}, ${FHIR_JSON}, ${FHIR_XML}`);
      const options = await server.send('OPTIONS', `/Patient/${id}`);
      expect(options.headers['accept-patch']).toBe(answer.headers['accept-patch']);
      const statement = (await server.send('GET', '/metadata')).json();
      expect(statement.patchFormat.join(', ')).toBe(answer.headers['accept-patch']);
      expectRefusal(await server.send('PATCH', `/Patient/${id}`), 400, 'body-missing', JSON_PATCH);
      expect((await patch('/Patient/a_b', '[]')).status).toBe(400);
      expect((await patch(`/Patient/${id}?nonsense=1`, '[]')).status).toBe(400);
    });
  });

  describe('a patch of a Binary (binary.html)', () => {
    const bytes = Buffer.from('Hällo, Wörld!');
    const put = async () => {
      const id = `b-${word()}`;
      await server.send('PUT', `/Binary/${id}`, bytes, { 'content-type': 'text/plain' });
      return id;
    };
    const content = async (id: string) => (await server.send('GET', `/Binary/${id}`)).text;

    it('leaves the content alone where it is about something else', async () => {
      const id = await put();
      const answer = await patch(`/Binary/${id}`, [{ op: 'replace', path: '/contentType', value: 'text/html' }]);
      expect([answer.status, answer.headers.etag], answer.text).toEqual([200, 'W/"2"']);
      expect(answer.json()).toEqual({
        resourceType: 'Binary',
        id,
        meta: expect.anything(),
        contentType: 'text/html',
        data: bytes.toString('base64'),
      });
      expect(await content(id)).toBe(bytes.toString());
      expect(answer.text).not.toContain('urn:kiln');
    });

    it('changes the content by "data", and each version keeps its own', async () => {
      const id = await put();
      const other = Buffer.from('other').toString('base64');
      const answer = await patch(`/Binary/${id}`, [
        { op: 'test', path: '/data', value: bytes.toString('base64') },
        { op: 'replace', path: '/data', value: other },
      ]);
      expect([answer.status, answer.json().data], answer.text).toEqual([200, other]);
      expect(await content(id)).toBe('other');
      expect((await server.send('GET', `/Binary/${id}/_history/1`)).text).toBe(bytes.toString());
      const none = await patch(`/Binary/${id}`, [{ op: 'remove', path: '/data' }]);
      expect([none.status, none.json().data]).toEqual([200, undefined]);
      expect(await content(id)).toBe('');
    });

    it('that changes nothing keeps the version, and one that is refused leaves no content behind', async () => {
      const id = await put();
      const count = async () => (await data.blobs.list(`binary/=${id}/`)).length;
      const same = [{ op: 'replace', path: '/data', value: bytes.toString('base64') }];
      expect((await patch(`/Binary/${id}`, same)).headers.etag).toBe('W/"1"');
      const wrong = await patch(`/Binary/${id}`, [{ op: 'replace', path: '/data', value: '?' }]);
      expect(wrong.status).toBe(400);
      expect(await count()).toBe(1);
    });

    it('may not say itself where the content is', async () => {
      const id = await put();
      const extension = [{ url: 'urn:kiln:blob', extension: [{ url: 'name', valueString: 'x' }] }];
      expectRefusal(
        await patch(`/Binary/${id}`, [{ op: 'add', path: '/_data', value: { extension } }]),
        400,
        'structure',
      );
      expect(await content(id)).toBe(bytes.toString());
    });

    it('goes by criteria too, as conditional create and update do', async () => {
      const tag = word();
      const binary = (text: string) => ({
        resourceType: 'Binary',
        contentType: 'text/plain',
        data: Buffer.from(text).toString('base64'),
        meta: { tag: [{ code: tag }] },
      });
      const first = await server.send('PUT', `/Binary?_tag=${tag}`, binary('one'), { accept: FHIR_JSON });
      const { id } = first.json();
      expect(first.status).toBe(201);
      const there = await server.send('POST', '/Binary', binary('two'), {
        'if-none-exist': `_tag=${tag}`,
        accept: FHIR_JSON,
      });
      expect([there.status, there.json().id, there.json().data], there.text).toEqual([200, id, binary('one').data]);
      expect((await server.send('PUT', `/Binary?_tag=${tag}`, binary('three'))).headers.etag).toBe('W/"2"');
      expect(await content(id)).toBe('three');
      const raw = await server.send('PUT', `/Binary?_tag=${tag}`, Buffer.from('four'), {
        'content-type': 'text/plain',
      });
      expect([raw.status, raw.headers.etag, raw.text]).toEqual([200, 'W/"3"', '']);
      expect(raw.headers['content-location']).toBe(`${server.url}/fhir/Binary/${id}/_history/3`);
      expect(await content(id)).toBe('four');
      const patched = await patch(`/Binary?_tag=${tag}`, [{ op: 'add', path: '/language', value: 'en' }]);
      expect([patched.status, patched.headers.etag], patched.text).toEqual([200, 'W/"4"']);
      expect(patched.headers['content-location']).toBe(`${server.url}/fhir/Binary/${id}/_history/4`);
      expect(await content(id)).toBe('four');
      expect(await data.blobs.list(`binary/=${id}/`)).toHaveLength(3);
    });
  });
}
