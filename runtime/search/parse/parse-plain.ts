import type { SearchRow, SearchType } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import { ownMember } from '../../fhir/own-member.js';
import { MAX_PLACES, PLACE_PARSERS } from '../places/parse-places.js';
import type { PlainContext } from './criterion-context.js';
import { parseMembership } from './members.js';
import { admitsModifier, HEAD_MODIFIERS, modifiersOf, prefixesOf, LATER, takesCodes } from './modifiers.js';
import { isCodeModifier, parseCodes } from './parse-codes.js';
import { isDirection, joinHierarchies, parseHierarchy } from './parse-hierarchy.js';
import { splitPrefix } from '../query/intervals.js';
import {
  canonicalBelow,
  isCanonical,
  plainParser,
  readValue,
  VALUE_PARSERS,
  type ValueContext,
  type ValueParser,
  type ValueRow,
  splitAt,
  unescape,
} from './parse-value.js';
import {
  EVERYTHING,
  NOTHING,
  type CompositeLeaf,
  type Condition,
  type Criterion,
  type Ends,
  type ValueTest,
  type WordsTest,
} from '../query/query.js';
import { coveringOf } from '../../indexing/covering.js';
import type { IndexEntry } from '../../indexing/entry.js';
import {
  localParam,
  valuesOf,
  placesOf,
  isMembership,
  isWords,
  takesWords,
  isSearchable,
} from '../../indexing/parameter-kinds.js';
import { countWords, MOST_WORDS } from '../text/has-words.js';
import { checkLength, readBeginning, readWords, takeLength, textBudget } from '../text/parse-words.js';
import { noModifiers, notYet, unknownParameter } from './unknown-parameter.js';
import { invalidParameter } from '../../fhir/catalog/invalid-parameter.js';
import { clip, quote } from '../../fhir/quote.js';

/**
 * Reads the value of one parameter of one type: no links.
 *
 * @param name `code[:modifier]`
 * @param row what `code` stands for
 * @param label what messages call it: the name itself, or `Patient.name:exact` where a link leads to it
 * @throws FhirError as `parseCriterion`
 */
export function parsePlain(
  name: string,
  value: string,
  context: PlainContext,
  row: SearchRow,
  label = name,
): Criterion {
  const { modifier } = splitName(name);
  const { code } = row;
  if (value === '') throw invalidParameter(label, 'has no value');
  if (isMembership(code)) return parseMembership(code, modifier, value, context, label);
  if (modifier !== '' && !admitsModifier(row, modifier)) throw wrongModifier(label, modifier, row, context);
  if (name.endsWith(':')) throw wrongModifier(label, modifier, row, context);
  if (modifier !== '' && isWords(row)) throw wrongModifier(label, modifier, row, context);
  if (modifier === 'missing') return missing(label, value, row);
  const parts = splitAt(value, ',');
  const places = placesOf(row);
  const most = places === undefined ? context.maxAlternatives : Math.min(MAX_PLACES, context.maxAlternatives);
  if (row.single === true && parts.length > 1) {
    throw invalidParameter(label, `takes one value, and has ${parts.length}: its definition says multipleOr: false`);
  }
  checkComparators(label, parts, row);
  if (parts.length > most) throw invalidParameter(label, `has ${parts.length} values, and may have ${most}`);
  if (places !== undefined) {
    if (modifier !== '') throw wrongModifier(label, modifier, row, context);
    const parse = PLACE_PARSERS[places.kind];
    return { param: code, places: parts.flatMap((part) => readValue(label, part, () => parse(part))) };
  }
  if (row.type === 'composite') {
    if (modifier !== '') throw wrongModifier(label, modifier, row, context);
    const tests = parts.map((part) => compositeTests(label, part, row, context, plainParser));
    return toComposite(row, tests);
  }
  if (modifier === 'below' && isCanonical(row)) {
    return toCondition(
      code,
      parts.flatMap((part) => readValue(label, part, () => canonicalBelow(part))),
    );
  }
  if (row.type === 'reference' && isDirection(modifier) && context.hierarchy !== undefined) {
    const all = { ...context, ...context.hierarchy };
    const hierarchies = parts.map((part) => readValue(label, part, () => parseHierarchy(part, modifier, row, all)));
    return { param: code, hierarchies: joinHierarchies(hierarchies) };
  }
  if (row.type === 'token' && isCodeModifier(modifier) && takesCodes(row) && context.hierarchy !== undefined) {
    return parseCodes(code, modifier, parts, label);
  }
  if (takesWords(row, modifier)) {
    const some = readParts(label, modifier, value, parts, Math.max(most, MOST_WORDS), context);
    return { param: code, words: some.length === 1 ? some[0]! : { some } };
  }
  const { parse, target } = findParser(label, modifier, row, context);
  const condition = toCondition(
    code,
    parts.flatMap((part) => readValue(label, part, () => parse(part, target, context))),
  );
  return modifier === 'not' ? { not: condition } : condition;
}

/** Reads the values of a parameter that is asked for words. @param most words, of all of them */
function readParts(
  label: string,
  modifier: string,
  value: string,
  parts: readonly string[],
  most: number,
  { text = {} }: PlainContext,
): readonly WordsTest[] {
  const budget = (text.budget ??= textBudget());
  const isBeginning = modifier === 'text';
  const key = `${isBeginning} ${value}`;
  const known = budget.known.get(key);
  if (known !== undefined) return known;
  readValue(label, value, () => checkLength(value, most));
  readValue(label, value, () => takeLength(value, budget));
  const read = isBeginning ? readBeginning : readWords;
  let words = 0;
  const some = parts.map((part) => {
    const test = readValue(label, part, () => read(unescape(part), budget));
    words += countWords(test);
    if (words > most) throw invalidParameter(label, `has more than ${most} words`);
    return test;
  });
  budget.known.set(key, some);
  return some;
}

const COMPARED: ReadonlySet<string> = new Set(['date', 'number', 'quantity']);

/** Definitions of stored parameters may admit some prefixes only; a value without one is equal. */
function checkComparators(label: string, parts: readonly string[], row: SearchRow): void {
  if (row.isStored !== true || row.comparators === undefined || !COMPARED.has(row.type)) return;
  const admitted = prefixesOf(row);
  for (const part of parts) {
    const { prefix, rest } = splitPrefix(part);
    if (rest === part || admitted.includes(prefix)) continue;
    const text = `takes the prefixes ${admitted.join(', ') || 'none'} by its definition, not ${quote(prefix)}`;
    throw new FhirError('prefix-unknown', `The parameter ${quote(label)} ${text}`);
  }
}

/**
 * The parameter that a name with or without a modifier is about.
 *
 * @throws FhirError `parameter-unknown`
 */
export function findPlainRow(
  name: string,
  rows: ReadonlyMap<string, SearchRow>,
  isListed?: (code: string) => boolean,
): SearchRow {
  const { code, modifier } = splitName(name);
  const row = rows.get(code);
  if (row === undefined) throw unknownParameter(name, code, rows, isListed);
  if (modifier !== '' && WITHOUT_MODIFIERS.has(code)) throw noModifiers(name, code);
  if (!isSearchable(row) && !isMembership(row.code)) throw notYet(code);
  return row;
}

const WITHOUT_MODIFIERS: ReadonlySet<string> = new Set(['_filter', '_type']);

/** `code:modifier`; only the first colon counts. */
export function splitName(name: string): { readonly code: string; readonly modifier: string } {
  const colon = name.indexOf(':');
  return colon < 0 ? { code: name, modifier: '' } : { code: name.slice(0, colon), modifier: name.slice(colon + 1) };
}

interface FoundParser {
  readonly parse: ValueParser;
  readonly target: ValueRow;
}

function findParser(name: string, modifier: string, row: SearchRow, context: PlainContext): FoundParser {
  const parsers = VALUE_PARSERS[row.type];
  if (parsers === undefined) throw notYet(row.code);
  if (modifier !== '' && ownMember(HEAD_MODIFIERS, row.code)?.includes(modifier) === false)
    throw wrongModifier(name, modifier, row, context);
  const parse = Object.hasOwn(parsers, modifier) && modifier !== '[type]' ? parsers[modifier] : undefined;
  if (parse !== undefined) return { parse, target: row };
  const typed = parsers['[type]'];
  if (typed === undefined || !context.isResourceType(modifier)) throw wrongModifier(name, modifier, row, context);
  if (row.targets !== undefined && !row.targets.includes(modifier)) {
    throw invalidParameter(name, `never refers to ${modifier}, but to ${row.targets.join(', ')}`);
  }
  return { parse: typed, target: { ...row, targets: [modifier] } };
}

function wrongModifier(
  name: string,
  modifier: string,
  row: SearchRow,
  { hierarchy }: Pick<PlainContext, 'hierarchy'>,
): FhirError {
  const isLookUp = row.type === 'token' && isCodeModifier(modifier) && takesCodes(row) && hierarchy === undefined;
  const reason = isLookUp
    ? 'codes are looked up in searches of one type alone'
    : ownMember(LATER[row.type] ?? {}, modifier);
  const valid = modifiersOf(row, hierarchy).map((each) => `:${each}`);
  const what =
    reason === undefined
      ? `is of type ${row.type} and takes ${valid.join(', ') || 'no modifier'}, not :${clip(modifier)}`
      : `takes no :${modifier}: ${reason}; it takes ${valid.join(', ')}`;
  return new FhirError('modifier-unknown', `The parameter ${quote(name)} ${what}`);
}

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
  if (value !== 'true' && value !== 'false') throw invalidParameter(name, `is true or false, not ${quote(value)}`);
  const isMissing = value === 'true';
  if (row.code === '_id' || row.code === '_lastUpdated') return isMissing ? NOTHING : EVERYTHING;
  const present: IndexEntry['kind'] | undefined = valuesOf(row);
  if (present === undefined) throw notYet(row.code);
  const coveredBy = coveringOf(row);
  const own: Condition = { param: row.code, present, ...(coveredBy && { coveredBy }) };
  const there: Condition = present === 'reference' ? { some: [own, { param: localParam(row.code), present }] } : own;
  return isMissing ? { not: there } : there;
}

/** The condition of a composite, by the tests of its alternatives. */
export function toComposite(row: SearchRow, composite: CompositeLeaf['composite']): CompositeLeaf {
  const coveredBy = coveringOf(row);
  return { param: row.code, composite, ...(coveredBy && { coveredBy }) };
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
    throw invalidParameter(name, `has ${components.length} parts, ${form}, and not ${parts.length}`);
  }
  return components.map((component, i) => {
    const parse = parserOf(component.type);
    if (parse === undefined) throw notYet(name);
    const part = parts[i] ?? '';
    if (part === '') throw invalidParameter(name, `has no value for its part ${component.code}`);
    return [...readValue(name, part, () => parse(part, component, context))];
  });
}
