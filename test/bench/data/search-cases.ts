import { fold } from '../../../runtime/indexing/values/fold.js';
import { mrn, pick, type Clinic, type Random } from './clinic.js';

/** What a column has to be, or between what. */
export type ColumnTest =
  string | number | { readonly gt?: number; readonly gte?: string | number; readonly lt?: string | number };

/** One search as a client writes it, and as somebody would write it by hand. */
export interface SearchCase {
  readonly type: string;
  /** Criteria. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly sort?: string;
  /** Columns of a table made for these searches. */
  readonly columns: Readonly<Record<string, ColumnTest>>;
  /** The column to sort by, before the id. */
  readonly order?: readonly [column: string, direction: 'ASC' | 'DESC'];
}

/** A kind of search, drawn anew each time. */
export interface CaseKind {
  readonly name: string;
  readonly draw: (random: Random, clinic: Clinic) => SearchCase;
  /**
   * Where a tenth of the data has a tenth of the matches: as many in either, some 10 to 130.
   *
   * @param isTenth whether the clinic is the small one
   */
  readonly drawAlike?: (random: Random, isTenth: boolean) => SearchCase;
}

const DAY = 86_400_000;
const UNIT = 'http://unitsofmeasure.org|mm[Hg]';
const FIRST = Date.UTC(2019, 1, 1);

/** What comes behind a system. */
const codeOf = (token: string): string => token.slice(token.indexOf('|') + 1);

/** The mix. */
export const CASES: readonly CaseKind[] = [
  {
    name: 'token, one of many',
    draw(random, { patients }) {
      const identifier = mrn(Math.floor(random() * patients.length));
      return { type: 'Patient', query: [['identifier', identifier]], columns: { mrn: codeOf(identifier) } };
    },
  },
  {
    name: 'token, one of few',
    draw(random, { codes }) {
      const code = pick(random, codes);
      return { type: 'Observation', query: [['code', code]], columns: { code: codeOf(code) } };
    },
  },
  {
    name: 'string prefix',
    draw: (random) => familyBegins(pick(random, ['Andersson', 'Bergmann', 'Donova', 'Jörski', 'Mül', 'Novf', 'Kow'])),
    drawAlike: (random, isTenth) =>
      familyBegins(
        pick(random, isTenth ? ['Ander', 'Berg', 'Dono', 'Kow'] : ['Andersson', 'Bergmann', 'Donova', 'Kowski']),
      ),
  },
  {
    name: 'date range',
    draw: (random) => within(random, 2),
    drawAlike: (random, isTenth) => within(random, isTenth ? 20 : 2),
  },
  {
    name: 'reference',
    draw(random, { patients }) {
      const patient = `Patient/${pick(random, patients)}`;
      return { type: 'Observation', query: [['patient', patient]], columns: { patient } };
    },
  },
  {
    name: 'reference and token',
    draw(random, { patients, codes }) {
      const patient = `Patient/${pick(random, patients)}`;
      const code = pick(random, codes);
      const query = [['code', code] as const, ['patient', patient] as const];
      return { type: 'Observation', query, columns: { patient, code: codeOf(code) } };
    },
  },
  {
    name: 'composite',
    draw: (random) => systolicAbove(pressure(random)),
    drawAlike: (random, isTenth) => systolicAbove(pressure(random, isTenth ? 1 : 0.1)),
  },
  {
    name: 'quantity',
    draw: (random) => pressureAbove(pressure(random)),
    drawAlike: (random, isTenth) => pressureAbove(pressure(random, isTenth ? 1 : 0.1)),
  },
  {
    name: 'sort of few',
    draw(random, { patients }) {
      const patient = `Patient/${pick(random, patients)}`;
      const query = [['patient', patient] as const];
      return { type: 'Observation', query, sort: '-date', columns: { patient }, order: ['effective', 'DESC'] };
    },
  },
  {
    name: 'sort of all',
    draw: () => ({ type: 'Patient', query: [], sort: 'birthdate', columns: {}, order: ['birth', 'ASC'] }),
  },
];

/** The Observations that are final: nine of ten. */
export const MOST: SearchCase = { type: 'Observation', query: [['status', 'final']], columns: { status: 'final' } };

/** Patients whose family name begins so. */
function familyBegins(name: string): SearchCase {
  const prefix = fold(name);
  const family = { gte: prefix, lt: `${prefix}\u{10FFFF}` };
  return { type: 'Patient', query: [['family', name]], columns: { family } };
}

/** Observations of some days. */
function within(random: Random, days: number): SearchCase {
  const from = FIRST + Math.floor(random() * 1500) * DAY;
  const to = from + days * DAY;
  const query = [`ge${dayOf(from)}`, `lt${dayOf(to)}`].map((value) => ['date', value] as const);
  return { type: 'Observation', query, columns: { effective: { gte: from, lt: to } } };
}

/** What pressures are above: 160 to 189, where 200 is the highest that there is; or nearer to that, for a share of the matches. */
function pressure(random: Random, share = 1): number {
  return Math.round((200 - (40 - Math.floor(random() * 30)) * share) * 10) / 10;
}

function systolicAbove(gt: number): SearchCase {
  const query = [['code-value-quantity', `http://loinc.org|8480-6$gt${gt}|${UNIT}`] as const];
  return { type: 'Observation', query, columns: { code: '8480-6', unit: 'mm[Hg]', value: { gt } } };
}

function pressureAbove(gt: number): SearchCase {
  const query = [['value-quantity', `gt${gt}|${UNIT}`] as const];
  return { type: 'Observation', query, columns: { unit: 'mm[Hg]', value: { gt } } };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
