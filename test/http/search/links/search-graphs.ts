import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, it } from 'vitest';

import { projectRoot } from '../../../../generator/project-root.js';
import type { Store } from '../../../../runtime/store/store.js';
import { DEFAULT_LIMITS } from '../../../../runtime/fhir/limits.js';
import {
  FORM_TYPE,
  idsOf,
  includedIn,
  linkOf,
  notesOf,
  putAll,
  putMany,
  refusalOf,
  useWholeServer,
} from '../../search-server.js';

const to = (reference: string) => ({ reference });
const observation = (id: string, subject: string, more: object = {}) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { text: 'x' },
  subject: to(subject),
  ...more,
});
const list = (id: string, ...items: string[]) => ({
  resourceType: 'List',
  id,
  status: 'current',
  mode: 'working',
  subject: to('Patient/ann'),
  entry: items.map((item) => ({ item: to(item) })),
});

/** A graph whose nodes are named by their types, in small letters. */
const graph = (id: string, start: string, links: readonly (readonly [string, string, object])[], more: object = {}) => {
  const types = [...new Set([start, ...links.flatMap(([source, target]) => [source, target])])];
  return {
    resourceType: 'GraphDefinition',
    id,
    url: `http://example.org/graphs/${id}`,
    name: id,
    status: 'active',
    start: start.toLowerCase(),
    node: types.map((type) => ({ nodeId: type.toLowerCase(), type })),
    link: links.map(([source, target, way]) => ({
      sourceId: source.toLowerCase(),
      targetId: target.toLowerCase(),
      ...way,
    })),
    ...more,
  };
};
const path = (text: string) => ({ path: text });
const params = (text: string) => ({ params: text });
const compartment = (rule: string, code = 'Patient') => ({ compartment: [{ use: 'requires', rule, code }] });

const file = join(projectRoot(), 'test/packages/node_modules/hl7.fhir.r5.examples/GraphDefinition-example.json');
const official = JSON.parse(readFileSync(file, 'utf8')) as { readonly resourceType: string; readonly id: string };

const DATA = [
  { resourceType: 'Practitioner', id: 'gp' },
  { resourceType: 'Practitioner', id: 'other' },
  { resourceType: 'Medication', id: 'm' },
  { resourceType: 'Patient', id: 'ann', generalPractitioner: [to('Practitioner/gp')] },
  {
    resourceType: 'Patient',
    id: 'bob',
    generalPractitioner: [
      to('Practitioner/none'),
      to('Organization/x'),
      to('http://elsewhere/fhir/Practitioner/other'),
    ],
    extension: [{ url: 'http://example.org/nurse', valueReference: to('Practitioner/other/_history/1') }],
  },
  observation('a1', 'Patient/ann', { performer: [to('Practitioner/other')] }),
  observation('a2', 'Patient/ann', { status: 'entered-in-error' }),
  observation('b1', 'Patient/bob', { hasMember: [to('Observation/b2')], valueReference: to('MolecularSequence/s') }),
  observation('b2', 'Patient/bob', { hasMember: [to('Observation/b3')] }),
  observation('b3', 'Patient/bob', { hasMember: [to('Observation/b1')] }),
  { resourceType: 'MolecularSequence', id: 's' },
  {
    resourceType: 'MedicationRequest',
    id: 'r',
    status: 'active',
    intent: 'order',
    subject: to('Patient/ann'),
    medication: { reference: to('Medication/m') },
  },
  list('l', 'Observation/a1', 'Observation/b1', 'Practitioner/gp', 'MedicationRequest/r'),
  list('l2', 'Observation/b2'),
  {
    resourceType: 'Composition',
    id: 'c',
    status: 'final',
    type: { text: 'x' },
    date: '2020',
    title: 'x',
    subject: [to('Patient/ann')],
    section: [{ entry: [to('List/l')] }, { entry: [to('List/l2'), to('Observation/a2')] }],
  },
  official,
  graph('around', 'Patient', [
    ['Patient', 'Observation', params('patient={ref}')],
    ['Patient', 'Practitioner', path('generalPractitioner')],
    ['Observation', 'Practitioner', path('Observation.performer')],
  ]),
  graph('final', 'Patient', [['Patient', 'Observation', params('?patient={ref}&status=final')]]),
  graph('circle', 'Observation', [['Observation', 'Observation', path('Observation.hasMember')]]),
  graph('value', 'Observation', [['Observation', 'MolecularSequence', path('value.ofType(Reference)')]]),
  graph('nurse', 'Patient', [
    ['Patient', 'Practitioner', path("Patient.extension('http://example.org/nurse').value.ofType(Reference)")],
  ]),
  graph('drug', 'MedicationRequest', [['MedicationRequest', 'Medication', path('MedicationRequest.medication')]]),
  graph('some', 'List', [['List', 'Resource', path('List.entry.item.where(resolve() is Practitioner)')]]),
  graph('any', 'Resource', [['Resource', 'Practitioner', path('Patient.generalPractitioner')]]),
  graph('same', 'List', [['List', 'Observation', { ...path('List.entry.item'), ...compartment('matching') }]]),
  graph('apart', 'List', [['List', 'Observation', { ...path('List.entry.item'), ...compartment('different') }]]),
  graph('twice', 'Patient', [['Patient', 'Observation', params('subject={ref}&patient={ref}')]]),
  graph('outside', 'List', [['List', 'Practitioner', params('_in:not={ref}')]]),
  graph('either', 'Patient', [['Patient', 'Observation', params('patient=Patient/bob,{ref}')]]),
  graph('own', 'Patient', [['Patient', 'Observation', { ...params('patient={ref}'), ...compartment('identical') }]]),
  graph('not-own', 'Patient', [
    ['Patient', 'Observation', { ...params('patient={ref}'), ...compartment('different') }],
  ]),
  graph('anywhere', 'Patient', [['Practitioner', 'Resource', path('qualification.issuer')], ['Patient', 'Practitioner', path('generalPractitioner')]], { start: undefined }), // prettier-ignore
  graph('all', 'Observation', [['Observation', 'Resource', path('*')]]),
  graph('from-any', 'Resource', [['Resource', 'Observation', params('patient={ref}')]]),
  graph('member', 'Resource', [['Resource', 'Practitioner', params('_in={ref}')]]),
  graph('if-same', 'List', [
    ['List', 'Observation', { ...path('List.entry.item'), compartment: [{ use: 'where', rule: 'matching', code: 'Patient' }, { use: 'requires', rule: 'different', code: 'Practitioner' }] }], // prettier-ignore
  ]),
  graph('named', 'Patient', [], { url: 'http://example.org/graphs/twice', version: '1' }),
  graph('named-too', 'Patient', [], { url: 'http://example.org/graphs/twice', version: '2' }),
  // Those that cannot be followed.
  graph('resolves', 'Patient', [['Patient', 'Practitioner', path('Patient.generalPractitioner.resolve()')]]),
  graph('dot', 'Patient', [['Patient', 'Practitioner', path('Patient.generalPractitioner.')]]),
  graph('many-ways', 'Patient', [
    ['Patient', 'Practitioner', path(`Patient.${'extension.value.'.repeat(20)}extension.value.ofType(Reference)`)],
  ]),
  graph('wanting', 'Patient', [], { start: undefined, node: undefined }),
  graph('modified', 'Patient', [['Patient', 'Practitioner', path('generalPractitioner')]], {
    modifierExtension: [{ url: 'http://example.org/not', valueBoolean: true }],
  }),
  graph('no-node', 'Patient', [], { start: 'nobody' }),
  graph('no-type', 'Nothing', []),
  graph('doubled', 'Patient', [], {
    node: [
      { nodeId: 'patient', type: 'Patient' },
      { nodeId: 'patient', type: 'List' },
    ],
  }),
  graph('no-way', 'Patient', [['Patient', 'Practitioner', {}]]),
  graph('both', 'Patient', [['Patient', 'Observation', { ...path('link'), ...params('patient={ref}') }]]),
  graph('no-element', 'Patient', [['Patient', 'Practitioner', path('Patient.generalPracticioner')]]),
  graph('elsewhere', 'Patient', [['Patient', 'Practitioner', path('Encounter.subject')]]),
  graph('no-reference', 'Patient', [['Patient', 'Practitioner', path('Patient.name')]]),
  graph('function', 'Patient', [['Patient', 'Practitioner', path('Patient.generalPractitioner.first()')]]),
  graph('no-choice', 'Observation', [['Observation', 'Medication', path('Observation.value.ofType(Patient)')]]),
  graph('no-ref', 'Patient', [['Patient', 'Observation', params('status=final')]]),
  graph('unknown', 'Patient', [['Patient', 'Observation', params('pazient={ref}')]]),
  graph('result', 'Patient', [['Patient', 'Observation', params('patient={ref}&_count=1')]]),
  graph('nested', 'Patient', [['Patient', 'Observation', params('patient={ref}&_include=Observation:performer')]]),
  graph('searches-any', 'Patient', [['Patient', 'Resource', params('_id={ref}')]]),
  graph('slice', 'Patient', [['Patient', 'Practitioner', { ...path('generalPractitioner'), sliceName: 'x' }]]),
  graph('custom', 'Patient', [
    ['Patient', 'Practitioner', { ...path('generalPractitioner'), ...compartment('custom') }],
  ]),
  graph('no-compartment', 'Patient', [
    ['Patient', 'Practitioner', { ...path('generalPractitioner'), ...compartment('identical', 'List') }],
  ]),
  graph('long-path', 'Patient', [['Patient', 'Patient', path(`link.other${' '.repeat(500)}`)]]),
  graph('long-params', 'Patient', [['Patient', 'Patient', params('{ref}'.repeat(401))]]),
  graph(
    'large',
    'Patient',
    Array.from({ length: 201 }, () => ['Patient', 'Patient', path('link.other')] as const),
  ),
];

/** What comes along because of `_graph`, whatever the store. https://hl7.org/fhir/R5/graphdefinition.html */
export function graphSearches(data: Store): void {
  const server = useWholeServer({ store: data });
  const get = (to: string) => server.send('GET', `/${to}`);

  beforeAll(() => putAll(server, DATA as Parameters<typeof putAll>[1]), 60_000);

  it('has no modifiers, and does not go with _summary=text', async () => {
    expect(refusalOf(await get('Patient?_graph:missing=true'))).toContain('400 modifier-unknown');
    const text = '400 parameter-invalid _include, _revinclude and _graph exclude _summary=text';
    expect(refusalOf(await get('Patient?_graph=around&_summary=text'))).toContain(text);
    const lenient = await server.send('GET', '/Patient?_graph=around&_summary=text', undefined, {
      prefer: 'handling=lenient',
    });
    expect([includedIn(lenient), linkOf(lenient, 'self')]).toEqual([[], '/Patient?_summary=text']);
  });

  it.each<[string, string]>([
    [
      'Patient?_graph=around',
      'Observation/a1 Observation/a2 Observation/b1 Observation/b2 Observation/b3 Practitioner/gp Practitioner/other',
    ],
    ['Patient?_graph=around&_id=ann', 'Observation/a1 Observation/a2 Practitioner/gp Practitioner/other'],
    [
      'Patient?_graph=GraphDefinition/around&_id=ann',
      'Observation/a1 Observation/a2 Practitioner/gp Practitioner/other',
    ],
    ['Patient?_graph=http://example.org/graphs/around&_id=bob', 'Observation/b1 Observation/b2 Observation/b3'],
    ['Patient?_graph=http://example.org/graphs/twice|2', ''],
    ['Patient?_graph=final&_id=ann', 'Observation/a1'],
    ['Patient?_graph=final&_id=nobody', ''],
    ['Observation?_graph=circle&_id=b1', 'Observation/b2 Observation/b3'],
    ['Observation?_graph=circle&patient=bob', ''],
    ['Observation?_graph=value', 'MolecularSequence/s'],
    ['Patient?_graph=nurse', 'Practitioner/other'],
    ['MedicationRequest?_graph=drug', 'Medication/m'],
    ['List?_graph=some', 'Practitioner/gp'],
    ['?_type=Patient,List&_graph=any', 'Practitioner/gp'],
    ['?_type=Patient,List&_graph=final', 'Observation/a1 Observation/b1 Observation/b2 Observation/b3'],
    ['Patient/ann/List?_graph=some', 'Practitioner/gp'],
    ['Patient?_graph=twice&_id=bob', 'Observation/b1 Observation/b2 Observation/b3'],
    // What is not in the one, and what is not in the other.
    ['List?_graph=outside', 'Practitioner/gp Practitioner/other'],
    ['Patient?_graph=either&_id=ann', 'Observation/a1 Observation/a2 Observation/b1 Observation/b2 Observation/b3'],
    ['Patient?_graph=own&_id=ann', 'Observation/a1 Observation/a2'],
    ['Patient?_graph=not-own', ''],
    ['Patient?_graph=twice&_id=bob', 'Observation/b1 Observation/b2 Observation/b3'],
    ['Patient?_graph=own&_id=ann', 'Observation/a1 Observation/a2'],
    ['Patient?_graph=not-own', ''],
    ['List?_graph=same', 'Observation/a1'],
    ['List?_graph=apart', 'Observation/b1 Observation/b2'],
    // The example of the specification: what the lists of a composition hold of the same patient.
    ['Composition?_graph=example', 'List/l List/l2 MedicationRequest/r Observation/a1'],
    [
      'Composition?_graph=http://h7.org/fhir/GraphDefinition/example',
      'List/l List/l2 MedicationRequest/r Observation/a1',
    ],
    // It may start at any node where it does not say at which.
    ['Patient?_graph=anywhere&_id=ann', 'Practitioner/gp'],
    ['Practitioner?_graph=anywhere', ''],
    ['Observation?_graph=all&_id=b1', 'MolecularSequence/s Observation/b2 Patient/bob'],
    // From those alone that patient= may refer to.
    [
      '?_type=Patient,List&_graph=from-any',
      'Observation/a1 Observation/a2 Observation/b1 Observation/b2 Observation/b3',
    ],
    ['?_type=Patient,List&_graph=member', 'Practitioner/gp'],
    // Of b1 and b2 the condition does not hold; a1 has a performer, and the list none.
    ['List?_graph=if-same', 'Observation/a1 Observation/b1 Observation/b2'],
    // With includes each comes once.
    [
      'Patient?_graph=around&_id=ann&_include=Patient:general-practitioner&_revinclude=MedicationRequest:subject',
      'MedicationRequest/r Observation/a1 Observation/a2 Practitioner/gp Practitioner/other',
    ],
    ['Patient?_graph=around&_summary=count', ''],
    ['Patient?_graph=around&_count=0', ''],
  ])('%s', async (asked, included) => {
    const answer = await get(asked);
    expect(answer.status, answer.text).toBe(200);
    expect(includedIn(answer).join(' ')).toBe(included);
    expect(notesOf(answer)).toEqual([]);
  });

  it('goes by the matches of each page, and stands in its links', async () => {
    const first = await get('Patient?_graph=around&_count=1&_sort=_id');
    expect(linkOf(first, 'self')).toContain('_graph=around');
    expect([idsOf(first), includedIn(first).length]).toEqual([['ann'], 4]);
    const second = await get(linkOf(first, 'next')!.slice(1));
    expect([idsOf(second), includedIn(second)]).toEqual([
      ['bob'],
      ['Observation/b1', 'Observation/b2', 'Observation/b3'],
    ]);
  });

  it('is posted, shows what _elements asks for, and goes by what there is now', async () => {
    const answer = await server.send(
      'POST',
      '/Patient/_search',
      '_graph=final&_id=ann&_elements=Observation.status',
      FORM_TYPE,
    );
    const [, included] = answer.json().entry;
    expect(included.resource).toMatchObject({ id: 'a1', status: 'final' });
    expect(included.resource.code).toBeDefined();
    await server.send('PUT', '/GraphDefinition/changing', graph('changing', 'Patient', []));
    expect(includedIn(await get('Patient?_graph=changing&_id=ann'))).toEqual([]);
    await server.send('PUT', '/GraphDefinition/changing', graph('changing', 'Patient', [['Patient', 'Practitioner', path('generalPractitioner')]])); // prettier-ignore
    expect(includedIn(await get('Patient?_graph=changing&_id=ann'))).toEqual(['Practitioner/gp']);
    await server.send('DELETE', '/GraphDefinition/changing');
    expect(refusalOf(await get('Patient?_graph=changing&_id=ann'))).toContain('there is no such GraphDefinition');
  });

  it('compartment rules go by absolute references to this server too', async () => {
    const base = String((await get('Patient/ann/List')).json().link[0].url).replace(/\/Patient\/ann.*$/, '');
    await putAll(server, [observation('abs', `${base}/Patient/ann`), list('labs', 'Observation/abs')]);
    expect(includedIn(await get('List?_id=labs&_graph=same'))).toEqual(['Observation/abs']);
    expect(includedIn(await get('List?_id=labs&_graph=apart'))).toEqual([]);
  });

  it('a version that was included does not stand for the current one', async () => {
    await putAll(server, [
      { resourceType: 'Practitioner', id: 'gp', active: true },
      { resourceType: 'Patient', id: 'cat', generalPractitioner: [to('Practitioner/gp/_history/1')] },
    ]);
    const answer = await get('Patient?_id=cat&_graph=around&_include=Patient:general-practitioner');
    const versions = (answer.json().entry as { resource: { meta: { versionId: string } } }[]).slice(1);
    expect(versions.map(({ resource }) => resource.meta.versionId).sort()).toEqual(['1', '2']);
  });

  it('members are asked for of more resources than one search may name', async () => {
    const groups = Array.from({ length: 101 }, (_, n) => list(`m${n}`, 'Practitioner/gp'));
    await putMany(server, groups);
    const answer = await get('List?_count=200&_graph=member');
    expect([answer.status, includedIn(answer)]).toEqual([200, ['Practitioner/gp']]);
  });

  it.each<[string, string]>([
    [
      'Patient?_graph=none',
      '400 parameter-invalid The parameter "_graph" names "none", and there is no such GraphDefinition',
    ],
    ['Patient?_graph=http://example.org/graphs/none', 'there is no such GraphDefinition'],
    ['Patient?_graph=http://example.org/graphs/twice', 'there are several; name one by its id or version'],
    ['Patient?_graph=Patient/ann', 'names a GraphDefinition, not "Patient/ann"'],
    ['Patient?_graph=GraphDefinition/around/_history/1', 'goes by the current version of a GraphDefinition'],
    ['Patient?_graph=a,b', 'is GraphDefinition/42, its id or its canonical URL, not "a,b"'],
    ['Patient?_graph=around&_graph=final', 'The parameter "_graph" may appear once'],
    [
      'List?_graph=around',
      'The graph GraphDefinition/around starts at resources of the type Patient, and what is searched are others',
    ],
    ['Patient?_graph=wanting', 'The graph GraphDefinition/wanting starts at resources of no type'],
    ['Patient?_graph=modified', 'has a modifierExtension, which is not supported here'],
    ['Patient?_graph=resolves', 'names of elements, ofType(), extension() and where(resolve() is Type) are followed'],
    ['Patient?_graph=dot', 'names of elements, ofType(), extension() and where(resolve() is Type) are followed'],
    ['Patient?_graph=many-ways', 'its elements have more than 256 combinations of types; say which with ofType()'],
    ['Patient?_graph=no-node', 'has "nobody" as start, and no node of this nodeId'],
    ['Patient?_graph=no-type', 'has a node "nothing" of the type "Nothing", which is no type of resources'],
    ['Patient?_graph=doubled', 'has two nodes "patient"; each needs a nodeId of its own'],
    ['Patient?_graph=no-way', 'has a link from "patient" to "practitioner" that needs either a path or params'],
    ['Patient?_graph=both', 'that needs either a path or params'],
    [
      'Patient?_graph=no-element',
      'by the path "Patient.generalPracticioner": Patient has no element generalPracticioner',
    ],
    ['Patient?_graph=elsewhere', 'it begins at Encounter, and its node is of Patient'],
    ['Patient?_graph=no-reference', 'it leads to HumanName, and to no reference'],
    ['Patient?_graph=function', 'names of elements, ofType(), extension() and where(resolve() is Type) are followed'],
    ['Observation?_graph=no-choice', 'no value there is of the type Patient'],
    [
      'Patient?_graph=no-ref',
      'by the params "status=final", in which nothing has the value {ref}, as in patient={ref}',
    ],
    ['Patient?_graph=unknown', '400 parameter-unknown'],
    ['Patient?_graph=result', 'The graph GraphDefinition/result has params with _count, which is no criterion'],
    ['Patient?_graph=nested', 'has params with _include, which is no criterion'],
    ['Patient?_graph=searches-any', 'by params, so that the target needs a type to search'],
    ['Patient?_graph=slice', 'with a sliceName; slices are not distinguished here'],
    ['Patient?_graph=custom', 'with the rule "custom"; identical, matching, different are followed here'],
    ['Patient?_graph=long-path', 'with 510 characters of path; 500 may be'],
    ['Patient?_graph=long-params', 'with 2005 characters of params; 2000 may be'],
    ['Patient?_graph=no-compartment', 'by a compartment of "List", which there is not'],
    ['Patient?_graph=large', 'has more than 200 nodes, links and compartments; make several graphs of it'],
  ])('%s is refused', async (asked, text) => {
    const answer = await get(asked);
    expect(refusalOf(answer)).toContain(text);
    expect(answer.json().issue[0].location, answer.text).toEqual(['http._graph']);
  });
}

/** A server whose searches may take half a second, and a graph whose paths lead nowhere, from many resources, again and again. */
export function costlyGraphSearches(data: Store): void {
  const server = useWholeServer({ store: data, limits: { ...DEFAULT_LIMITS, queryTime: 500 } });

  it('ends with its time, though nothing is ever looked up, and lets others go on', async () => {
    const extension = Array.from({ length: 150 }, (_, n) => ({ url: `urn:x:${n}`, valueString: 'x' }));
    await putMany(
      server,
      Array.from({ length: 500 }, (_, n) => ({ resourceType: 'Patient', id: `p${n}`, extension })),
    );
    const nowhere = ['Patient', 'Patient', path('Patient.extension.value')] as const;
    await putAll(server, [
      graph(
        'nowhere',
        'Patient',
        Array.from({ length: 190 }, () => nowhere),
      ),
    ]);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const answer = await get('Patient?_count=500&_elements=id&_graph=nowhere');
    clearInterval(timer);
    expect(refusalOf(answer)).toContain('503 too-costly The graph takes too long');
    expect(turns).toBeGreaterThan(3);
  }, 60_000);

  const get = (to: string) => server.send('GET', `/${to}`);
}

/** A server whose pages have few resources beside the matches. */
export function smallGraphSearches(data: Store): void {
  const server = useWholeServer({ store: data, search: { includes: 2 } });

  it('says where a page has no more room', async () => {
    await putAll(server, DATA.slice(0, 20) as Parameters<typeof putAll>[1]);
    const answer = await server.send('GET', '/Patient?_graph=around');
    expect(includedIn(answer)).toHaveLength(2);
    expect(notesOf(answer)).toMatchObject([{ code: 'includes-cut', severity: 'warning' }]);
    expect(notesOf(answer)[0]?.text).toContain('Not all that the graph leads to is here: a page has 2 resources');
  }, 60_000);
}
