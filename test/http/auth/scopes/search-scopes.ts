import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { FORM_TYPE, idsOf, includedIn, linkOf, putAll } from '../../search-server.js';
import { codeOf, type Answer, type ToyServer } from '../../server.js';
import { neededBy, scopedServer } from '../scoped.js';

const tagged = (tag: string) => ({ meta: { tag: [{ system: 't', code: tag }] } });
const IN = tagged('in');
const OUT = tagged('out');
const observation = (id: string, subject: string, more: object) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { text: 'x' },
  subject: { reference: subject },
  ...more,
});

const substance = (id: string, more: object) => ({
  resourceType: 'Substance',
  id,
  instance: false,
  code: { concept: { coding: [{ code: 'c' }] } },
  ...more,
});

const file = (id: string, context?: string) => ({
  resourceType: 'Binary',
  id,
  contentType: 'text/plain',
  ...(context !== undefined && { securityContext: { reference: context } }),
});

/** From patients to observations of theirs, to their subjects' organizations, and to binaries. */
const graph = (id: string, more: object) => ({
  resourceType: 'GraphDefinition',
  id,
  name: id,
  status: 'active',
  start: 'p',
  node: [
    { nodeId: 'p', type: 'Patient' },
    { nodeId: 'o', type: 'Observation' },
    { nodeId: 's', type: 'Provenance' },
    { nodeId: 'b', type: 'Binary' },
    { nodeId: 'any', type: 'Resource' },
  ],
  link: [
    { sourceId: 'p', targetId: 'o', params: 'patient={ref}&patient.family:missing=false' },
    { sourceId: 'p', targetId: 's', params: 'target={ref}' },
    { sourceId: 's', targetId: 'b', path: 'target' },
    { sourceId: 'p', targetId: 'any', path: 'managingOrganization' },
  ],
  ...more,
});

const arrange = (server: ToyServer): Promise<void> =>
  putAll(server, [
    { resourceType: 'Organization', id: 'g', name: 'Seen', ...IN },
    { resourceType: 'Organization', id: 'h', name: 'Hidden', ...OUT },
    { resourceType: 'Practitioner', id: 'd', name: [{ family: 'Doe' }] },
    { resourceType: 'Patient', id: 'a', name: [{ family: 'Eve' }], managingOrganization: { reference: 'Organization/g' }, ...IN }, // prettier-ignore
    { resourceType: 'Patient', id: 'b', name: [{ family: 'Eve' }], managingOrganization: { reference: 'Organization/h' }, identifier: [{ system: 's', value: '1' }], ...OUT }, // prettier-ignore
    observation('1', 'Patient/a', IN),
    observation('2', 'Patient/b', IN),
    observation('3', 'Patient/a', OUT),
    observation('4', 'Patient/b', OUT),
    { resourceType: 'Provenance', id: 'p', target: [{ reference: 'Patient/a' }], recorded: '2024-01-01T00:00:00Z', agent: [{ who: { reference: 'Practitioner/d' } }], ...OUT }, // prettier-ignore
    {
      resourceType: 'Medication',
      id: 'k',
      contained: [substance('c', IN)],
      ingredient: [{ item: { reference: { reference: '#c' } } }],
      ...IN,
    },
    {
      resourceType: 'Medication',
      id: 'l',
      contained: [substance('c', {})],
      ingredient: [{ item: { reference: { reference: '#c' } } }],
      ...OUT,
    },
    substance('n', {}),
    { resourceType: 'Basic', id: 'files', code: { text: 'x' }, contained: [file('f'), file('of-a', 'Patient/a'), file('of-b', 'Patient/b')] }, // prettier-ignore
    { resourceType: 'Location', id: 'top', name: 'x', ...IN },
    { resourceType: 'Location', id: 'mid', name: 'x', partOf: { reference: 'Location/top' }, ...OUT },
    { resourceType: 'Location', id: 'low', name: 'x', partOf: { reference: 'Location/mid' }, ...IN },
    { resourceType: 'Encounter', id: 'e', status: 'planned', location: [{ location: { reference: 'Location/low' } }], ...IN }, // prettier-ignore
    {
      resourceType: 'DocumentReference',
      id: 'doc',
      status: 'current',
      subject: { reference: 'Patient/b' },
      author: [{ reference: 'Practitioner/d' }],
      content: [{ attachment: { url: 'http://x' } }],
    },
    { resourceType: 'List', id: 'l', status: 'current', mode: 'working', entry: [{ item: { reference: 'Patient/a' } }, { item: { reference: 'Patient/b' } }], ...IN }, // prettier-ignore
    { resourceType: 'List', id: 'm', status: 'current', mode: 'working', entry: [{ item: { reference: 'Patient/b' } }], ...OUT }, // prettier-ignore
    { resourceType: 'Group', id: 'n', type: 'person', membership: 'enumerated', member: [{ entity: { reference: 'Patient/a' } }, { entity: { reference: 'Patient/b' }, inactive: true }], ...OUT }, // prettier-ignore
    graph('gr', IN),
    graph('hidden', OUT),
    { resourceType: 'Binary', id: 'free', contentType: 'text/plain', data: 'YQ==' },
    { resourceType: 'Binary', id: 'of-a', contentType: 'text/plain', data: 'YQ==', securityContext: { reference: 'Patient/a' } }, // prettier-ignore
    { resourceType: 'Binary', id: 'of-b', contentType: 'text/plain', data: 'YQ==', securityContext: { reference: 'Patient/b' } }, // prettier-ignore
    { resourceType: 'Binary', id: 'of-none', contentType: 'text/plain', data: 'YQ==', securityContext: { reference: 'Patient/none' } }, // prettier-ignore
    { resourceType: 'Binary', id: 'of-urn', contentType: 'text/plain', data: 'YQ==', securityContext: { identifier: { value: 'x' } } }, // prettier-ignore
    { resourceType: 'Binary', id: 'of-of-a', contentType: 'text/plain', data: 'YQ==', securityContext: { reference: 'Binary/of-a' } }, // prettier-ignore
    { resourceType: 'Provenance', id: 'q', target: [{ reference: 'Binary/of-a' }, { reference: 'Binary/of-b' }], recorded: '2024-01-01T00:00:00Z', agent: [{ who: { reference: 'Practitioner/d' } }], ...IN }, // prettier-ignore
  ]);

const isIn = '?_tag=t%7Cin';
/** Whatever is written while these tests run. */
const written = `?_lastUpdated=${[0, 1].map((more) => new Date().getUTCFullYear() + more).join(',')}`;
const alone = '_contained=true&_containedType=contained';

/** Scopes, what is searched, and the ids found or the scopes that are needed. */
const CASES: readonly (readonly [scopes: string, path: string, found: string])[] = [
  ['system/Observation.s', '/Observation', '1 2 3 4'],
  ['system/Observation.r', '/Observation', 'needs system/Observation.s'],
  [`system/Observation.s${isIn}`, '/Observation', '1 2'],
  [`system/Observation.s${isIn} system/Observation.s?subject=Patient/a`, '/Observation', '1 2 3'],
  [`system/Observation.s${isIn}`, '/Observation?_tag=t%7Cout', ''],
  [`system/Observation.s${isIn}`, '/Observation?_tag:not=t%7Cin', ''],
  // Chains
  ['system/Observation.s', '/Observation?subject:Patient.family=eve', 'needs system/Observation.s system/Patient.s'],
  ['system/Observation.s', '/Observation?patient.organization.name=seen', 'needs system/Observation.s system/Organization.s system/Patient.s'], // prettier-ignore
  ['system/Observation.s system/Patient.r', '/Observation?patient.family=eve', 'needs system/Observation.s system/Patient.s'], // prettier-ignore
  ['system/Observation.s system/Patient.s', '/Observation?subject:Patient.family=eve', '1 2 3 4'],
  [`system/Observation.s system/Patient.s${isIn}`, '/Observation?subject:Patient.family=eve', '1 3'],
  [`system/Observation.s system/Patient.s${isIn}`, '/Observation?patient.organization.name=seen', 'needs system/Observation.s system/Organization.s system/Patient.s'], // prettier-ignore
  ['system/Observation.s system/Patient.s', '/Observation?subject._tag=t%7Cin', '1 3'],
  ['system/Observation.s', '/Observation?subject._tag=t%7Cin', 'needs system/*.s'],
  ['system/Patient.s', '/Patient?_has:Observation:patient:status=final', 'needs system/Observation.s system/Patient.s'],
  [`system/Patient.s system/Observation.s?subject=Patient/a`, '/Patient?_has:Observation:patient:status=final', 'a'],
  // Hierarchies
  ['system/Encounter.s', '/Encounter?location:below=Location/top', 'needs system/Encounter.s system/Location.s'],
  ['system/Encounter.s system/Location.s', '/Encounter?location:below=Location/top', 'e'],
  [`system/Encounter.s system/Location.s${isIn}`, '/Encounter?location:below=Location/top', ''],
  [`system/Encounter.s system/Location.s${isIn}`, '/Encounter?location:below=Location/mid', 'e'],
  // Membership
  ['system/Patient.s', '/Patient?_list=l', 'needs system/List.r system/Patient.s'],
  ['system/Patient.s system/List.s', '/Patient?_list=l', 'needs system/List.r system/Patient.s'],
  ['system/Patient.s system/List.r', '/Patient?_list=l', 'a b'],
  [`system/Patient.s${isIn} system/List.r`, '/Patient?_list=l', 'a'],
  [`system/Patient.s system/List.r${isIn}`, '/Patient?_list=l,m', 'a b'],
  [`system/Patient.s system/List.r${isIn}`, '/Patient?_list=m', ''],
  [`system/Patient.s system/List.r${isIn}`, '/Patient?_in:not=List/m', 'a b'],
  [
    'system/Patient.s system/List.r',
    '/Patient?_in=Group/n,List/l',
    'needs system/Group.r system/List.r system/Patient.s',
  ],
  ['system/Patient.s system/Group.r', '/Patient?_in=Group/n', 'a'],
  [`system/Patient.s system/Group.r${isIn}`, '/Patient?_in=Group/n', ''],
  ['system/Observation.s system/Patient.s', '/Observation?patient._in=Group/n', 'needs system/Group.r system/Observation.s system/Patient.s'], // prettier-ignore
  ['system/Observation.s system/Group.r', '/Observation?patient._in=Group/n', 'needs system/Group.r system/Observation.s system/Patient.s'], // prettier-ignore
  ['system/Observation.s system/Patient.s system/Group.r', '/Observation?patient._in=Group/n', '1 3'],
  ['system/Observation.s system/Patient.s?_tag=t%7Cout system/Group.r', '/Observation?patient._in=Group/n', ''],
  ['system/Patient.s system/List.r', '/?_type=Patient&_list=l', 'a b'],
  // Filters
  ['system/Observation.s', '/Observation?_filter=subject:Patient.family%20eq%20eve', 'needs system/Observation.s system/Patient.s'], // prettier-ignore
  ['system/Observation.s system/Patient.s', '/Observation?_filter=not%20(patient.organization[active%20pr%20true].name%20sw%20x)', 'needs system/Observation.s system/Organization.s system/Patient.s'], // prettier-ignore
  [`system/Observation.s system/Patient.s${isIn}`, '/Observation?_filter=subject:Patient.family%20eq%20eve', '1 3'],
  [
    `system/Observation.s system/Patient.s${isIn}`,
    '/Observation?_filter=not%20(subject:Patient.family%20eq%20eve)',
    '2 4',
  ],
  ['system/Patient.s', '/Patient?_filter=_has:Observation:patient:status%20eq%20final', 'needs system/Observation.s system/Patient.s'], // prettier-ignore
  // The names that MHD asks for
  ['system/DocumentReference.s', '/DocumentReference?author.family=doe&patient.identifier=s%7C1', 'doc'],
  ['system/DocumentReference.s', '/DocumentReference?author.family=none', ''],
  ['system/DocumentReference.s system/Patient.s?_tag=t%7Cin', '/DocumentReference?patient.identifier=s%7C1', 'doc'],
  ['system/DocumentReference.s', '/DocumentReference?patient:Patient.identifier=s%7C1', 'needs system/DocumentReference.s system/Patient.s'], // prettier-ignore
  ['system/DocumentReference.s', '/DocumentReference?author:Practitioner.family=doe', 'needs system/DocumentReference.s system/Practitioner.s'], // prettier-ignore
  ['system/DocumentReference.s', '/DocumentReference?patient.family=eve', 'needs system/DocumentReference.s system/Patient.s'], // prettier-ignore
  // Several types
  ['system/Patient.s system/Location.s', '/?_tag=t%7Cin', 'low top a'],
  [`system/Patient.s${isIn} system/Location.s?_tag=t%7Cout`, '/?_tag=t%7Cin,t%7Cout', 'mid a'],
  ['system/Patient.s', '/?_type=Patient,Location&_tag=t%7Cin', 'needs system/Location.s system/Patient.s'],
  ['system/Patient.s', '/?_type=Patient&_tag=t%7Cin', 'a'],
  ['system/Patient.r', '/?_tag=t%7Cin', 'needs system/*.s'],
  // Chains into what is contained: only where its type may be searched whatever it is
  ['system/Medication.s system/Substance.s', '/Medication?ingredient:Substance.code=c', 'k l'],
  ['system/Medication.s', '/Medication?ingredient:Substance.code=c', 'needs system/Medication.s system/Substance.s'],
  [`system/Medication.s${isIn} system/Substance.s`, '/Medication?ingredient:Substance.code=c', 'k'],
  [`system/Medication.s system/Substance.s${isIn}`, '/Medication?ingredient:Substance.code=c', ''],
  [
    `system/Medication.s system/Substance.s${isIn}`,
    '/Medication?_filter=not%20(ingredient:Substance.code%20eq%20c)',
    'k l',
  ],
  ['system/Medication.s system/Medication.rs', '/Medication?ingredient.code=c', ''],
  // What is contained, and what contains it
  ['system/Substance.s', '/Substance?code=c&_contained=true', ''],
  ['system/Medication.s', '/Substance?code=c&_contained=true', 'needs system/Substance.s'],
  ['system/Substance.s system/Medication.s', '/Substance?code=c&_contained=true', 'k l'],
  ['system/Substance.s system/Medication.r', '/Substance?code=c&_contained=true', ''],
  [`system/Substance.s system/Medication.s${isIn}`, '/Substance?code=c&_contained=true', 'k'],
  [`system/Substance.s system/Medication.s${isIn}`, '/Substance?code=c&_contained=both', 'k n'],
  [`system/Substance.s${isIn} system/Medication.s`, '/Substance?code=c&_contained=true', 'k'],
  [`system/Substance.s${isIn} system/Medication.s${isIn}`, '/Substance?code=c&_contained=both', 'k'],
  [`system/Substance.s system/Medication.s${isIn}`, '/Substance?code=c&_contained=true&_containedType=contained', 'c'],
  ['system/Substance.s system/Medication.s', '/Substance?code=c&_contained=true&_containedType=contained', 'c c'],
  ['system/Substance.s system/Medication.s', '/Substance?code=c&_contained=true&_containedType=contained&_tag=t%7Cin', 'c'], // prettier-ignore
  ['system/Substance.s', '/Substance?code=c&_contained=both&_containedType=contained', 'n'],
  ['system/*.s', '/Substance?code=c&_contained=both&_containedType=contained', 'c c n'],
  [`system/*.s${isIn}`, '/Substance?code=c&_contained=both', 'k'],
  ['system/*.s', '/Medication?_contained=true', ''],
  // A constraint names resources by their place, and by when they were written: what is contained has neither
  ['system/Substance.s?_id=c system/Medication.s', '/Substance?code=c&_contained=true', ''],
  ['system/Substance.s?_id=c,n system/Medication.s', `/Substance?code=c&${alone}`, ''],
  ['system/Substance.s?_id=c,n system/Medication.s', '/Substance?code=c&_contained=both', 'n'],
  ['system/Substance.s?_id=k,l system/Medication.s', '/Substance?code=c&_contained=true', ''],
  ['system/Substance.s?_id=c system/Medication.s', '/Substance?_id=c&_contained=true', ''],
  ['system/Substance.s?_id=c&_tag=t%7Cin system/Medication.s', '/Substance?code=c&_contained=true', ''],
  [`system/Substance.s?_id=c system/Substance.s${isIn} system/Medication.s`, '/Substance?code=c&_contained=true', 'k'],
  [`system/Substance.s${isIn} system/Medication.s`, '/Substance?_id=c&_contained=true', 'k'],
  [`system/Substance.s${isIn} system/Medication.s`, '/Substance?_id:not=c&_contained=true', ''],
  [`system/Substance.s${written} system/Medication.s`, '/Substance?code=c&_contained=true', ''],
  [`system/Substance.s${written} system/Medication.s`, '/Substance?code=c&_contained=both', 'n'],
  ['system/Substance.s system/Medication.s', `/Substance${written}&code=c&_contained=true`, 'k l'],
  // Of what contains it, these are known
  ['system/Substance.s system/Medication.s?_id=k', '/Substance?code=c&_contained=true', 'k'],
  ['system/Substance.s system/Medication.s?_id=c', '/Substance?code=c&_contained=true', ''],
  ['system/Substance.s system/Medication.s?_id=k', `/Substance?code=c&${alone}`, 'c'],
  ['system/Substance.s system/Medication.s?_id=c', `/Substance?code=c&${alone}`, ''],
  [`system/Substance.s system/Medication.s${written}`, `/Substance?code=c&${alone}`, 'c c'],
  // What a contained Binary belongs to decides as ever
  ['system/Binary.s system/Basic.s', `/Binary?${alone}`, 'f'],
  ['system/Binary.s system/Basic.s system/Patient.r', `/Binary?${alone}`, 'f of-a of-b'],
  [`system/Binary.s system/Basic.s system/Patient.r${isIn}`, `/Binary?${alone}`, 'f of-a'],
  ['system/Binary.s system/Basic.s system/Patient.r?_id=b', `/Binary?${alone}`, 'f of-b'],
  ['system/Binary.s?_id=f system/Basic.s system/Patient.r', `/Binary?${alone}`, ''],
  // Compartments
  ['system/Observation.s', '/Patient/a/Observation', 'needs system/Observation.s system/Patient.r'],
  ['system/Patient.s', '/Patient/a/Observation', 'needs system/Observation.s system/Patient.s'],
  ['system/Observation.s system/Patient.r', '/Patient/a/Observation', '1 3'],
  [`system/Observation.s system/Patient.r${isIn}`, '/Patient/a/Observation', '1 3'],
  [`system/Observation.s system/Patient.r${isIn}`, '/Patient/b/Observation', ''],
  [`system/Observation.s${isIn} system/Patient.s${isIn}`, '/Patient/a/*', '1 a'],
  [`system/Observation.s system/Patient.rs${isIn}`, '/Patient/b/*', ''],
  ['system/Patient.rs', '/Patient/b/*?_type=Patient,Observation', 'needs system/Observation.s system/Patient.rs'],
  ['system/Patient.r', '/Patient/b/*', 'needs system/*.s system/Patient.r'],
  // Binaries
  ['system/Binary.s', '/Binary', 'free'],
  ['system/Binary.s system/Patient.s', '/Binary', 'free'],
  ['system/Binary.s system/Patient.r', '/Binary', 'free of-a of-b'],
  [`system/Binary.s system/Patient.r${isIn}`, '/Binary', 'free of-a'],
  ['system/Binary.rs', '/Binary', 'free'],
  ['system/*.rs', '/Binary', 'free of-a of-b of-of-a'],
  ['system/*.rs', '/?_type=Binary,Location', 'free of-a of-b of-of-a low mid top'],
  [`system/Provenance.s system/Binary.s system/Patient.r${isIn}`, '/Provenance?target:Binary._id=of-a', 'q'],
  [`system/Provenance.s system/Binary.s system/Patient.r${isIn}`, '/Provenance?target:Binary._id=of-b', ''],
];

/** Without the scope of what is searched all is named nevertheless that the URL tells; what is in a body is not read then. */
const REFUSED: typeof CASES = [
  ['system/Patient.s', '/Observation?subject:Patient.family=eve', 'needs system/Observation.s system/Patient.s'],
  ['system/Basic.s', '/Observation?patient.organization.name=seen', 'needs system/Observation.s system/Organization.s system/Patient.s'], // prettier-ignore
  ['system/Basic.s', '/Patient?_has:Observation:patient:encounter.status=planned', 'needs system/Encounter.s system/Observation.s system/Patient.s'], // prettier-ignore
  ['system/Basic.s', '/Observation?subject._tag=t%7Cin&_include=Observation:patient', 'needs system/*.s'],
  ['system/Basic.s', '/Observation?nonsense:x=y', 'needs system/Observation.s'],
  ['system/Basic.s', '/?_type=Patient,Location&_tag=t%7Cin', 'needs system/Location.s system/Patient.s'],
  ['system/Basic.s', '/Patient/a/Observation?encounter.status=planned', 'needs system/Encounter.s system/Observation.s system/Patient.r'], // prettier-ignore
];

const told = (answer: Answer): string =>
  answer.status === 403
    ? `needs ${neededBy(answer)}`
    : answer.status === 200
      ? idsOf(answer).sort().join(' ')
      : answer.text;

/** Scopes, what is searched with what, and what comes along. */
const INCLUDES: readonly (readonly [scopes: string, path: string, included: string])[] = [
  ['system/Observation.s', '/Observation?_include=Observation:patient', ''],
  ['system/Observation.s system/Patient.r', '/Observation?_include=Observation:patient', 'Patient/a Patient/b'],
  ['system/Observation.s system/Patient.s', '/Observation?_include=Observation:patient', 'Patient/a Patient/b'],
  ['system/Observation.s system/Patient.cud', '/Observation?_include=Observation:patient', ''],
  [`system/Observation.s system/Patient.r${isIn}`, '/Observation?_include=Observation:patient', 'Patient/a'],
  [`system/Observation.s system/Patient.r${isIn} system/Organization.rs`, '/Observation?_include=Observation:patient&_include:iterate=Patient:organization', 'Organization/g Patient/a'], // prettier-ignore
  ['system/Observation.s system/Organization.rs', '/Observation?_include=Observation:patient&_include:iterate=Patient:organization', ''], // prettier-ignore
  ['system/Observation.s system/Patient.rs', '/Observation?_include=*&_revinclude=*', 'Patient/a Patient/b'],
  ['system/Patient.s system/Provenance.r', '/Patient?_revinclude=Provenance:target', ''],
  ['system/Patient.s system/Provenance.s', '/Patient?_revinclude=Provenance:target', 'Provenance/p'],
  [`system/Patient.s system/Provenance.s${isIn}`, '/Patient?_revinclude=Provenance:target', ''],
  [`system/Provenance.s${isIn} system/Binary.r system/Patient.r${isIn}`, '/Provenance?_include=Provenance:target', 'Binary/of-a'], // prettier-ignore
];

/** The same with a graph. */
const GRAPHS: typeof INCLUDES = [
  ['system/Patient.s', '/Patient?_graph=gr', 'needs system/GraphDefinition.r system/Patient.s'],
  [
    'system/Patient.s system/GraphDefinition.s',
    '/Patient?_graph=gr',
    'needs system/GraphDefinition.r system/Patient.s',
  ],
  ['system/Patient.s system/GraphDefinition.r', '/Patient?_graph=gr', ''],
  ['system/GraphDefinition.r', '/Patient?_graph=gr', 'needs system/GraphDefinition.r system/Patient.s'],
  [`system/Patient.s system/GraphDefinition.r${isIn}`, '/Patient?_graph=hidden', 'parameter-invalid'],
  [`system/Patient.s system/GraphDefinition.r${isIn}`, '/Patient?_graph=none', 'parameter-invalid'],
  ['system/Patient.s system/GraphDefinition.r system/Organization.r', '/Patient?_graph=gr', 'Organization/g Organization/h'], // prettier-ignore
  ['system/Patient.s system/GraphDefinition.r system/Observation.r', '/Patient?_graph=gr', ''],
  ['system/Patient.s system/GraphDefinition.r system/Observation.s', '/Patient?_graph=gr', 'Observation/1 Observation/2 Observation/3 Observation/4'], // prettier-ignore
  [`system/Patient.s${isIn} system/GraphDefinition.r system/Observation.s system/Organization.r`, '/Patient?_graph=gr', 'Observation/1 Observation/3 Organization/g'], // prettier-ignore
  [`system/Patient.s system/GraphDefinition.r system/Observation.s${isIn} system/Organization.r${isIn}`, '/Patient?_graph=gr', 'Observation/1 Observation/2 Organization/g'], // prettier-ignore
  [`system/Patient.rs${isIn} system/GraphDefinition.r system/Provenance.s system/Binary.r`, '/Patient?_graph=gr', 'Provenance/p'], // prettier-ignore
  ['system/List.s system/GraphDefinition.r', '/List?_graph=gr', 'parameter-invalid'],
  ['system/Patient.s', '/?_type=Patient&_graph=gr', 'needs system/GraphDefinition.r system/Patient.s'],
];

/** Searches of clients with scopes. */
export function searchScopes(store: Store): void {
  const server = scopedServer(store);
  const get = (scopes: string, path: string): Promise<Answer> => server.as(scopes).send('GET', path);
  beforeAll(() => arrange(server.all));

  describe('a search within scopes', () => {
    it.each(CASES)('%s %s', async (scopes, path, found) => {
      const answer = await get(scopes, path);
      const expected = answer.status === 200 ? found.split(' ').sort().join(' ') : found;
      expect(told(answer)).toBe(expected);
      const [before, query = ''] = path.split('?') as [string, string?];
      const posted = await server.as(scopes).send('POST', `${before}/_search`.replace('//', '/'), query, FORM_TYPE);
      expect(told(posted)).toBe(expected);
      if (answer.status !== 200) return;
      expect(answer.json().total).toBe(idsOf(answer).length);
      const counted = await get(scopes, `${path}${path.includes('?') ? '&' : '?'}_summary=count`);
      expect(counted.json()).toMatchObject({ total: idsOf(answer).length });
    });

    it.each(REFUSED)('%s %s is refused', async (scopes, path, found) => {
      expect(told(await get(scopes, path))).toBe(found);
    });

    it('needs the letter in a refusal that shows nothing else', async () => {
      const answer = await get('system/Observation.s', '/Observation?subject:Patient.family=eve');
      expect(codeOf(answer)).toBe('scope-missing');
      expect(answer.headers['www-authenticate']).toContain('error="insufficient_scope"');
    });

    it('says in its self link which types it looked at', async () => {
      const self = async (scopes: string, path: string) => linkOf(await get(scopes, path), 'self');
      expect(await self('system/Patient.s system/Location.s', '/?_tag=t%7Cin')).toBe(
        '/?_tag=t%7Cin&_type=Location%2CPatient',
      );
      expect(await self('system/*.s', '/?_tag=t%7Cin')).toBe('/?_tag=t%7Cin');
      expect(await self('system/Patient.rs', '/Patient/a/*')).toBe('/Patient/a/*?_type=Patient');
    });
  });

  describe('what comes with a search within scopes', () => {
    it.each(INCLUDES)('%s %s', async (scopes, path, included) => {
      const answer = await get(scopes, path);
      expect(answer.status).toBe(200);
      expect(includedIn(answer).join(' ')).toBe(included);
    });

    it.each(GRAPHS)('%s %s', async (scopes, path, included) => {
      const answer = await get(scopes, path);
      const found = answer.status === 200 ? includedIn(answer).join(' ') : answer.status === 400 ? codeOf(answer) : told(answer); // prettier-ignore
      expect(found).toBe(included);
    });
  });

  describe('page links', () => {
    const walk = async (scopes: string, path = '/Observation?_count=1&_total=accurate') => {
      const first = await get(scopes, path);
      expect(first.status).toBe(200);
      return linkOf(first, 'next')!;
    };

    it('go on with the same scopes, whoever brings them', async () => {
      const next = await walk(`system/Observation.s${isIn}`);
      for (const scopes of [`system/Observation.rs${isIn} system/Patient.cruds`, `system/Observation.s${isIn}`]) {
        const answer = await server.as(scopes, 'another').send('GET', next);
        expect([idsOf(answer), answer.json().total]).toEqual([['2'], 2]);
      }
    });

    it.each([
      ['system/Observation.s', `system/Observation.s${isIn}`],
      [`system/Observation.s${isIn}`, 'system/Observation.s'],
      [`system/Observation.s${isIn}`, 'system/Observation.s?_tag=t%7Cout'],
    ])('of %s are none for %s', async (first, second) => {
      const answer = await get(second, await walk(first));
      expect([answer.status, codeOf(answer)]).toEqual([400, 'page-invalid']);
      expect(answer.text).not.toContain('total');
    });

    it('are refused without the scope', async () => {
      const next = await walk('system/Observation.s');
      expect(neededBy(await get('system/Patient.rs', next))).toBe('system/Observation.s');
      const chained = await walk('system/*.s', '/Observation?_count=1&subject:Patient.family=eve');
      expect(neededBy(await get('system/Observation.s', chained))).toBe('system/Observation.s system/Patient.s');
      expect((await get('system/Observation.s system/Patient.s', chained)).status).toBe(200);
      const narrow = await get('system/Observation.s system/Patient.s?_tag=t%7Cin', chained);
      expect(codeOf(narrow)).toBe('page-invalid');
      const across = await walk('system/*.s', '/?_count=1&_tag=t%7Cin');
      expect(codeOf(await get('system/Patient.s', across))).toBe('page-invalid');
    });
  });
}
