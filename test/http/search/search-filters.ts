import { beforeAll, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { FORM_TYPE, idsOf, linkOf, putAll, refusalOf, useWholeServer } from '../search-server.js';

const to = (reference: string) => ({ reference });
const LOINC = 'http://loinc.org';

const DATA = [
  { resourceType: 'Organization', id: 'acme', name: 'Acme', active: true },
  { resourceType: 'Organization', id: 'beta', name: 'Beta', active: false, partOf: to('Organization/acme') },
  {
    resourceType: 'Patient',
    id: 'peter',
    name: [{ family: 'Petersen', given: ['Peter', 'James'] }],
    birthDate: '2014-10-10',
    gender: 'male',
    identifier: [{ system: 'urn:mrn', value: 'Ab1' }],
    managingOrganization: to('Organization/acme'),
  },
  {
    resourceType: 'Patient',
    id: 'perpetua',
    name: [{ family: 'Ångström', given: ['Perpétua'] }],
    birthDate: '1970',
    identifier: [{ system: 'urn:mrn', value: 'ab1' }, { value: 'x, (y)' }],
    managingOrganization: to('Organization/beta'),
  },
  { resourceType: 'Patient', id: 'zoe', name: [{ family: 'Zed', given: ['Zoe'] }], gender: 'female' },
  {
    resourceType: 'Observation',
    id: 'sodium',
    status: 'final',
    code: { coding: [{ system: LOINC, code: '2951-2' }] },
    subject: to('Patient/peter'),
    effectivePeriod: { start: '2020-01-01', end: '2020-12-31' },
    valueQuantity: { value: 151, unit: 'mmol/L', system: 'http://unitsofmeasure.org', code: 'mmol/L' },
  },
  {
    resourceType: 'Observation',
    id: 'note',
    status: 'amended',
    code: { coding: [{ system: LOINC, code: '1234-5' }], text: 'Note' },
    subject: to('Patient/perpetua'),
    effectiveDateTime: '2021-06',
    component: [{ code: { coding: [{ system: LOINC, code: 'Abc-1' }] }, valueQuantity: { value: 5 } }],
    hasMember: [to('Observation/sodium')],
  },
];

/** Filters from one end to the other, whatever the store. https://hl7.org/fhir/R5/search_filter.html */
export function filterSearches(data: Store): void {
  const server = useWholeServer({ store: data });
  const search = (type: string, filter: string, more = '') =>
    server.send('GET', `/${type}?_filter=${encodeURIComponent(filter)}${more}`);

  beforeAll(() => putAll(server, DATA), 60_000);

  it.each([
    ['half of a surrogate pair', 'name sw "a\\ud83d"'],
    ['conditions that are too deep', `gender ne a${' and gender ne a or gender ne a'.repeat(49)}`],
    ['too many links', `${'link['.repeat(17)}_id eq a${']._id eq a'.repeat(17)}`],
  ])('refuses %s', async (_what, filter) => {
    expect(refusalOf(await search('Patient', filter))).toContain('400 parameter-invalid In _filter: ');
  });

  it('takes conditions as deep as may be', async () => {
    const deep = `gender eq female${' and gender pr true or gender eq a'.repeat(25)}`;
    expect(idsOf(await search('Patient', deep))).toEqual(['zoe']);
    const chained = `${'link:Patient.'.repeat(8)}gender eq a`;
    const nots = 'not ('.repeat(19);
    const tail = ' or gender eq a)'.repeat(19);
    expect(idsOf(await search('Patient', `${nots}${chained}${tail}`))).toHaveLength(3);
  });

  it.each([
    // The examples of the specification.
    ['Patient', 'name co "pet"', ['perpetua', 'peter']],
    ['Patient', 'given eq "peter" and birthdate ge 2014-10-10', ['peter']],
    ['Observation', 'code eq http://loinc.org|1234-5', ['note']],
    ['Observation', 'subject.name co "pet"', ['note', 'sodium']],
    [
      'Patient',
      'given eq "peter" and birthdate ge 2014-10-10 and _has:Observation:patient:code eq loinc|2951-2',
      ['peter'],
    ],
    // What R5 has in place of `related`.
    ['Observation', 'has-member pr true', ['note']],
    ['Observation', 'has-member[status eq final].subject re Patient/peter', ['note']],
    // Operators.
    ['Patient', 'name sw pet', ['peter']],
    ['Patient', 'name ew TUA', ['perpetua']],
    ['Patient', 'family eq angstrom', ['perpetua']],
    ['Patient', 'family ne angstrom', ['peter', 'zoe']],
    ['Patient', 'family gt petersen', ['zoe']],
    ['Patient', 'family ge petersen and family lt zed', ['peter']],
    ['Patient', 'identifier eq urn:mrn|AB1', ['perpetua', 'peter']],
    ['Patient', 'identifier ne urn:mrn|AB1', ['perpetua']],
    ['Patient', 'identifier eq "|x, (y)"', ['perpetua']],
    ['Patient', 'gender pr false', ['perpetua']],
    ['Patient', 'not (gender eq male)', ['perpetua', 'zoe']],
    ['Patient', 'gender ne male', ['zoe']],
    ['Patient', 'birthdate lt 2000 or gender eq female', ['perpetua', 'zoe']],
    ['Patient', 'gender pr true or gender pr false and birthdate pr true', ['perpetua', 'peter']],
    ['Patient', 'gender pr true or (gender pr false and birthdate pr true)', ['perpetua', 'peter', 'zoe']],
    ['Observation', 'date po 2020-07', ['sodium']],
    ['Observation', 'date co 2020-07', ['sodium']],
    ['Observation', 'date co 2019-07', []],
    ['Observation', 'date sa 2021-01', ['note']],
    ['Observation', 'value-quantity gt 0.15|ucum|mol/L', ['sodium']],
    ['Observation', 'code-value-quantity eq http://loinc.org|2951-2$gt150', ['sodium']],
    // The parts of composites, too: without the case of codes.
    ['Observation', 'component-code-value-quantity eq ABC-1$gt1', ['note']],
    ['Observation', 'component-code-value-quantity eq loinc|abc-1$gt1', ['note']],
    ['Observation', 'component-code-value-quantity eq ABC-2$gt1', []],
    ['Observation', 'code-value-quantity eq loinc|2951-2$gt0.15|ucum|mol/L', ['sodium']],
    ['Observation', 'subject re Patient/zoe', []],
    [
      'Observation',
      'subject:Patient[gender eq male or birthdate lt 2000].organization[active eq false].partof.name sw ac',
      ['note'],
    ],
    ['Organization', '_has:Patient:organization:_has:Observation:patient:status eq AMENDED', ['beta']],
    ['Patient', '_id eq zoe or _id eq Peter', ['zoe']],
    ['Patient', '_lastUpdated gt 2000', ['perpetua', 'peter', 'zoe']],
  ])('%s?_filter=%s', async (type, filter, ids) => {
    const answer = await search(type, filter, '&_total=accurate');
    expect(answer.status, answer.text).toBe(200);
    expect(idsOf(answer).sort()).toEqual(ids);
    expect(answer.json().total).toBe(ids.length);
  });

  it('goes with other parameters, orders, pages and includes, by GET and POST', async () => {
    const more = '&_sort=-family&_count=1&name:missing=false&_include=Patient:organization';
    const first = await search('Patient', 'birthdate pr true', more);
    expect([idsOf(first), first.json().total]).toEqual([['peter'], 2]);
    const second = await server.send('GET', linkOf(first, 'next')!);
    expect([idsOf(second), linkOf(second, 'next')]).toEqual([['perpetua'], undefined]);
    const posted = await server.send(
      'POST',
      '/Patient/_search',
      '_filter=birthdate+pr+true&_filter=gender+pr+true',
      FORM_TYPE,
    );
    expect(idsOf(posted)).toEqual(['peter']);
    expect(linkOf(posted, 'self')).toBe('/Patient/_search');
  });

  it('over several types, and within a compartment', async () => {
    const across = await server.send(
      'GET',
      `?_type=Patient,Organization&_filter=${encodeURIComponent('_id eq zoe or _id eq beta')}`,
    );
    expect(idsOf(across).sort()).toEqual(['beta', 'zoe']);
    const part = await server.send('GET', `/Patient/peter/Observation?_filter=${encodeURIComponent('status pr true')}`);
    expect(idsOf(part)).toEqual(['sodium']);
  });

  it('what is wrong is told, and never ignored', async () => {
    const wrong = await search('Patient', 'nmae eq x');
    expect(refusalOf(wrong)).toContain(
      '400 parameter-invalid In _filter: Unknown parameter "nmae"; did you mean "name"? valid here: _id',
    );
    const lenient = await server.send('GET', '/Patient?_filter=nmae+eq+x', undefined, { prefer: 'handling=lenient' });
    expect(lenient.status).toBe(400);
    const conditional = await server.send('PUT', '/Patient?_filter=gender+eq+male', { resourceType: 'Patient' });
    expect(refusalOf(conditional)).toContain('400 parameter-invalid "_filter" may be about other resources');
  });
}
