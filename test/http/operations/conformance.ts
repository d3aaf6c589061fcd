import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { scopedServer } from '../auth/scoped.js';
import { batch } from '../bundles/bundle-server.js';
import { expectRefusal } from '../write-server.js';

const XML = 'application/fhir+xml';

/** `$convert`, `$versions`, the operations of CapabilityStatement and of NamingSystem */
export function conformance(store: Store): void {
  const server = scopedServer(store);
  const get = (path: string) => server.all.send('GET', path);
  const put = async (body: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBe(201);
  };

  describe('$validate (resource-operation-validate.html): what a token needs', () => {
    const body = { resourceType: 'Basic', code: { text: 'x' } };
    const send = (scopes: string, query = '') => server.as(scopes).send('POST', `/Basic/$validate${query}`, body);

    it('any letter on the type', async () => {
      for (const letter of 'cruds') expect((await send(`system/Basic.${letter}`)).status).toBe(200);
      expectRefusal(await send('system/Patient.cruds'), 403, 'scope-missing');
    });

    it('the letter of the mode', async () => {
      expectRefusal(await send('system/Basic.rs', '?mode=create'), 403, 'scope-missing');
      expect((await send('system/Basic.c', '?mode=create')).status).toBe(200);
      const update = (scopes: string) => server.as(scopes).send('POST', '/Basic/a/$validate?mode=update', body);
      expectRefusal(await update('system/Basic.rs'), 403, 'scope-missing');
      expect((await update('system/Basic.ru')).status).toBe(200);
      const path = '/Basic/none/$validate?mode=delete';
      expectRefusal(await server.as('system/Basic.r').send('GET', path), 403, 'scope-missing');
      expect((await server.as('system/Basic.rd').send('GET', path)).status).toBe(200);
    });
  });

  it('$validate tries out an update or a deletion of one resource only', async () => {
    const body = { resourceType: 'Basic', id: 'a', code: { text: 'x' } };
    for (const mode of ['update', 'delete']) {
      const answer = await server.all.send('POST', `/Basic/$validate?mode=${mode}`, body);
      expectRefusal(answer, 400, 'parameter-invalid', mode, 'Basic/[id]/$validate');
    }
  });

  it('$validate with a context of use alone has no resource', async () => {
    const code = { system: 'http://terminology.hl7.org/CodeSystem/usage-context-type', code: 'venue' };
    const usageContext = { name: 'usageContext', valueUsageContext: { code, valueCodeableConcept: { text: 'x' } } };
    const send = (path: string, ...more: object[]) =>
      server.all.send('POST', path, { resourceType: 'Parameters', parameter: [usageContext, ...more] });
    expectRefusal(await send('/Basic/$validate'), 400, 'body-missing');
    await server.all.send('PUT', '/Basic/used', { resourceType: 'Basic', id: 'used', code: { text: 'x' } });
    expect((await send('/Basic/used/$validate')).json().issue).toMatchObject([{ severity: 'information' }]);
    const resource = { name: 'resource', resource: { resourceType: 'Basic', code: { text: 'x' } } };
    expect((await send('/Basic/$validate', resource)).json().issue).toMatchObject([{ severity: 'information' }]);
  });

  describe('$convert (resource-operation-convert.html)', () => {
    const json = '{"resourceType":"Observation","status":"final","code":{"text":"x"},"valueQuantity":{"value":1.50}}';

    it('JSON to XML and back, digits kept; any token may', async () => {
      const any = server.as('system/Basic.r');
      const xml = await any.send('POST', '/$convert', json, { 'content-type': 'application/fhir+json', accept: XML });
      expect([xml.status, xml.headers['content-type']]).toEqual([200, expect.stringContaining(XML)]);
      expect(xml.text).toContain('<value value="1.50"/>');
      const back = await any.send('POST', '/$convert', xml.text, { 'content-type': XML });
      expect(back.text).toBe(json);
    });

    it('of a Parameters with a resource that one, otherwise the Parameters', async () => {
      const basic = { resourceType: 'Basic', code: { text: 'x' } };
      for (const name of ['input', 'resource']) {
        const body = { resourceType: 'Parameters', parameter: [{ name, resource: basic }] };
        expect((await server.all.send('POST', '/$convert', body)).json()).toEqual(basic);
      }
      const plain = { resourceType: 'Parameters', parameter: [{ name: 'x', valueString: 'y' }] };
      expect((await server.all.send('POST', '/$convert', plain)).json()).toEqual(plain);
      expectRefusal(await server.all.send('POST', '/$convert'), 400, 'body-missing');
      expect((await server.all.send('POST', '/$convert', { resourceType: 'Patient', nonsense: 1 })).status).toBe(400);
      expectRefusal(await get('/$convert'), 405, 'method-not-allowed');
    });
  });

  it('$versions (capabilitystatement-operation-versions.html)', async () => {
    const answer = await server.as('system/Basic.r').send('GET', '/$versions');
    expect(answer.json().parameter).toEqual([
      { name: 'version', valueCode: '5.0' },
      { name: 'default', valueCode: '5.0' },
    ]);
    expectRefusal(await get('/$versions?x=1'), 400, 'parameter-unknown', '"x"');
  });

  describe('StructureDefinition/$snapshot (structuredefinition-operation-snapshot.html)', () => {
    const at = '/StructureDefinition/$snapshot';
    const definition = {
      resourceType: 'StructureDefinition',
      id: 'strict',
      url: 'http://client.example/strict',
      name: 'Strict',
      status: 'active',
      kind: 'resource',
      abstract: false,
      type: 'Patient',
      baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
      derivation: 'constraint',
      differential: { element: [{ id: 'Patient.birthDate', path: 'Patient.birthDate', min: 1 }] },
    };
    const derived = { ...definition, id: 'stricter', url: `${definition.url}er`, baseDefinition: definition.url };
    const parameters = (resource: object) => ({
      resourceType: 'Parameters',
      parameter: [{ name: 'definition', resource }],
    });
    const minimum = (body: ReturnType<Awaited<ReturnType<typeof get>>['json']>): unknown =>
      body.snapshot.element.find(({ path }: { path: string }) => path === 'Patient.birthDate').min;

    beforeAll(() => put(definition));

    it('of a definition that is sent, stored, or named by its canonical', async () => {
      const answers = [
        await server.all.send('POST', at, parameters(definition)),
        await server.all.send('POST', '/StructureDefinition/strict/$snapshot'),
        // Of an instance the parameters of the type are ignored.
        await server.all.send(
          'POST',
          '/StructureDefinition/strict/$snapshot',
          parameters({ ...definition, differential: undefined }),
        ),
        await server.all.send('POST', at, {
          resourceType: 'Parameters',
          parameter: [{ name: 'url', valueString: definition.url }],
        }),
        await server.all.send('POST', at, parameters(derived)),
      ];
      for (const answer of answers) {
        expect(answer.status, answer.text).toBe(200);
        expect(minimum(answer.json())).toBe(1);
        expect(answer.json().snapshot.element.length).toBeGreaterThan(40);
      }
    });

    it('says what is missing or wrong', async () => {
      const unknown = { ...definition, baseDefinition: 'http://client.example/nowhere' };
      expectRefusal(
        await server.all.send('POST', at, parameters(unknown)),
        422,
        'snapshot-impossible',
        'http://client.example/nowhere',
      );
      const wrong = { ...definition, differential: { element: [{ path: 'Patient.nonsense' }] } };
      expectRefusal(
        await server.all.send('POST', at, parameters(wrong)),
        422,
        'snapshot-impossible',
        'Patient.nonsense',
      );
      expectRefusal(await server.all.send('POST', at, { resourceType: 'Parameters' }), 400, 'parameter-invalid');
    });

    it.each([
      [
        'a pattern of another type',
        { path: 'Patient.birthDate', patternCode: 'x' },
        'has patternCode; it is of type date',
      ],
      [
        'a type that the base has not',
        { path: 'Patient.deceased[x]', type: [{ code: 'Period' }] },
        'is of type Period',
      ],
      ['slices of the whole', { path: 'Patient', slicing: { rules: 'open' } }, 'slices Patient itself'],
      ['a choice that is of several types', { path: 'Patient.multipleBirth[x].x', min: 1 }, 'it may be of 2 types'],
    ])('refuses %s with the reason', async (_what, element, reason) => {
      const wrong = { ...definition, differential: { element: [element] } };
      expectRefusal(await server.all.send('POST', at, parameters(wrong)), 422, 'snapshot-impossible', reason);
    });

    it('of a logical model has the elements of the base, then its own', async () => {
      const url = 'http://client.example/Model';
      const model = {
        ...{ ...definition, url, id: 'model', kind: 'logical', type: url, derivation: 'specialization' },
        baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Element',
        differential: {
          element: [
            { id: 'Model', path: 'Model', min: 0, max: '*' },
            { id: 'Model.part', path: 'Model.part', min: 0, max: '*', type: [{ code: 'BackboneElement' }] },
            { id: 'Model.part.a', path: 'Model.part.a', min: 1, max: '1', type: [{ code: 'string' }] },
          ],
        },
      };
      const answer = await server.all.send('POST', at, parameters(model));
      const own = ['part', 'part.id', 'part.extension', 'part.modifierExtension', 'part.a'];
      expect(answer.json().snapshot.element.map(({ path }: { path: string }) => path)).toEqual(
        ['', '.id', '.extension', ...own.map((each) => `.${each}`)].map((each) => `Model${each}`),
      );
    });

    it('reads no stored definition that the token does not reach', async () => {
      const few = server.as('system/StructureDefinition.rs?status=draft');
      expectRefusal(await few.send('POST', at, parameters(derived)), 422, 'snapshot-impossible', definition.url);
      expect((await server.as('system/Patient.rs').send('POST', at, parameters(definition))).status).toBe(403);
    });
  });

  describe('CapabilityStatement', () => {
    const url = 'http://client.example/wants';
    const statement = {
      resourceType: 'CapabilityStatement',
      id: 'wants',
      url,
      version: '1',
      status: 'active',
      date: '2024-01-01',
      kind: 'requirements',
      fhirVersion: '5.0.0',
      format: ['json', 'turtle'],
      rest: [
        {
          mode: 'client',
          resource: [
            { type: 'Patient', interaction: [{ code: 'read' }], searchParam: [{ name: 'birthdate', type: 'date' }] },
            { type: 'Basic', searchParam: [{ name: 'nonsense', type: 'string' }] },
          ],
        },
      ],
    };
    beforeAll(() => put(statement));

    it('$subset: the types asked for, of this server and of a stored statement', async () => {
      const own = (await get('/CapabilityStatement/$subset?resource=Patient&resource=Basic')).json();
      expect(own.rest[0].resource.map(({ type }: { type: string }) => type)).toEqual(['Basic', 'Patient']);
      const stored = (await get('/CapabilityStatement/wants/$subset?resource=Basic')).json();
      expect(stored.rest[0].resource.map(({ type }: { type: string }) => type)).toEqual(['Basic']);
      const named = (await get(`/CapabilityStatement/$subset?resource=Patient&server=${url}|1`)).json();
      expect(named.url).toBe(url);
      const own2 = (await get(`/CapabilityStatement/$subset?resource=Patient&server=${own.url}`)).json();
      expect(own2.url).toBe(own.url);
      for (const part of [own, stored, named]) {
        expect(part.meta.tag).toContainEqual(expect.objectContaining({ code: 'SUBSETTED' }));
      }
      expectRefusal(await get('/CapabilityStatement/$subset'), 400, 'parameter-invalid', 'resource');
      expectRefusal(await get('/CapabilityStatement/none/$subset?resource=Basic'), 404, 'not-found');
      const unknown = await get('/CapabilityStatement/$subset?resource=Patient&server=http://nobody.example');
      expectRefusal(unknown, 404, 'not-found', 'nobody.example');
    });

    it('$implements: an error for each thing that a client wants and the server lacks', async () => {
      const answer = await get(`/CapabilityStatement/$implements?client=${url}`);
      expect(answer.status).toBe(422);
      expect(answer.json()).toMatchObject({
        resourceType: 'OperationOutcome',
        issue: [{ severity: 'error', expression: ['CapabilityStatement.rest[0].resource[1].searchParam[0]'] }],
      });
      const implement = async (resource: object) => {
        const { id: _id, ...rest } = statement;
        const body = { ...rest, format: ['json'], rest: [{ mode: 'client', resource: [resource] }] };
        const { status, json } = await server.all.send('POST', '/CapabilityStatement/$implements', body);
        const { issue } = json() as { issue: { severity: string; expression?: string[] }[] };
        return [status, ...issue.flatMap(({ severity, expression = [] }) => [severity, ...expression])];
      };
      expect(await implement({ type: 'Basic' })).toEqual([200, 'information']);
      const at = 'CapabilityStatement.rest[0].resource[0]';
      const flags = { updateCreate: true, conditionalCreate: true, conditionalRead: 'modified-since' };
      expect(await implement({ type: 'Basic', ...flags, conditionalDelete: 'single' })).toEqual([200, 'information']);
      expect(await implement({ type: 'Basic', conditionalDelete: 'multiple', conditionalPatch: false })).toEqual([
        ...[422, 'error', `${at}.conditionalDelete`],
      ]);
      const canonical = (path: string) => `http://hl7.org/fhir/${path}`;
      const search = (id: string) => [
        { name: 'birthdate', type: 'date', definition: canonical(`SearchParameter/${id}`) },
      ];
      const birth = (id: string) => implement({ type: 'Patient', searchParam: search(id) });
      expect(await birth('individual-birthdate|5.0.0')).toEqual([200, 'information']);
      expect(await birth('other')).toEqual([422, 'error', `${at}.searchParam[0]`]);
      const operation = (id: string) => [{ name: 'everything', definition: canonical(`OperationDefinition/${id}`) }];
      expect(await implement({ type: 'Patient', operation: operation('Patient-everything') })).toEqual([
        200,
        'information',
      ]);
      expect(await implement({ type: 'Patient', operation: operation('x') })).toEqual([
        422,
        'error',
        `${at}.operation[0]`,
      ]);
      expectRefusal(await get('/CapabilityStatement/$implements'), 400, 'parameter-invalid', 'client', 'resource');
      expect((await server.as('system/Patient.r').send('GET', '/CapabilityStatement/$implements')).status).toBe(403);
      const entry = { request: { method: 'GET', url: `CapabilityStatement/$implements?client=${url}` } };
      const { response } = (await server.all.send('POST', '/', batch(entry))).json().entry[0];
      expect(response.status.slice(0, 3)).toBe('422');
    });

    it('$conforms: compares two, and gives what both and what any of them has', async () => {
      const { parameter } = (await get(`/CapabilityStatement/$conforms?left=${url}&mode=client/server`)).json();
      expect(parameter.map(({ name }: { name: string }) => name)).toEqual(['issues', 'union', 'intersection']);
      const [issues, union, intersection] = parameter.map(({ resource }: { resource: object }) => resource);
      expect(issues.issue).toHaveLength(2);
      expect(union.rest[0].resource.length).toBeGreaterThan(100);
      expect(intersection.format).toEqual(['json']);
      expectRefusal(await get('/CapabilityStatement/$conforms?mode=x'), 400, 'parameter-invalid', 'server/server');
    });
  });

  describe('NamingSystem', () => {
    const oid = '2.16.840.1.113883.6.96';
    const uri = 'http://snomed.example/sct';
    beforeAll(() =>
      put({
        ...{ resourceType: 'NamingSystem', id: 'sct', name: 'SCT', status: 'active', kind: 'codesystem', date: '2024' },
        uniqueId: [
          { type: 'oid', value: oid },
          { type: 'uri', value: `${uri}/old`, period: { end: '2010-01-01' } },
          { type: 'uri', value: uri, preferred: true, period: { start: '2010-01-02' } },
        ],
      }),
    );

    it('$preferred-id: the identifier of another type', async () => {
      const result = async (query: string) =>
        (await get(`/NamingSystem/$preferred-id?id=${oid}&${query}`)).json().parameter?.[0];
      expect(await result('type=uri')).toEqual({ name: 'result', valueString: uri });
      expect(await result('type=uri&date=2005')).toEqual({ name: 'result', valueString: `${uri}/old` });
      expectRefusal(await get(`/NamingSystem/$preferred-id?id=${oid}&type=uuid`), 404, 'not-found');
      expectRefusal(await get('/NamingSystem/$preferred-id?id=9.9&type=uri'), 404, 'not-found');
      expectRefusal(await get('/NamingSystem/$preferred-id?type=uri'), 400, 'parameter-invalid', '"id"');
      expect((await server.as('system/Patient.s').send('GET', '/NamingSystem/$preferred-id')).status).toBe(403);
    });

    it('$preferred-id: OIDs and UUIDs as URIs, as of now, and of one naming system only', async () => {
      const named = { resourceType: 'NamingSystem', status: 'active', kind: 'identifier', date: '2024' };
      const uuid = '0b2f1a2c-7c1e-4e5b-9a6e-0d8c2f7a1b3d';
      const uniqueId = (...list: [string, string, object?][]) =>
        list.map(([type, value, more = {}]) => ({ type, value, ...more }));
      const shared = ['v2csmnemonic', 'SHARED'] as [string, string];
      await put({ ...named, id: 'n1', name: 'N1', uniqueId: uniqueId(['oid', 'urn:oid:1.2.3.4'], shared, ['uri', 'http://one.example'], ['uri', 'http://two.example']) }); // prettier-ignore
      await put({
        ...named,
        id: 'n2',
        name: 'N2',
        uniqueId: uniqueId(['uri', `urn:uuid:${uuid}`], shared, ['oid', '1.2.5']),
      });
      const results = async (query: string) =>
        ((await get(`/NamingSystem/$preferred-id?${query}`)).json().parameter ?? []).map(
          ({ valueString }: { valueString: string }) => valueString,
        );
      for (const id of [`urn:oid:${oid}`, oid, `${uri}/old`]) expect(await results(`id=${id}&type=uri`)).toEqual([uri]);
      for (const id of ['1.2.3.4', 'urn:oid:1.2.3.4', 'http://one.example']) {
        expect(await results(`id=${id}&type=oid`)).toEqual(['1.2.3.4']);
      }
      for (const id of [uuid, `urn:uuid:${uuid}`]) expect(await results(`id=${id}&type=oid`)).toEqual(['1.2.5']);
      expect(await results('id=1.2.3.4&type=uri')).toEqual(['http://one.example', 'http://two.example']);
      const both = await get('/NamingSystem/$preferred-id?id=SHARED&type=oid');
      expectRefusal(both, 400, 'parameter-invalid', 'Several naming systems', 'SHARED');
      const translated = await get('/NamingSystem/$translate-id?id=SHARED&sourceType=v2csmnemonic&targetType=oid');
      expectRefusal(translated, 400, 'parameter-invalid', 'Several naming systems');
      const path = '/NamingSystem/$translate-id?sourceType=uri&targetType=oid&id=urn:oid:1.2.3.4';
      expect((await get(path)).json().parameter[1]).toEqual({ name: 'targetIdentifier', valueString: '1.2.3.4' });
    });

    it('$translate-id: all identifiers of the type; unknown ones are false', async () => {
      const path = `/NamingSystem/$translate-id?sourceType=oid&targetType=uri`;
      const { parameter } = (await get(`${path}&id=${oid}`)).json();
      expect(parameter[0]).toEqual({ name: 'result', valueBoolean: true });
      expect(parameter[1]).toEqual({ name: 'targetIdentifier', valueString: uri });
      const preferred = (await get(`${path}&id=${oid}&preferredOnly=true`)).json().parameter;
      expect(preferred.filter(({ name }: { name: string }) => name === 'targetIdentifier')).toHaveLength(1);
      expect((await get(`${path}&id=9.9`)).json().parameter).toEqual([{ name: 'result', valueBoolean: false }]);
      const entry = { request: { method: 'GET', url: `${path.slice(1)}&id=${oid}` } };
      expect((await server.all.send('POST', '/', batch(entry))).json().entry[0].resource.parameter).toEqual(parameter);
    });
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
