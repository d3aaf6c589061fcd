import { beforeAll, describe, expect, it } from 'vitest';

import { printCondition } from '../../../runtime/search/query/print.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import type { IncludeDirective, Store } from '../../../runtime/store/store.js';
import { placesOf, queryAcross } from './behaviour-search-across.js';
import { idsOf, key, query, sharedStore, sortedIdsOf, walk } from './behaviour-search-helpers.js';
import { directive } from './behaviour-search-include-cases.js';
import { namesOf } from './behaviour-search-includes.js';
import { all, ANY, chain, code, coded, has, ids, known, name, named, not, ref, some, type LinkCase } from './behaviour-search-link-cases.js'; // prettier-ignore
import { writeCase } from './behaviour-search-links.js';
import { put, type Subject } from '../subject.js';

const OTHER = 'http://other/fhir';

/** A reference: `Type/id`, or `Type/id/version`. */
function reference(to: string) {
  const [type, id, version] = to.split('/') as [string, string, string?];
  return { type, id, ...(version !== undefined && { version }) };
}

const own = (param: string, to: string) => ref(param, reference(to));
const other = (param: string, to: string) => ref(param, { ...reference(to), base: OTHER });

const RESOURCES: LinkCase = {
  name: 'references by absolute URLs',
  resources: {
    'Organization/o1': [named('acme'), own('part-of', 'Organization/o2'), ...known('http://acme')],
    'Organization/o2': [named('bolt'), ref('part-of', 'Organization/o3')],
    'Organization/o3': [named('core'), other('part-of', 'Organization/o1')],
    'Organization/o4': [named('dead')],
    'Organization/o5': [named('self'), own('part-of', 'Organization/o5')],
    'Patient/p1': [ref('organization', 'Organization/o1')],
    'Patient/p2': [own('organization', 'Organization/o1')],
    'Patient/p3': [other('organization', 'Organization/o1')],
    'Patient/p4': [own('organization', 'Organization/o1/1')],
    'Patient/p5': [other('organization', 'Organization/o1'), own('organization', 'Organization/o2')],
    'Patient/p6': [own('organization', 'Organization/o4')],
    'Patient/p7': [own('organization', 'Organization/o9'), own('organization', 'Device/o1')],
    'Patient/p8': [other('organization', 'Organization/o1'), own('gp', 'Organization/o1')],
    'Patient/p9': [own('organization', 'Organization/o1'), ref('organization', 'Organization/o1')],
    'Patient/pa': [ref('organization', { url: 'http://acme' }), own('organization', 'Organization/o5/9')],
    'Observation/a': [coded('x'), ref('subject', 'Patient/p1')],
    'Observation/b': [coded('x'), own('subject', 'Patient/p1')],
    'Observation/c': [coded('y'), own('subject', 'Patient/p2')],
    'Observation/d': [coded('y'), ref('subject', 'Patient/p2')],
    'Observation/e': [coded('y'), other('subject', 'Patient/p2')],
    'Observation/f': [coded('z'), own('subject', 'Patient/p5')],
    'Observation/g': [coded('z'), own('subject', 'Group/g')],
    'Group/g': [named('acme'), own('member', 'Patient/p2'), ref('member', 'Patient/p3')],
  },
  deleted: ['Organization/o4'],
  findings: [],
};

const partOf = (where: Condition) => chain('part-of', 'Organization', where);
const organization = (where: Condition) => chain('organization', 'Organization', where);
const subject = (where: Condition) => chain('subject', 'Patient', where);

const FINDINGS: readonly (readonly [type: string, where: Condition, found: string])[] = [
  ['Patient', organization(name('acme')), 'p1 p2 p4 p9 pa'],
  ['Patient', organization(ids('o1')), 'p1 p2 p4 p9 pa'],
  ['Patient', organization(ANY), 'p1 p2 p4 p5 p9 pa'],
  ['Patient', organization(name('bolt')), 'p5'],
  ['Patient', organization(name('self')), 'pa'],
  ['Patient', organization(name('dead')), ''],
  ['Patient', chain('organization', 'Device Organization', name('acme')), 'p1 p2 p4 p9 pa'], // prettier-ignore
  ['Patient', chain('organization', 'Device', ANY), ''],
  ['Patient', not(organization(ANY)), 'p3 p6 p7 p8'],
  ['Patient', some(organization(name('bolt')), chain('gp', 'Organization', name('acme'))), 'p5 p8'],
  ['Patient', organization(partOf(name('bolt'))), 'p1 p2 p4 p9 pa'],
  ['Patient', organization(partOf(partOf(name('core')))), 'p1 p2 p4 p9 pa'],
  ['Patient', organization(partOf(ids('o1'))), ''],
  ['Organization', partOf(ANY), 'o1 o2 o5'],
  ['Organization', partOf(partOf(ANY)), 'o1 o5'],
  ['Organization', has('Organization', 'part-of', ANY), 'o2 o3 o5'],
  ['Organization', has('Organization', 'part-of', has('Organization', 'part-of', ANY)), 'o3 o5'],
  ['Organization', all(partOf(ids('o5')), has('Organization', 'part-of', ids('o5'))), 'o5'],
  ['Organization', has('Patient', 'organization', ANY), 'o1 o2 o5'],
  ['Organization', has('Patient', 'organization', ids('p2')), 'o1'],
  ['Organization', has('Patient', 'organization', ids('p3')), ''],
  ['Organization', has('Patient', 'organization', ids('p5')), 'o2'],
  ['Organization', has('Patient', 'organization', ids('p6', 'p7', 'p8')), ''],
  ['Organization', has('Patient', 'organization', has('Observation', 'subject', code('y'))), 'o1'],
  ['Organization', has('Patient', 'organization', has('Observation', 'subject', code('z'))), 'o2'],
  ['Organization', not(has('Patient', 'organization', ANY)), 'o3'],
  ['Patient', has('Observation', 'subject', ANY), 'p1 p2 p5'],
  ['Patient', has('Observation', 'subject', code('y')), 'p2'],
  ['Patient', all(has('Observation', 'subject', code('x')), has('Group', 'member', ANY)), ''],
  ['Patient', all(has('Observation', 'subject', code('y')), has('Group', 'member', ANY)), 'p2'],
  ['Observation', subject(ANY), 'a b c d f'],
  ['Observation', subject(ids('p2')), 'c d'],
  ['Observation', subject(organization(name('acme'))), 'a b c d'],
  ['Observation', subject(organization(partOf(ANY))), 'a b c d f'],
  ['Observation', subject(has('Group', 'member', ANY)), 'c d'],
  ['Observation', chain('subject', 'Patient Group', name('acme')), 'g'],
  ['Observation', all(code('y'), subject(organization(ids('o1')))), 'c d'],
];

/** What comes with a page: `Type/id` of the first version. */
interface Coming {
  readonly page: string;
  readonly include: readonly IncludeDirective[];
  readonly found: string;
}

const COMING: readonly Coming[] = [
  { page: 'Patient/p1', include: [directive('Patient:organization')], found: 'Organization/o1' }, // prettier-ignore
  { page: 'Patient/p2', include: [directive('Patient:organization')], found: 'Organization/o1' },
  { page: 'Patient/p3', include: [directive('Patient:organization')], found: '' },
  { page: 'Patient/p4', include: [directive('Patient:organization')], found: 'Organization/o1' },
  { page: 'Patient/p5', include: [directive('Patient:organization')], found: 'Organization/o2' }, // prettier-ignore
  { page: 'Patient/p6+p7+p8', include: [directive('Patient:organization')], found: '' },
  { page: 'Patient/p8', include: [directive('Patient:organization+gp')], found: 'Organization/o1' },
  // There is no such version of the one that an absolute URL names.
  { page: 'Patient/pa', include: [directive('Patient:organization')], found: 'Organization/o1' }, // prettier-ignore
  { page: 'Patient/p2', include: [directive('Patient:organization', { targets: ['Device'] })], found: '' }, // prettier-ignore
  { page: 'Organization/o1', include: [directive('< Patient:organization')], found: 'Patient/p1 Patient/p2 Patient/p4 Patient/p9 Patient/pa' }, // prettier-ignore
  { page: 'Organization/o1+o2', include: [directive('< Patient:organization+gp')], found: 'Patient/p1 Patient/p2 Patient/p4 Patient/p5 Patient/p8 Patient/p9 Patient/pa' }, // prettier-ignore
  { page: 'Organization/o5', include: [directive('< Patient:organization')], found: 'Patient/pa' },
  { page: 'Organization/o5', include: [directive('Organization:part-of', { iterates: true })], found: '' }, // prettier-ignore
  { page: 'Organization/o1', include: [directive('Organization:part-of', { iterates: true })], found: 'Organization/o2 Organization/o3' }, // prettier-ignore
  { page: 'Organization/o3', include: [directive('Organization:part-of', { iterates: true })], found: '' }, // prettier-ignore
  { page: 'Organization/o3', include: [directive('< Organization:part-of', { iterates: true })], found: 'Organization/o1 Organization/o2' }, // prettier-ignore
  { page: 'Patient/p2', include: [directive('< Observation:subject'), directive('< Group:member'), directive('Group:member', { iterates: true })], found: 'Observation/c Observation/d Group/g Patient/p3' }, // prettier-ignore
  { page: 'Observation/c', include: [directive('Observation:subject'), directive('Patient:organization', { iterates: true })], found: 'Patient/p2 Organization/o1' }, // prettier-ignore
];

/**
 * References to this server have no base in the index, however they were written; what has one lies on another server, and leads nowhere.
 * https://hl7.org/fhir/R5/references.html#literal
 *
 * @param isNaive whether the store looks at each with each, so that it gets fewer
 */
export function searchOwnBaseBehaviour(on: Subject, isNaive = false): void {
  const shared = sharedStore(on);
  let store: Store;
  beforeAll(async () => {
    ({ store } = shared);
    await writeCase(store, RESOURCES);
  });

  const list = (text: string): string[] => (text === '' ? [] : text.split(' '));

  it.each(FINDINGS.map((finding) => [`${finding[0]}?${printCondition(finding[1])}`, ...finding] as const))(
    '%s',
    async (_what, type, where, found) => {
      const expected = list(found);
      const asked = query(type, { where, total: 'accurate' });
      const page = await store.find(asked);
      expect([sortedIdsOf(page), page.total]).toEqual([expected, expected.length]);
      expect(await walk(store, { ...asked, count: 1 })).toEqual(expected);
      const sort = [key('string', true, 'name'), key('id', true, '_id')];
      expect(idsOf(await store.find({ ...asked, sort })).sort()).toEqual(expected);
      const among = ids(...expected, 'p3', 'o3', 'e');
      expect(sortedIdsOf(await store.find({ ...asked, where: all(among, where) }))).toEqual(expected);
      const across = await store.findMultiType(queryAcross([{ type, where }], { total: 'accurate' }));
      expect([placesOf(across).sort(), across.total]).toEqual([expected.map((id) => `${type}/${id}`), page.total]);
    },
  );

  it('over several types', async () => {
    const parts = [
      { type: 'Observation', where: subject(ids('p2')) },
      { type: 'Organization', where: has('Patient', 'organization', ids('p2', 'p3')) },
    ];
    const include = { directives: [directive('< Patient:organization')], most: 1000, rounds: 5 };
    const page = await store.findMultiType(queryAcross(parts, { include }));
    expect(placesOf(page).sort()).toEqual(['Observation/c', 'Observation/d', 'Organization/o1']);
    expect(namesOf(page)).toEqual(['p1', 'p2', 'p4', 'p9', 'pa'].map((id) => `Patient/${id}/1`));
  });

  it.each(COMING.map((coming) => ({ ...coming, what: `${coming.page} ${JSON.stringify(coming.include)}` })))(
    'with $what',
    async ({ page: shown, include: directives, found }) => {
      const [type, asked] = shown.split('/') as [string, string];
      const include = { directives, most: 1000, rounds: 5 };
      const page = await store.find(query(type, { where: ids(...asked.split('+')), include }));
      const names = list(found).map((each) => `${each}/1`).sort(); // prettier-ignore
      expect([namesOf(page), page.cut]).toEqual([names, undefined]);
    },
  );

  it('the first of those that refer, whichever way', async () => {
    const include = (most: number) => ({ directives: [directive('< Patient:organization')], most, rounds: 5 });
    const where = ids('o1');
    const page = await store.find(query('Organization', { where, include: include(3) }));
    expect([namesOf(page), page.cut]).toEqual([['Patient/p1/1', 'Patient/p2/1', 'Patient/p4/1'], 'most']);
    const whole = await store.find(query('Organization', { where, include: include(5) }));
    expect([namesOf(whole)?.length, whole.cut]).toEqual([5, undefined]);
  });

  it('a place on another server by its base, and by no other', async () => {
    const at = (base?: string): Condition => {
      const test = { is: 'reference', types: ['Organization'], id: 'o1', ...(base !== undefined && { base }) } as const;
      return { param: 'organization', any: [test] };
    };
    const found = async (base?: string): Promise<readonly string[]> =>
      sortedIdsOf(await store.find(query('Patient', { where: at(base) })));
    expect(await found(OTHER)).toEqual(['p3', 'p5', 'p8']);
    expect(await found()).toEqual(['p1', 'p2', 'p4', 'p9']);
    expect(await found('http://unused.example')).toEqual([]);
  });

  describe('among many', () => {
    /** Hubs that many refer to, by turns in one of three ways. */
    const HUBS = isNaive ? 60 : 300;
    const MANY = 4 * HUBS;
    const ways = [
      (to: string) => ref('hub', to),
      (to: string) => own('hub', `${to}/1`),
      (to: string) => other('hub', to),
      (to: string) => own('hub', to),
    ];
    const nameOf = (n: number): string => String(n).padStart(4, '0');
    const hub = (n: number): string => `h${nameOf(n)}`;
    const spoke = (n: number): string => `s${nameOf(n)}`;
    const hubOf = (n: number): number => Math.floor(n / 4) % HUBS;
    const numbers = Array.from({ length: MANY }, (_, n) => n);
    const leads = (n: number): boolean => n % 4 !== 2;
    beforeAll(async () => {
      const hubs = numbers.slice(0, HUBS);
      await store.write(hubs.map((n) => put(hub(n), 0, 'x', [coded(n % 2 === 0 ? 'even' : 'odd')], 'Hub')));
      const spokeOf = (n: number) => [ways[n % 4]!(`Hub/${hub(hubOf(n))}`), coded(n % 3 === 0 ? 'third' : 'more')];
      await store.write(numbers.map((n) => put(spoke(n), 0, 'x', spokeOf(n), 'Spoke')));
    }, 60_000);

    it('lead where they do alone', async () => {
      const many = { count: 2000, total: 'accurate' } as const;
      const chained = await store.find(query('Spoke', { where: chain('hub', 'Hub', code('even')), ...many }));
      expect(sortedIdsOf(chained)).toEqual(numbers.filter((n) => leads(n) && hubOf(n) % 2 === 0).map(spoke));
      const both = all(code('third'), chain('hub', 'Hub', code('odd')));
      const narrowed = await store.find(query('Spoke', { where: both, ...many }));
      expect(sortedIdsOf(narrowed)).toEqual(numbers.filter((n) => leads(n) && n % 3 === 0 && hubOf(n) % 2 === 1).map(spoke)); // prettier-ignore
      const having = await store.find(query('Hub', { where: has('Spoke', 'hub', code('third')), ...many }));
      const led = new Set(numbers.filter((n) => leads(n) && n % 3 === 0).map(hubOf));
      expect(sortedIdsOf(having)).toEqual([...led].sort((a, b) => a - b).map(hub));
      const few = has('Spoke', 'hub', all(code('third'), chain('hub', 'Hub', ids(hub(0), hub(1), hub(2)))));
      const nested = await store.find(query('Hub', { where: few, ...many }));
      expect(sortedIdsOf(nested)).toEqual([0, 1, 2].filter((n) => led.has(n)).map(hub));
      const include = { directives: [directive('< Spoke:hub')], most: 1000, rounds: 0 };
      const page = await store.find(query('Hub', { ...many, include }));
      expect(namesOf(page)).toEqual(numbers.filter(leads).map((n) => `Spoke/${spoke(n)}/1`));
    });
  });
}
