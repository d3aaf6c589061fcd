import type { SearchRow, SearchType } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import type { IndexEntry } from '../entry.js';
import { localParam } from '../local-param.js';
import { valuesOf } from '../places/place-rows.js';
import { PrefixError, ValueError, type ValueContext, type ValueParser } from './parse-value.js';
import { EVERYTHING, NOTHING, type Condition, type Ends, type ValueTest } from '../query/query.js';
import { quote } from './quote.js';
import { splitAt } from './split.js';
import { notYet } from './unknown-parameter.js';

/** Steps from the values of one parameter to a condition. Messages call it by a name that they are given. */

/** Two parameters are no index entries but the head of the resource itself. */
export function toCondition(code: string, tests: readonly ValueTest[]): Condition {
  if (code === '_id') {
    // Ids have no system.
    const ids = tests.flatMap((test) =>
      test.is === 'token' && test.code !== undefined && typeof test.system !== 'string' ? [test.code] : [],
    );
    return ids.length === 0 ? NOTHING : { ids };
  }
  if (code === '_lastUpdated') {
    return { updated: tests.flatMap((test): Ends[] => (test.is === 'date' ? [endsOf(test)] : [])) };
  }
  return { param: code, any: tests };
}

function endsOf({ low, high }: Ends): Ends {
  return { ...(low !== undefined && { low }), ...(high !== undefined && { high }) };
}

/**
 * A reference to what is contained in the same resource is there, though nothing is found by it.
 * https://hl7.org/fhir/R5/search.html#modifiermissing
 */
export function missing(name: string, value: string, row: SearchRow): Condition {
  if (value !== 'true' && value !== 'false') throw invalid(name, `is true or false, not ${quote(value)}`);
  const isMissing = value === 'true';
  if (row.code === '_id' || row.code === '_lastUpdated') return isMissing ? NOTHING : EVERYTHING;
  const present: IndexEntry['kind'] | undefined = valuesOf(row);
  if (present === undefined) throw notYet(row.code);
  const own: Condition = { param: row.code, present };
  const there: Condition = present === 'reference' ? { some: [own, { param: localParam(row.code), present }] } : own;
  return isMissing ? { not: there } : there;
}

/**
 * The tests of each part of one alternative of a composite.
 *
 * @param parserOf how values of a part are read, by its type
 * @throws FhirError `parameter-invalid`, `prefix-unknown`
 */
export function compositeTests(
  name: string,
  text: string,
  { components = [] }: SearchRow,
  context: ValueContext,
  parserOf: (type: SearchType) => ValueParser | undefined,
): (readonly ValueTest[])[] {
  const parts = splitAt(text, '$');
  if (parts.length !== components.length) {
    const form = components.map((component) => component.code).join('$');
    throw invalid(name, `has ${components.length} parts, ${form}, and not ${parts.length}`);
  }
  return components.map((component, i) => {
    const parse = parserOf(component.type);
    if (parse === undefined) throw notYet(name);
    const part = parts[i] ?? '';
    if (part === '') throw invalid(name, `has no value for its part ${component.code}`);
    return [...readValue(name, part, () => parse(part, component, context))];
  });
}

/** Reads one value. @throws FhirError `parameter-invalid`, `prefix-unknown` for what cannot be one */
export function readValue<T>(name: string, text: string, read: () => T): T {
  if (text === '') throw invalid(name, 'has an empty value between its commas');
  try {
    return read();
  } catch (error) {
    if (error instanceof PrefixError) {
      throw new FhirError('prefix-unknown', `The parameter ${quote(name)} ${error.message}; it has ${quote(text)}`);
    }
    if (error instanceof ValueError) throw invalid(name, `${error.message}; it has ${quote(text)}`);
    throw error;
  }
}

/** A parameter has a value that it cannot have. */
export function invalid(name: string, what: string): FhirError {
  return new FhirError('parameter-invalid', `The parameter ${quote(name)} ${what}`);
}
