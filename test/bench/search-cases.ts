import { fold } from '../../runtime/search/values/fold.js';
import { mrn, pick, type Clinic, type Random } from './clinic.js';

/** One search as a client writes it, and as somebody would write it by hand. */
export interface SearchCase {
  readonly type: string;
  /** Criteria. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly sort?: string;
  /** SQL behind `WHERE`, without order. */
  readonly where: string;
  readonly order?: string;
  readonly args: readonly (string | number)[];
}

/** A kind of search, drawn anew each time. */
export interface CaseKind {
  readonly name: string;
  readonly draw: (random: Random, clinic: Clinic) => SearchCase;
  /** It finds as many in ten times the data; the others find ten times as many. */
  readonly isSelective?: true;
}

const DAY = 86_400_000;
const UNIT = 'http://unitsofmeasure.org|mm[Hg]';
const FIRST = Date.UTC(2019, 1, 1);

/** The mix. */
export const CASES: readonly CaseKind[] = [
  {
    name: 'token, one of many',
    isSelective: true,
    draw(random, { patients }) {
      const identifier = mrn(Math.floor(random() * patients.length));
      return {
        type: 'Patient',
        query: [['identifier', identifier]],
        where: 'mrn = ?',
        args: [identifier.split('|')[1]!],
      };
    },
  },
  {
    name: 'token, one of few',
    draw(random, { codes }) {
      const code = pick(random, codes);
      return { type: 'Observation', query: [['code', code]], where: 'code = ?', args: [code.split('|')[1]!] };
    },
  },
  {
    name: 'string prefix',
    draw(random) {
      const name = pick(random, ['Andersson', 'Bergmann', 'Donova', 'Jörski', 'Mül', 'Novf', 'Kow']);
      const prefix = fold(name);
      return {
        type: 'Patient',
        query: [['family', name]],
        where: 'family >= ? AND family < ?',
        args: [prefix, `${prefix}\u{10FFFF}`],
      };
    },
  },
  {
    name: 'date range',
    draw(random) {
      const from = FIRST + Math.floor(random() * 1500) * DAY;
      const [low, high] = [from, from + 2 * DAY].map((time) => new Date(time).toISOString().slice(0, 10)) as [
        string,
        string,
      ];
      return {
        type: 'Observation',
        query: [
          ['date', `ge${low}`],
          ['date', `lt${high}`],
        ],
        where: 'effective >= ? AND effective < ?',
        args: [from, from + 2 * DAY],
      };
    },
  },
  {
    name: 'reference',
    isSelective: true,
    draw(random, { patients }) {
      const patient = `Patient/${pick(random, patients)}`;
      return { type: 'Observation', query: [['patient', patient]], where: 'patient = ?', args: [patient] };
    },
  },
  {
    name: 'reference and token',
    isSelective: true,
    draw(random, { patients, codes }) {
      const patient = `Patient/${pick(random, patients)}`;
      const code = pick(random, codes);
      return {
        type: 'Observation',
        query: [
          ['code', code],
          ['patient', patient],
        ],
        where: 'patient = ? AND code = ?',
        args: [patient, code.split('|')[1]!],
      };
    },
  },
  {
    name: 'composite',
    draw(random) {
      const least = 160 + Math.floor(random() * 30);
      return {
        type: 'Observation',
        query: [['code-value-quantity', `http://loinc.org|8480-6$gt${least}|${UNIT}`]],
        where: "code = '8480-6' AND unit = 'mm[Hg]' AND value > ?",
        args: [least],
      };
    },
  },
  {
    name: 'quantity',
    draw(random) {
      const least = 160 + Math.floor(random() * 30);
      return {
        type: 'Observation',
        query: [['value-quantity', `gt${least}|${UNIT}`]],
        where: "unit = 'mm[Hg]' AND value > ?",
        args: [least],
      };
    },
  },
  {
    name: 'sort of few',
    isSelective: true,
    draw(random, { patients }) {
      const patient = `Patient/${pick(random, patients)}`;
      return {
        type: 'Observation',
        query: [['patient', patient]],
        sort: '-date',
        where: 'patient = ?',
        order: 'effective DESC, id',
        args: [patient],
      };
    },
  },
  {
    name: 'sort of all',
    draw: () => ({ type: 'Patient', query: [], sort: 'birthdate', where: '1', order: 'birth, id', args: [] }),
  },
];
