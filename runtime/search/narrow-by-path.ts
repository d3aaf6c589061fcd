import type { SearchRow } from '../contract/search.js';
import { dateInterval } from '../indexing/values/date-interval.js';
import { fold } from '../indexing/values/fold.js';
import { escapeValue } from './parse/parse-value.js';

/** A parameter that narrows a search: name, and value as it is written in a query. */
export type NarrowingParameter = readonly [name: string, value: string];

/** A comparison of the values of a path with literals. */
export interface PathTest {
  /** From the type on: `Observation.code.coding.code`. */
  readonly path: string;
  /** `=`: one of the values is equal to one of these. The others are of one time. */
  readonly operator: '=' | '<' | '<=' | '>' | '>=';
  readonly values: readonly string[];
  /** Type that the values of the path have to have; absent: any. */
  readonly type?: string;
  /** System of a code or an identifier. */
  readonly system?: string;
}

/** Values of one parameter that narrow a search, and characters of each: an index may hold the beginnings of longer ones. */
const MOST = { values: 100, characters: 200 };

/**
 * Finds a parameter by which a search finds all resources that fulfill a test, and perhaps others: the caller tests what it finds.
 *
 * @param rows search parameters of the type
 * @returns undefined: there is none
 */
export function narrowByPath(
  { path, operator, values, type: wanted, system }: PathTest,
  rows: ReadonlyMap<string, SearchRow>,
): NarrowingParameter | undefined {
  if (values.length === 0 || values.length > MOST.values || ![...values, system ?? 'x'].every(isPlain))
    return undefined;
  for (const row of rows.values()) {
    // Its expression fails on some resources, which then have no entries, and it may be deleted while an export goes on.
    if (row.isStored === true) continue;
    for (const { text, types } of row.paths) {
      const [type, ...others] = types;
      if (type === undefined || others.length > 0 || text === '' || !path.startsWith(text)) continue;
      if (type !== (wanted ?? type)) continue;
      const way = WAYS.find((each) => each.of === row.type && each.types.includes(type) && text + each.suffix === path && each.operators.includes(operator)); // prettier-ignore
      if (way === undefined || !values.every(way.fits)) continue;
      const written = values.map((value) => way.write?.(value, operator) ?? escapeValue(value));
      const prefix = system === undefined || way.hasSystem !== true ? '' : `${escapeValue(system)}|`;
      return [row.code + (way.modifier ?? ''), written.map((value) => prefix + value).join(',')];
    }
  }
  return undefined;
}

/** Sets of parameters to narrow a search by, the best first: one that cannot be read, or trusted, leaves the others. */
export function choicesOf(parameters: readonly NarrowingParameter[]): readonly (readonly NarrowingParameter[])[] {
  return parameters.length > 1 ? [parameters, ...parameters.map((each) => [each])] : [parameters];
}

function isPlain(value: string): boolean {
  return value !== '' && value === value.trim() && value.length <= MOST.characters && !LONE_SURROGATE.test(value);
}

/** UTF-8 has no such code units, so that queries and stores have others in their place. */
const LONE_SURROGATE = /\p{Cs}/u;

/** How a parameter finds values of an element. */
interface Narrowing {
  readonly of: SearchRow['type'];
  /** Types of what the parameter indexes. */
  readonly types: readonly string[];
  /** From there to the value that is compared. */
  readonly suffix: string;
  readonly operators: readonly PathTest['operator'][];
  readonly modifier?: string;
  readonly hasSystem?: true;
  readonly fits: (value: string) => boolean;
  /** Writes a value for the query; absent: as it is. */
  readonly write?: (value: string, operator: PathTest['operator']) => string;
}

const always = (): boolean => true;
const EQUAL: Narrowing['operators'] = ['='];

const WAYS: readonly Narrowing[] = [
  { of: 'token', types: ['code', 'boolean'], suffix: '', operators: EQUAL, fits: always },
  { of: 'token', types: ['Identifier'], suffix: '.value', operators: EQUAL, hasSystem: true, fits: always },
  { of: 'token', types: ['CodeableConcept'], suffix: '.coding.code', operators: EQUAL, hasSystem: true, fits: always },
  { of: 'token', types: ['Coding'], suffix: '.code', operators: EQUAL, hasSystem: true, fits: always },
  {
    of: 'string',
    types: ['string'],
    suffix: '',
    operators: EQUAL,
    modifier: ':exact',
    fits: (value) => fold(value) !== '',
  },
  {
    ...{ of: 'date', types: ['date'], suffix: '', operators: EQUAL },
    fits: (value) => value.length === 10 && dateInterval(value) !== undefined,
  },
  {
    ...{ of: 'date', types: ['date', 'dateTime', 'instant'], suffix: '', operators: ['<', '<=', '>', '>='] },
    fits: (value) => /^[1-8]/.test(value) && dateInterval(value) !== undefined,
    write: boundOf,
  },
  {
    ...{ of: 'reference', types: ['Reference'], suffix: '.reference', operators: EQUAL },
    fits: (value) => /^[A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64}$/.test(value),
  },
];

/** Days by which a bound is moved away: more than time zones are apart. */
const APART = 2;

/** The bound of a search that takes in all times which FHIRPath finds before or after one, to the day. */
function boundOf(text: string, operator: PathTest['operator']): string {
  const [year = NaN, month, day] = text.slice(0, 10).split('-').map(Number);
  const isLower = operator.startsWith('>');
  // Of a month or a year the bound is beyond its first or its last day.
  const at = isLower
    ? Date.UTC(year, (month ?? 1) - 1, (day ?? 1) - APART)
    : Date.UTC(year, (month ?? 12) - 1, (day ?? 31) + APART);
  return (isLower ? 'ge' : 'le') + new Date(at).toISOString().slice(0, 10);
}
