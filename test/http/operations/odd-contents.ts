import { SaxesParser } from 'saxes';
import { beforeAll, describe, expect, it } from 'vitest';

import { OWN as OWN_BASES } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { subset, XML as XML_CODEC } from '../../../runtime/server.js';
import type { Store } from '../../../runtime/store/store.js';
import { createRandom } from '../../contract/random.js';
import { jobsServer } from '../jobs/jobs-server.js';
import { spoil } from '../odd-contents.js';
import { FORM_WORLD } from './forms/form-world.js';

const extract = createExtractor(tables, { own: OWN_BASES });
const XML = { accept: 'application/fhir+xml' };
/** Spoiled versions of each resource. */
const MUTANTS = 2;

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

const get = (path: string, headers = {}): Asked => ({ method: 'GET', path, headers });
const post = (path: string, ...parameter: readonly object[]): Asked => ({
  method: 'POST',
  path,
  body: { resourceType: 'Parameters', ...(parameter.length > 0 && { parameter }) },
});
const patch = (path: string, type: string, body: unknown): Asked => ({
  method: 'PATCH',
  path,
  body,
  headers: { 'content-type': type },
});

const SET_LANGUAGE = {
  resourceType: 'Parameters',
  parameter: [
    {
      name: 'operation',
      part: [
        { name: 'type', valueCode: 'add' },
        { name: 'path', valueString: 'Resource' },
        { name: 'name', valueString: 'language' },
        { name: 'value', valueCode: 'de' },
      ],
    },
  ],
};

/** Whatever may be asked of a resource, its last version the spoiled one. */
function askedOf(type: string, id: string): Asked[] {
  const at = `/${type}/${id}`;
  return [
    ...['', '?_pretty=true', '?_summary=true', '?_summary=data', '?_summary=text', '?_elements=id,text'].map((query) => get(at + query)), // prettier-ignore
    get(at, XML),
    get(`${at}/_history`),
    get(`${at}/_history`, XML),
    get(`/${type}?_id=${id}&_include=*&_revinclude=*`),
    get(`/${type}?_id=${id}&_summary=true`, XML),
    get(`/${type}?_id=${id}&_contained=both`),
    get(`${at}/$diff`),
    get(`${at}/_history/1/$diff`),
    get(`${at}/_history/2/$diff?fromVersion=1`, XML),
    get(`/$diff?from=${type}/good&to=${type}/${id}&includeMeta=true`),
    get(`/$diff?from=${type}/${id}&to=${type}/good`),
    get(`${at}/$meta`),
    get(`${at}/$validate`),
    get(`${at}/$graphql?query={id,meta{tag{code}},text{div},extension{url}}`),
    get(`/$graphql?query={${type}(id:"${id}"){id,language,contained{resourceType}}}`),
    get(`${at}/$reindex-dryrun`),
    post(`${at}/$reindex`),
    post(`${at}/$meta-add`, { name: 'meta', valueMeta: { tag: [{ code: 'x' }] } }),
    post(`${at}/$meta-delete`, { name: 'meta', valueMeta: { tag: [{ code: 'x' }] } }),
    post('/$hfql-execute', { name: 'action', valueCode: 'search' }, { name: 'query', valueString: `select id, meta.lastUpdated, text.div, name.family from ${type}` }), // prettier-ignore
    patch(at, 'application/fhir+json', SET_LANGUAGE),
    patch(at, 'application/json-patch+json', [{ op: 'add', path: '/language', value: 'en' }]),
    patch(at, 'application/xml-patch+xml', `<diff><add sel="${type}"><language value="fr"/></add></diff>`),
    { method: 'POST', path: '/$convert', body: { resourceType: type, id }, headers: XML },
    ...(OWN[type]?.(id) ?? []),
  ];
}

/** What only some types have. */
const OWN: Readonly<Record<string, (id: string) => readonly Asked[]>> = {
  Patient: (id) => [
    get(`/Patient/${id}/$everything`),
    get(`/Patient/${id}/$everything`, XML),
    post('/Patient/$match', { name: 'resource', resource: { resourceType: 'Patient', identifier: [{ value: '1' }], name: [{ family: 'A' }], birthDate: '2000-01-01' } }), // prettier-ignore
    post('/Patient/$merge', { name: 'source-patient', valueReference: { reference: `Patient/${id}` } }, { name: 'target-patient', valueReference: { reference: 'Patient/good' } }, { name: 'preview', valueBoolean: true }), // prettier-ignore
  ],
  Observation: (id) => [
    get(`/Observation/${id}/$graph?graph=good`),
    get('/Observation/$lastn?patient=good&max=5'),
    get('/Observation/$stats?subject=Patient/good&code=x&system=http://x.example&statistic=count&statistic=average'),
  ],
  Encounter: (id) => [get(`/Encounter/${id}/$everything`)],
  EpisodeOfCare: (id) => [get(`/EpisodeOfCare/${id}/$everything`)],
  Group: (id) => [get(`/Group/${id}/$everything`)],
  MedicinalProductDefinition: (id) => [get(`/MedicinalProductDefinition/${id}/$everything`)],
  Composition: (id) => [get(`/Composition/${id}/$document`), get(`/Composition/${id}/$document?persist=true`)],
  DocumentReference: () => [get('/DocumentReference/$docref?patient=good')],
  List: () => [get('/List/$find?patient=good&name=current-problems')],
  GraphDefinition: (id) => [get(`/Observation/good/$graph?graph=${id}`), get(`/Observation?_graph=${id}`)],
  CapabilityStatement: (id) => [
    get(`/CapabilityStatement/${id}/$subset?resource=Patient`),
    get(`/CapabilityStatement/${id}/$implements?client=http://form.example/capabilities`),
    get(`/CapabilityStatement/$conforms?left=http://form.example/capabilities&right=http://form.example/capabilities&mode=server/server`), // prettier-ignore
  ],
  NamingSystem: () => [
    get('/NamingSystem/$preferred-id?id=http://form.example/ids&type=oid'),
    get('/NamingSystem/$translate-id?id=http://form.example/ids&sourceType=uri&targetType=oid'),
  ],
  StructureDefinition: (id) => [
    { ...post(`/StructureDefinition/${id}/$snapshot`) },
    get(`/Patient/good/$validate?profile=http://form.example/profile`),
  ],
  ValueSet: (id) => [
    get(`/ValueSet/${id}/$expand`),
    get(`/ValueSet/${id}/$validate-code?system=http://form.example/codes&code=a`),
    get('/ValueSet/$expand?url=http://form.example/values'),
    get(`/Observation?code:in=ValueSet/${id}`),
  ],
  CodeSystem: (id) => [
    ...['lookup?code=a', 'validate-code?code=a', 'subsumes?codeA=a&codeB=b', 'find-matches?exact=true'].map((rest) => get(`/CodeSystem/${id}/$${rest}`)), // prettier-ignore
    get('/CodeSystem/$lookup?system=http://form.example/codes&code=a'),
    get('/ValueSet/$expand?url=http://form.example/values'),
  ],
  ConceptMap: (id) => [get(`/ConceptMap/${id}/$translate?sourceCode=a&system=http://form.example/codes`)],
};

/**
 * Stored resources that are not as their types have them: an older version of the definitions, or a server without validation, stored
 * them. Whatever is asked, the answer is right, or a refusal that says why; it is no defect.
 */
export function oddContents(store: Store): void {
  tryOddContents(store, MUTANTS, 0);
}

/** @param mutants spoiled resources of each type */
export function tryOddContents(store: Store, mutants: number, seed: number): void {
  const server = jobsServer(store, { allowsExpunge: true, codecs: { xml: XML_CODEC }, subset });
  const write = async (content: Resource, expected: number): Promise<void> => {
    const { resourceType: type, id, meta: _meta, ...rest } = content;
    const head = `${JSON.stringify({ resourceType: type, id }).slice(0, -1)},"meta":{`;
    const members = JSON.stringify(rest).slice(1);
    const body = { head, tail: members === '}' ? '}}' : `},${members}` };
    await store.write([{ type, id: String(id), expected, body, content, entries: extract(content) }]);
  };

  beforeAll(async () => {
    for (const content of FORM_WORLD) await write({ ...content, id: 'good' }, 0);
  });

  describe.each(FORM_WORLD.map((content, n) => [content.resourceType, content, n] as const))(
    '%s',
    (type, content, n) => {
      it('is answered, or refused with a reason', async () => {
        const random = createRandom(seed + n);
        for (let i = 0; i < mutants; i++) {
          const id = `odd${i}`;
          const odd = spoil({ ...content, id }, random);
          if (i % 2 === 0) {
            await write({ ...content, id }, 0);
            await write(odd, 1);
          } else {
            await write(odd, 0);
            await write(spoil({ ...content, id }, random), 1);
          }
          for (const { method, path, body, headers = {} } of askedOf(type, id)) {
            const answer = await server.all.send(method, path, body, headers);
            const message = `${method} ${path} of ${JSON.stringify(odd)}: ${answer.status} ${answer.text.slice(0, 500)}`;
            expect.soft(answer.status < 500 || answer.status === 501, message).toBe(true);
            if (answer.status === 200 && String(answer.headers['content-type']).includes('xml')) {
              expect.soft(() => wellFormed(answer.text), message).not.toThrow();
            }
            if (answer.status >= 400) expect.soft(answer.text, message).toContain('OperationOutcome');
            const [defect] = server.defects.splice(0);
            expect.soft(defect, message).toBeUndefined();
          }
        }
      });
    },
  );

  it('$snapshot of a definition that derives from no URL is refused', async () => {
    const profile = FORM_WORLD.find(({ resourceType }) => resourceType === 'StructureDefinition')!;
    for (const [n, spoiled] of [
      { baseDefinition: 5 },
      { baseDefinition: null },
      { derivation: 'x', snapshot: null },
    ].entries()) {
      await write({ ...profile, ...spoiled, id: `base${n}` } as Resource, 0);
      const answer = await server.all.send('POST', `/StructureDefinition/base${n}/$snapshot`);
      expect(answer.status, answer.text).toBe(n === 2 ? 200 : 422);
    }
    expect(server.defects).toEqual([]);
  });

  it('$diff names the place that a patch cannot tell', async () => {
    await write({ resourceType: 'Patient', id: 'old', active: true, older: 'x' }, 0);
    await write({ resourceType: 'Patient', id: 'old', active: false, name: [{ family: 'A' }] }, 1);
    const answer = await server.all.send('GET', '/Patient/old/$diff');
    expect(answer.status, answer.text).toBe(422);
    const [issue] = answer.json().issue;
    expect(issue.details.coding[0].code).toBe('diff-impossible');
    expect(issue.details.text).toContain('Patient/old/_history/1 has: Patient.older is no element of Patient');
    expect(issue.expression).toEqual(['Patient.older']);
    // What both have makes no difference.
    await write({ resourceType: 'Patient', id: 'both', active: true, older: ['x'], name: 'A' }, 0);
    await write({ resourceType: 'Patient', id: 'both', active: false, older: ['x'], name: 'A' }, 1);
    const reply = await server.all.send('GET', '/Patient/both/$diff');
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json().parameter).toHaveLength(1);
    expect(reply.json().parameter[0].part[1]).toEqual({ name: 'path', valueString: 'Patient.active' });
  });
}

/** @throws Error where it is no XML */
function wellFormed(text: string): void {
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(text).close();
}
