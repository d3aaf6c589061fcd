import type { Condition, SortKey, Target } from '../../../runtime/search/query/query.js';
import type { FindMultiTypeQuery, FindQuery } from '../../../runtime/store/store.js';
import { pick, type Clinic, type Random } from './clinic.js';
import { readConditions } from './read-conditions.js';

/** A kind of search whose matches grow with the data, drawn anew each time. */
export interface GrowthKind {
  readonly name: string;
  readonly draw: (random: Random, clinic: Clinic) => GrowthQuery;
  /** The answer itself tells of all matches, so that it may cost more where there are more. */
  readonly isOfAll?: true;
}

/** What a store is asked for. */
export type GrowthQuery = FindQuery | FindMultiTypeQuery;

/** Resources on a page. */
export const PAGE = 20;

const DAY = 86_400_000;
const BEGIN = Date.UTC(2019, 0, 1);
const DAYS = 6 * 365;
const BY_DATE: SortKey = { param: 'date', by: 'date', isDescending: true };
const SYSTOLIC = 'http://loinc.org|8480-6';
const PRESSURE = 'http://unitsofmeasure.org|mm[Hg]';
const FAMILIES = ['Berg', 'Cam', 'Ell', 'Holm', 'Kow', 'Lind'];

type Criteria = readonly (readonly [name: string, value: string])[];

function find(type: string, criteria: Criteria, more: Partial<FindQuery> = {}): FindQuery {
  return { type, where: { all: readConditions(type, criteria) }, sort: [], count: PAGE, total: 'cheap', ...more };
}

function findSeveral(parts: readonly Target[], sort: readonly SortKey[] = []): FindMultiTypeQuery {
  return { parts, sort, count: PAGE, total: 'cheap' };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Some days among all those in which things happen. */
function within(random: Random, days: number): Criteria {
  const from = BEGIN + Math.floor(random() * (DAYS - days)) * DAY;
  return [
    ['date', `ge${dayOf(from)}`],
    ['date', `lt${dayOf(from + days * DAY)}`],
  ];
}

/** From a day in the first half of the time on. */
function since(random: Random): readonly [string, string] {
  return ['date', `ge${dayOf(BEGIN + Math.floor(random() * (DAYS / 2)) * DAY)}`];
}

const code = (random: Random, { codes }: Clinic) => ['code', pick(random, codes)] as const;
const families = (random: Random) => pick(random, FAMILIES);

/** What the growth is measured of. Where a page is full in the smallest data, it is in all. */
export const GROWTH_KINDS: readonly GrowthKind[] = [
  { name: 'all of a type', draw: () => find('Observation', []) },
  { name: 'token', draw: (random, clinic) => find('Observation', [code(random, clinic)]) },
  { name: 'token of most', draw: () => find('Observation', [['status', 'final']]) },
  { name: 'token, two values', draw: (random, clinic) => find('Observation', [['code', `${code(random, clinic)[1]},${code(random, clinic)[1]}`]]) }, // prettier-ignore
  { name: 'date range', draw: (random) => find('Observation', within(random, 90)) },
  { name: 'date, half open', draw: (random) => find('Observation', [since(random)]) },
  { name: 'period', draw: (random) => find('Encounter', within(random, 1000)) },
  { name: 'composite with a bound', draw: (random) => find('Observation', [['code-value-quantity', `${SYSTOLIC}$gt${100 + Math.floor(random() * 40)}|${PRESSURE}`]]) }, // prettier-ignore
  { name: 'quantity', draw: (random) => find('Observation', [['value-quantity', `gt${90 + Math.floor(random() * 40)}|${PRESSURE}`]]) }, // prettier-ignore
  { name: 'string prefix', draw: (random) => find('Patient', [['family', `${families(random)},A,F,G,I,J,M,N`]]) },
  { name: 'string contains', draw: () => find('Patient', [['family:contains', 's']]) },
  { name: 'reference', draw: (random, { patients }) => find('Observation', [['patient', `Patient/${pick(random, patients)}`]]) }, // prettier-ignore
  { name: 'code and date', draw: (random, clinic) => find('Observation', [code(random, clinic), since(random)]) },
  { name: 'most and date range', draw: (random) => find('Observation', [['status', 'final'], ...within(random, 90)]) },
  { name: 'token :not', draw: (random, clinic) => find('Observation', [['code:not', code(random, clinic)[1]]]) },
  { name: ':missing', draw: () => find('Condition', [['abatement-date:missing', 'true']]) },
  { name: 'code or date', draw: (random, clinic) => find('Observation', [], { where: either([code(random, clinic)], within(random, 90)) }) }, // prettier-ignore
  { name: 'chain', draw: (random) => find('Observation', [['subject:Patient.family', families(random)]]) },
  { name: 'chain of two', draw: (random) => find('Observation', [['encounter.subject:Patient.family', families(random)]]) }, // prettier-ignore
  { name: 'chain and code', draw: (random, clinic) => find('Observation', [code(random, clinic), ['subject:Patient.gender', 'female']]) }, // prettier-ignore
  { name: '_has', draw: (random, clinic) => find('Patient', [['_has:Observation:subject:code', code(random, clinic)[1]]]) }, // prettier-ignore
  { name: '_has within a chain', draw: (random, clinic) => find('Encounter', [['subject:Patient._has:Observation:subject:code', code(random, clinic)[1]]]) }, // prettier-ignore
  { name: 'code, sorted by date', draw: (random, clinic) => find('Observation', [code(random, clinic)], { sort: [BY_DATE] }) }, // prettier-ignore
  { name: 'all, sorted by date', draw: () => find('Observation', [], { sort: [BY_DATE] }) },
  { name: 'all, sorted by code', draw: () => find('Observation', [], { sort: [{ param: 'code', by: 'token', isDescending: false }] }) }, // prettier-ignore
  { name: 'all, sorted by family and date', draw: () => find('Patient', [], { sort: [{ param: 'family', by: 'string', isDescending: false }, { param: 'birthdate', by: 'date', isDescending: false }] }) }, // prettier-ignore
  { name: 'several types', draw: (random) => findSeveral(['Condition', 'Observation'].map((type) => ({ type, where: { all: readConditions(type, [['_lastUpdated', `gt${1990 + Math.floor(random() * 9)}`]]) } }))) }, // prettier-ignore
  { name: 'several types by time', draw: () => findSeveral(['Condition', 'Observation'].map((type) => ({ type, where: { all: [] } })), [{ param: '_lastUpdated', by: 'updated', isDescending: true }]) }, // prettier-ignore
  { name: 'compartment', draw: (random, { patients }) => find('Observation', [], { where: refersTo(pick(random, patients), ['performer', 'subject']) }) }, // prettier-ignore
  { name: 'full text', draw: () => find('Observation', [['_content', 'heart']]) },
  { name: 'count of a code', isOfAll: true, draw: (random, clinic) => find('Observation', [code(random, clinic)], { count: 0, total: 'accurate' }) }, // prettier-ignore
];

function either(one: Criteria, other: Criteria): Condition {
  return { some: [one, other].map((criteria) => ({ all: readConditions('Observation', criteria) })) };
}

function refersTo(id: string, params: readonly string[]): Condition {
  return { some: params.map((param) => ({ param, any: [{ is: 'reference', types: ['Patient'], id }] })) };
}
