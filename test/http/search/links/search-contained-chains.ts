import { beforeAll, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { idsOf, notesOf, putAll, useWholeServer } from '../../search-server.js';

const coded = (code: string) => ({ coding: [{ system: 'http://snomed.info/sct', code }] });
const to = (reference: string) => ({ reference });
const medication = (id: string, code: string, more: object = {}) => ({
  resourceType: 'Medication',
  id,
  code: coded(code),
  ...more,
});
const request = (id: string, reference: string, more: object = {}) => ({
  resourceType: 'MedicationRequest',
  id,
  status: 'active',
  intent: 'order',
  subject: to('Patient/p'),
  medication: { reference: to(reference) },
  ...more,
});
const maker = (id: string, name: string) => ({ resourceType: 'Organization', id, name });
const by = (reference: string) => ({ marketingAuthorizationHolder: to(reference) });

const DATA = [
  { resourceType: 'Patient', id: 'p', name: [{ family: 'Ann' }] },
  maker('o', 'Outside'),
  medication('m', '1', by('Organization/o')),
  request('plain', 'Medication/m'),
  request('in', '#m', { contained: [medication('m', '1')] }),
  request('other', '#m', { contained: [medication('m', '2'), medication('n', '1')] }),
  request('deep', '#m', { contained: [medication('m', '3', by('#o')), maker('o', 'Inside')] }),
  request('out', '#m', { contained: [medication('m', '4', by('Organization/o'))] }),
  request('gone', '#nothing', { contained: [medication('m', '1')] }),
  request('type', '#m', { contained: [{ resourceType: 'Substance', id: 'm', code: { concept: coded('1') } }] }),
  // Of two in one, one is about the other: a parameter that goes by the type of what is referred to knows it.
  {
    resourceType: 'List',
    id: 'two',
    status: 'current',
    mode: 'working',
    entry: [{ item: to('#obs') }],
    contained: [
      { resourceType: 'Observation', id: 'obs', status: 'final', code: coded('5'), subject: to('#pat') },
      { resourceType: 'Patient', id: 'pat', name: [{ family: 'Within' }] },
    ],
  },
  // A canonical, too, may name what is within.
  {
    resourceType: 'Measure',
    id: 'measure',
    status: 'draft',
    library: ['#lib'],
    contained: [{ resourceType: 'Library', id: 'lib', status: 'draft', title: 'Within', type: coded('x') }],
  },
];

/** Chains that lead into what is within a resource. https://hl7.org/fhir/R5/search.html#contained */
export function containedChains(data: Store): void {
  const server = useWholeServer({ store: data });
  const find = async (search: string): Promise<string> => {
    const answer = await server.send('GET', `/${search}`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json().total).toBe(idsOf(answer).length);
    return idsOf(answer).sort().join(' ');
  };

  beforeAll(() => putAll(server, DATA as Parameters<typeof putAll>[1]), 60_000);

  it.each([
    ['MedicationRequest?medication.code=1', 'in plain'],
    ['MedicationRequest?medication:Medication.code=1', 'in plain'],
    ['MedicationRequest?medication.code=1&_id=in', 'in'],
    ['MedicationRequest?medication.code=1&status=active&subject.family=ann', 'in plain'],
    ['MedicationRequest?medication.code=2', 'other'],
    ['MedicationRequest?medication.code=9', ''],
    ['MedicationRequest?medication.code:not=1', 'deep other out'],
    ['MedicationRequest?medication.code:missing=false', 'deep in other out plain'],
    // From one that is within on to another, and to one that has a place of its own.
    ['MedicationRequest?medication.marketingauthorizationholder.name=inside', 'deep'],
    ['MedicationRequest?medication.marketingauthorizationholder.name=outside', 'out plain'],
    ['MedicationRequest?medication.marketingauthorizationholder=Organization/o', 'out plain'],
    ['Patient?_has:MedicationRequest:subject:medication.code=2', 'p'],
    ['Patient?_has:MedicationRequest:subject:medication.code=9', ''],
    ['MedicationRequest?_filter=medication.code%20eq%202', 'other'],
    ['MedicationRequest?_filter=not%20(medication.code%20eq%201)', 'deep gone other out type'],
    ['MedicationRequest?_filter=medication[code%20eq%203].marketingauthorizationholder.name%20eq%20Inside', 'deep'],
    ['List?item:Observation.patient.family=within', 'two'],
    ['List?item:Observation.subject:Patient.family=within', 'two'],
    ['List?item:Observation.patient.family=other', ''],
    ['Measure?depends-on.title=within', 'measure'],
    ['Measure?depends-on:Library.title=without', ''],
    ['MedicationRequest?medication.code=1,2&_sort=-_id', 'in other plain'],
    // What has no place on the server has no id there, no time, and nothing refers to it.
    ['MedicationRequest?medication._id=m', 'plain'],
    ['MedicationRequest?medication._lastUpdated=gt2000', 'plain'],
    // References themselves lead to what has a place of its own, as ever.
    ['MedicationRequest?medication=m', 'plain'],
    // There it is, though, and can be missing only where nothing is.
    ['MedicationRequest?medication:missing=true', 'gone'],
    ['MedicationRequest?medication:missing=false', 'deep in other out plain type'],
    ['MedicationRequest?_filter=medication%20pr%20true', 'deep in other out plain type'],
    ['MedicationRequest?_filter=medication%20pr%20false', 'gone'],
    ['MedicationRequest?medication.marketingauthorizationholder:missing=false', 'deep out plain'],
    ['MedicationRequest?medication.marketingauthorizationholder:missing=true', 'in other'],
    ['Measure?depends-on:missing=false', 'measure'],
    ['List?item:missing=false', 'two'],
    ['List?item:Observation.patient:missing=false', 'two'],
  ])('%s finds %s', async (search, ids) => {
    expect(await find(search)).toBe(ids);
    const paged = await server.send('GET', `/${search}&_count=1`);
    expect([paged.status, idsOf(paged)]).toEqual([200, ids === '' ? [] : [expect.any(String)]]);
  });

  it('nothing of it comes along with includes', async () => {
    const answer = await server.send('GET', '/MedicationRequest?_id=in,plain&_include=*&_revinclude=*');
    const all = (answer.json().entry as { resource: { id: string } }[]).map(({ resource }) => resource.id);
    expect(all.sort()).toEqual(['in', 'm', 'p', 'plain']);
  });

  it('what is within is found as it is now', async () => {
    const put = (code: string) => putAll(server, [request('now', '#m', { contained: [medication('m', code)] })] as never); // prettier-ignore
    await put('77');
    expect(await find('MedicationRequest?medication.code=77')).toBe('now');
    await put('78');
    expect([await find('MedicationRequest?medication.code=77'), await find('MedicationRequest?medication.code=78')]).toEqual(['', 'now']); // prettier-ignore
    await server.send('DELETE', '/MedicationRequest/now');
    expect(await find('MedicationRequest?medication.code=78')).toBe('');
    const entry = [{ resource: request('x', '#m', { contained: [medication('m', '79')] }), request: { method: 'POST', url: 'MedicationRequest' } }]; // prettier-ignore
    expect((await server.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry })).status).toBe(200);
    expect(await find('MedicationRequest?medication.code=79')).not.toBe('');
  });

  it('a chain in a search into containers leads from one to another there', async () => {
    const search = 'Medication?marketingauthorizationholder.name=inside&_contained=true';
    expect(await find(search)).toBe('deep');
    const answer = await server.send('GET', `/${search}`);
    expect(notesOf(answer)).toEqual([]);
  });
}
