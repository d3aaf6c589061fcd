import type { FindMultiTypeQuery, IncludeDirective } from '../../../runtime/store/store.js';
import { mrn, pick, type Clinic, type Random } from './clinic.js';

/** One search that links resources, as a client writes it; and what is asked for by hand. */
export interface LinkCase {
  readonly type: string;
  /** Criteria. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** References to the compartment's resource, any of them. */
  readonly compartment?: { readonly id: string; readonly params: readonly string[] };
  readonly include?: readonly IncludeDirective[];
  /** Instead of `type`: these, by time, the newest first. */
  readonly across?: readonly string[];
  /** What the queries by hand are about. */
  readonly values: readonly (string | number)[];
}

/** A kind of search, drawn anew each time. */
export interface LinkKind {
  readonly name: LinkName;
  readonly draw: (random: Random, clinic: Clinic) => LinkCase;
}

/** What there are queries by hand for. */
export type LinkName =
  'chain' | 'chain of two' | '_has' | '_include' | '_revinclude, iterated' | 'compartment' | 'system search';

const LOINC = 'http://loinc.org';

const codeOf = (token: string): string => token.slice(token.indexOf('|') + 1);

/** The mix. */
export const LINK_CASES: readonly LinkKind[] = [
  {
    name: 'chain',
    draw(random, { patients }) {
      const identifier = mrn(Math.floor(random() * patients.length));
      return {
        type: 'Observation',
        query: [['subject:Patient.identifier', identifier]],
        values: [codeOf(identifier)],
      };
    },
  },
  {
    name: 'chain of two',
    draw(random, { patients }) {
      const identifier = mrn(Math.floor(random() * patients.length));
      const query = [['encounter.subject:Patient.identifier', identifier] as const];
      return { type: 'Observation', query, values: [codeOf(identifier)] };
    },
  },
  {
    name: '_has',
    draw(random) {
      const above = 190 + Math.floor(random() * 9);
      const value = `${LOINC}|8480-6$gt${above}|http://unitsofmeasure.org|mm[Hg]`;
      return { type: 'Patient', query: [['_has:Observation:subject:code-value-quantity', value]], values: [above] };
    },
  },
  {
    name: '_include',
    draw(random, { codes }) {
      const code = pick(random, codes);
      const include = [{ isReverse: false, source: 'Observation', params: ['subject'], iterates: false }];
      return { type: 'Observation', query: [['code', code]], include, values: [codeOf(code)] };
    },
  },
  {
    name: '_revinclude, iterated',
    draw(random, { patients }) {
      const identifier = mrn(Math.floor(random() * patients.length));
      // As `readInclude` makes them.
      const include = [
        { isReverse: true, source: 'Encounter', params: ['subject'], targets: ['Group', 'Patient'], iterates: false },
        { isReverse: true, source: 'Condition', params: ['encounter'], targets: ['Encounter'], iterates: true },
      ];
      return { type: 'Patient', query: [['identifier', identifier]], include, values: [codeOf(identifier)] };
    },
  },
  {
    name: 'compartment',
    draw(random, { patients, codes }) {
      const id = pick(random, patients);
      const code = pick(random, codes);
      const compartment = { id, params: ['performer', 'subject'] };
      return { type: 'Observation', query: [['code', code]], compartment, values: [id, codeOf(code)] };
    },
  },
  {
    name: 'system search',
    draw: () => ({ type: '', query: [], across: ['Encounter', 'Patient'], values: [] }),
  },
];

/** What comes with a page, at most. */
export const INCLUDES = { most: 1000, rounds: 5 };

/** The newest of some types. */
export function acrossQuery(types: readonly string[], count: number): FindMultiTypeQuery {
  return {
    parts: types.map((type) => ({ type, where: { all: [] } })),
    sort: [{ param: '_lastUpdated', by: 'updated', isDescending: true }],
    count,
    total: 'cheap',
  };
}
