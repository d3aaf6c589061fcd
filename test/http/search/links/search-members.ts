import { beforeAll, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { idsOf, notesOf, putAll, refusalOf, useWholeServer } from '../../search-server.js';

const to = (reference: string) => ({ reference });
const patient = (id: string) => ({ resourceType: 'Patient', id, name: [{ family: id }] });
const observation = (id: string, subject: string) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { text: 'x' },
  subject: to(subject),
});
const list = (id: string, ...entry: object[]) => ({
  resourceType: 'List',
  id,
  status: 'current',
  mode: 'changes',
  entry,
});
const group = (id: string, ...member: object[]) => ({
  resourceType: 'Group',
  id,
  type: 'person',
  membership: 'enumerated',
  member,
});
const PAST = { start: '1990', end: '2000-12-31' };

const DATA = [
  ...['ann', 'bob', 'cat', 'dan', 'eve'].map(patient),
  observation('of-ann', 'Patient/ann'),
  observation('of-bob', 'Patient/bob'),
  list(
    'l',
    { item: to('Patient/ann') },
    { item: to('Patient/bob'), deleted: true },
    { item: to('Observation/of-ann') },
  ),
  list('empty'),
  group(
    'g',
    { entity: to('Patient/ann') },
    { entity: to('Patient/bob'), inactive: true },
    { entity: to('Patient/cat'), period: PAST },
    { entity: to('Patient/dan'), period: { start: '1990' } },
    // Once it was, and is again.
    { entity: to('Patient/eve'), inactive: true },
    { entity: to('Patient/eve'), period: { start: '2000', end: '2999-12-31' } },
  ),
  group('later', { entity: to('Patient/ann'), period: { start: '2999' } }, { entity: to('Patient/bob') }),
  {
    resourceType: 'CareTeam',
    id: 't',
    participant: [
      { member: to('Patient/cat') },
      { member: to('Patient/dan'), coveragePeriod: PAST },
      { role: { text: 'x' } },
    ],
  },
];

/** What Lists, Groups and CareTeams hold, whatever the store. https://hl7.org/fhir/R5/search.html#_in */
export function memberSearches(data: Store): void {
  const server = useWholeServer({ store: data });
  const get = (path: string, headers: Record<string, string> = {}) => server.send('GET', path, undefined, headers);

  beforeAll(() => putAll(server, DATA), 60_000);

  it.each([
    ['Patient?_list=l', ['ann', 'bob']],
    ['Patient?_list=List/l', ['ann', 'bob']],
    ['Observation?_list=l', ['of-ann']],
    ['Patient?_list=empty', []],
    ['Patient?_list=none', []],
    ['Patient?_list=none,l', ['ann', 'bob']],
    ['Patient?_list=l&_id=bob', ['bob']],
    ['?_list=l', ['ann', 'bob', 'of-ann']],
    ['?_list=l&_type=Observation', ['of-ann']],
    // Active members.
    ['Patient?_in=List/l', ['ann']],
    ['Patient?_in=Group/g', ['ann', 'dan', 'eve']],
    ['Patient?_in=Group/later', ['bob']],
    ['Patient?_in=Group/g,Group/later', ['ann', 'bob', 'dan', 'eve']],
    ['Patient?_in=Group/g&_in=List/l', ['ann']],
    ['Patient?_in=CareTeam/t', ['cat']],
    ['Patient?_in=CareTeam/t,List/l', ['ann', 'cat']],
    ['Patient?_in=Group/none', []],
    ['Observation?_in=Group/g', []],
    ['Patient?_in:not=Group/g', ['bob', 'cat']],
    ['Patient?_in:not=Group/none', ['ann', 'bob', 'cat', 'dan', 'eve']],
    // Of what a reference leads to.
    ['Observation?patient._in=Group/g', ['of-ann']],
    ['Observation?subject._in=Group/later', ['of-bob']],
    ['Observation?subject:Patient._list=l', ['of-ann', 'of-bob']],
    ['Patient?_has:Observation:patient:_list=l', ['ann']],
  ])('%s', async (path, ids) => {
    const answer = await get(`/${path}${path.includes('?') ? '&' : '?'}_total=accurate`);
    expect(answer.status, answer.text).toBe(200);
    expect(idsOf(answer).sort()).toEqual(ids);
    expect(answer.json().total).toBe(ids.length);
  });

  it.each([
    [
      'Patient?_list=$current-allergies',
      '400 parameter-invalid The parameter "_list" has "$current-allergies": there are no functional lists here; name a List',
    ],
    ['Patient?_list=Group/g', 'is 42 or List/42: resources of type Group have no members'],
    [
      'Patient?_list=http://elsewhere/List/l',
      'is 42 or List/42, a resource of this server, not "http://elsewhere/List/l"',
    ],
    [
      'Patient?_list=l,',
      '400 parameter-invalid The parameter "_list" is 42 or List/42, a resource of this server, not ""',
    ],
    ['Patient?_list:not=l', '400 modifier-unknown The parameter "_list" takes no modifiers; it has :not'],
    ['Patient?_in=g', 'is List/42, Group/42, CareTeam/42, a resource of this server, not "g"'],
    ['Patient?_in=Patient/ann', 'resources of type Patient have no members'],
    ['Patient?_in:missing=true', '400 modifier-unknown The parameter "_in" takes :not alone; it has :missing'],
    [
      `Patient?_in=${'Group/g,'.repeat(100)}Group/g`,
      '400 parameter-invalid The parameter "_in" has 101 values, and may have 100',
    ],
    [
      `Patient?_in=${'Group/g,'.repeat(59)}Group/g&_in=${'Group/g,'.repeat(59)}Group/g`,
      '503 too-costly _in names more than 100 resources; search by some of them at a time',
    ],
    ['?_in=Group/g', 'is asked of one type: [base]/[type]?_in=…'],
    ['Patient?_sort=_in', '400 parameter-unknown'],
    ['Observation?_filter=_in+re+Group/g', '400 parameter-invalid In _filter: "_in" is a parameter by itself'],
  ])('%s is refused', async (path, text) => {
    expect(refusalOf(await get(`/${path}`))).toContain(text);
  });

  it('changes with the resource, and is no criterion of a write', async () => {
    await server.send('PUT', '/Group/changing', group('changing', { entity: to('Patient/ann') }));
    expect(idsOf(await get('/Patient?_in=Group/changing'))).toEqual(['ann']);
    await server.send('PUT', '/Group/changing', group('changing', { entity: to('Patient/bob') }));
    expect(idsOf(await get('/Patient?_in=Group/changing'))).toEqual(['bob']);
    await server.send('DELETE', '/Group/changing');
    expect(idsOf(await get('/Patient?_in=Group/changing'))).toEqual([]);
    const refused = await server.send('DELETE', '/Patient?_in=Group/g');
    expect(refusalOf(refused)).toContain('400 parameter-invalid "_in" may be about other resources');
  });

  it('empty, it is ignored as others are, and said', async () => {
    const answer = await get('/Patient?_list=');
    expect(notesOf(answer).map(({ code }) => code)).toEqual(['parameter-empty']);
  });
}
