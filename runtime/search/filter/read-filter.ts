import type { SearchRow } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import type { CriterionContext } from '../parse/criterion-context.js';
import type { Filter, FilterTest } from '../parse/link-step.js';
import { MAX_LINKS } from '../parse/link-name.js';
import { isMembership, isWords } from '../../indexing/parameter-kinds.js';
import { readFound } from '../parse/resolve-links.js';
import { findPlainRow, compositeTests, missing, toComposite, toCondition } from '../parse/parse-plain.js';
import type { Criterion } from '../query/query.js';
import { parseCodes } from '../parse/parse-codes.js';
import { parseUnion } from '../parse/parse-union.js';
import { readValue, splitAt } from '../parse/parse-value.js';
import { countWays, resolveLinks } from '../parse/resolve-links.js';
import { prefixesOf, takesCodes } from '../parse/modifiers.js';
import {
  CODE_OPERATORS,
  isPrefix,
  LATER_OPERATORS,
  OPERATORS,
  operatorsOf,
  partParser,
  withSystem,
} from './operators.js';
import { parseFilter } from './parse-filter.js';
import { clip, quote } from '../../fhir/quote.js';

/** Name of the parameter. */
export const FILTER = '_filter';

/**
 * Reads a filter for the type that is searched. Paths that lead over references to several types are asked of those that take
 * the comparison. https://hl7.org/fhir/R5/search_filter.html
 *
 * @throws FhirError `parameter-invalid`: what of it is wrong, and what would be right. Nothing of a filter is ever ignored: without
 * a part it could find more than was asked for, or less
 */
export function readFilter(text: string, context: CriterionContext): Criterion {
  const work: Work = { room: MOST };
  try {
    const condition = read(parseFilter(text, context.links?.most ?? MAX_LINKS), context, work);
    // Where types that do not take a part are left out, this is not reported.
    if (work.room < 0) throw tooWide();
    return condition;
  } catch (error) {
    if (error instanceof FhirError) throw new FhirError('parameter-invalid', `In ${FILTER}: ${error.message}`);
    throw error;
  }
}

/** Comparisons that may still be read, each counting for all types that its path leads to: brackets multiply them. */
interface Work {
  room: number;
}

/** So much is read of one filter: each takes some 50 µs, in which no other request is served. */
const MOST = 4000;

/** What it takes to look a path up, also where it leads nowhere. */
const LOOKUP = 10;

function read(filter: Filter, context: CriterionContext, work: Work): Criterion {
  switch (filter.is) {
    case 'and':
      return { all: filter.parts.map((part) => read(part, context, work)) };
    case 'or':
      return { some: filter.parts.map((part) => read(part, context, work)) };
    case 'not':
      return { not: read(filter.filter, context, work) };
    case 'test':
      return readTest(filter, context, work);
  }
}

function readTest(test: FilterTest, context: CriterionContext, work: Work): Criterion {
  const { links } = context;
  if (--work.room < 0) throw tooWide();
  const isListed = (code: string): boolean => code !== FILTER && isComparable(context.rows.get(code));
  if (test.path.steps.length === 0) {
    const row = findPlainRow(test.path.last, context.rows, isListed);
    return parseUnion(row, context.rows, (each) => compare(test, each, context));
  }
  if (links === undefined) throw new FhirError('parameter-invalid', `${quote(test.text)} leads to other resources, which only a search of one type does: [base]/[type]?…`); // prettier-ignore
  work.room -= LOOKUP;
  const found = resolveLinks(test.path, test.text, links);
  work.room -= countWays(found);
  return readFound<Criterion>(found, {
    row: ({ type, row }) => parseUnion(row, links.definitions.rowsOf(type), (each) => compare(test, each, context)),
    within(where, filter, type) {
      const there = { ...context, rows: links.definitions.rowsOf(type), links: { ...links, type } };
      return { all: [read(filter, there, work), where] };
    },
  });
}

function tooWide(): FhirError {
  const text = `The filter compares in more than ${MOST} combinations of types; say which types are meant, as in subject:Patient[…].name`;
  return new FhirError('parameter-invalid', text);
}

/** Whether filters compare with a parameter: not with words and members. */
function isComparable(row: SearchRow | undefined): row is SearchRow {
  return row !== undefined && !isMembership(row.code) && !isWords(row);
}

function compare({ text, operator, value }: FilterTest, row: SearchRow, context: CriterionContext): Criterion {
  if (!isComparable(row))
    throw new FhirError('parameter-invalid', `${quote(text)} is a parameter by itself, beside filters`);
  if (operator === 'pr')
    return missing(`${text} pr`, value === 'true' ? 'false' : value === 'false' ? 'true' : value, row);
  if (row.type === 'composite' && operator === 'eq') {
    return toComposite(row, [compositeTests(text, withSystems(value), row, context, partParser)]);
  }
  const modifier = takesCodes(row) ? CODE_OPERATORS[operator] : undefined;
  if (modifier !== undefined) {
    if (context.hierarchy === undefined) throw new FhirError('parameter-invalid', `${quote(text)} asks for a set of codes, which only a search of one type does: [base]/[type]?…`); // prettier-ignore
    return parseCodes(row.code, modifier, [modifier.endsWith('in') ? value : withSystem(value)], text);
  }
  const reader = OPERATORS[row.type]?.[operator];
  if (reader === undefined) throw wrongOperator(text, operator, row);
  if (isPrefix(operator) && COMPARED.has(row.type) && !prefixesOf(row).includes(operator))
    throw notAdmitted(text, operator, row);
  // Ids are compared as they are.
  if (row.code === '_id') return operator === 'ne' ? { not: { ids: [value] } } : { ids: [value] };
  return toCondition(
    row.code,
    readValue(text, value, () => reader(value, row, context)),
  );
}

/** Of each part of a composite. */
function withSystems(value: string): string {
  return splitAt(value, '$').map(withSystem).join('$');
}

/** Types whose operators are the prefixes of other searches. */
const COMPARED: ReadonlySet<string> = new Set(['date', 'number', 'quantity']);

function notAdmitted(text: string, operator: string, row: SearchRow): FhirError {
  const valid = prefixesOf(row).join(', ');
  return new FhirError('parameter-invalid', `${quote(text)} does not take ${operator}: its definition admits ${valid}`);
}

function wrongOperator(text: string, operator: FilterTest['operator'], { type }: SearchRow): FhirError {
  const reason = LATER_OPERATORS[type]?.[operator];
  const why = reason === undefined ? '' : ` (${reason})`;
  const valid = operatorsOf(type).join(', ');
  return new FhirError(
    'parameter-invalid',
    `${quote(text)} is of type ${type} and does not take ${clip(operator)}${why}, but ${valid}`,
  );
}
