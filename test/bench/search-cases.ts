import { fold } from '../../runtime/search/values/fold.js';
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
    draw(random) {
      const name = pick(random, ['Andersson', 'Bergmann', 'Donova', 'Jörski', 'Mül', 'Novf', 'Kow']);
      const prefix = fold(name);
      const family = { gte: prefix, lt: `${prefix}\u{10FFFF}` };
      return { type: 'Patient', query: [['family', name]], columns: { family } };
    },
  },
  {
    name: 'date range',
    draw(random) {
      const from = FIRST + Math.floor(random() * 1500) * DAY;
      const query = [`ge${dayOf(from)}`, `lt${dayOf(from + 2 * DAY)}`].map((value) => ['date', value] as const);
      return { type: 'Observation', query, columns: { effective: { gte: from, lt: from + 2 * DAY } } };
    },
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
    draw(random) {
      const gt = 160 + Math.floor(random() * 30);
      const query = [['code-value-quantity', `http://loinc.org|8480-6$gt${gt}|${UNIT}`] as const];
      return { type: 'Observation', query, columns: { code: '8480-6', unit: 'mm[Hg]', value: { gt } } };
    },
  },
  {
    name: 'quantity',
    draw(random) {
      const gt = 160 + Math.floor(random() * 30);
      const query = [['value-quantity', `gt${gt}|${UNIT}`] as const];
      return { type: 'Observation', query, columns: { unit: 'mm[Hg]', value: { gt } } };
    },
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

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
