import type { Evaluate, MakeFunction } from './function-types.js';
import { childrenOf, counted, gathered, spend, spendReading, type Environment } from './environment.js';
import { distinct, keysOf } from './compare.js';
import {
  PathItem,
  isJson,
  isNumber,
  NONE,
  ofBoolean,
  ofNumber,
  ofQuantity,
  ofText,
  toBoolean,
  toNumber,
  toText,
  type Items,
} from './item.js';
import { boundary } from './boundaries.js';
import { resourceKey } from './keys.js';
import { calendarUnit, isOnCalendar } from './times.js';
import { TEXT_FUNCTIONS } from './text-functions.js';

const NOTHING: Evaluate = () => NONE;

/** Values that a round of `repeat()` costs as much as, for each value: what was found is kept. */
const OF_ROUND = 3;

/** What counts as a boolean, numbers too. http://hl7.org/fhirpath/N1/#toboolean-boolean */
const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ...['true', 't', 'yes', 'y', '1', '1.0'].map((text) => [text, true] as const),
  ...['false', 'f', 'no', 'n', '0', '0.0'].map((text) => [text, false] as const),
]);

/** What `toInteger()` and the like make of one value; nothing, where it is none. http://hl7.org/fhirpath/N1/#conversion */
const CONVERSIONS: readonly (readonly [type: string, convert: (input: Items) => Items])[] = [
  ['Integer', (input) => ofNumber(toWhole(input))],
  ['Decimal', (input) => ofNumber(toNumber(input) ?? numberOf(toText(input)))],
  ['String', (input) => (input.length === 1 && isPrimitive(input[0]?.value) ? ofText(String(input[0]?.value)) : NONE)],
  ['Boolean', (input) => (input.length === 1 ? ofBoolean(TRUTHS.get(String(input[0]?.value).toLowerCase())) : NONE)],
  ['Date', (input) => ofTime(input, 'System.Date', /^\d{4}(?:-\d\d){0,2}(?=T\d|$)/)],
  ['DateTime', (input) => ofTime(input, 'System.DateTime', /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)?)?)?)?$/)],
  ['Quantity', (input) => toQuantity(input)],
  ['Time', (input) => ofTime(input, 'System.Time', /^\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?$/)],
]; // prettier-ignore

function ofTime(input: Items, type: string, form: RegExp): Items {
  const text = form.exec(toText(input) ?? '')?.[0];
  return text === undefined || !isOnCalendar(text) ? NONE : [new PathItem(text, type)];
}

/** A number, or a text such as `5 'mg'`, as a quantity. */
function toQuantity(input: Items): Items {
  const [only] = input;
  if (only === undefined || input.length > 1) return NONE;
  if (isJson(only.value)) return only.type.endsWith('Quantity') ? input : NONE;
  const [, number, code, word] = /^([+-]?\d+(?:\.\d+)?)\s*(?:'([^']+)'|([a-z]+))?$/.exec(String(only.value)) ?? [];
  if (number === undefined) return NONE;
  const unit = word === undefined ? (code ?? '1') : calendarUnit(word);
  return unit === undefined ? NONE : [ofQuantity(number, unit)];
}

/** Functions of FHIRPath that rules use. http://hl7.org/fhirpath/N1/#functions, https://hl7.org/fhir/R5/fhirpath.html */
export const FUNCTIONS: ReadonlyMap<string, MakeFunction> = new Map<string, MakeFunction>([
  ...TEXT_FUNCTIONS,
  ['empty', () => (input) => ofBoolean(input.length === 0)],
  ['exists', ([criteria]) => (input, environment) => ofBoolean(filter(input, criteria, environment).length > 0)],
  ['not', () => (input) => {
      const value = toBoolean(input);
      return ofBoolean(value === undefined ? undefined : !value);
    }],
  ['count', () => (input) => ofNumber(input.length)],
  ['where', ([criteria]) => (input, environment) => filter(input, criteria, environment)],
  ['select', ([project = NOTHING]) => (input, environment) =>
      atEach(input, environment, () =>
        gathered(input, environment, (item, i) => project(at(item, i, environment), environment)))],
  ['all', ([criteria = NOTHING]) => (input, environment) =>
      ofBoolean(atEach(input, environment, () =>
        input.every((item, i) => toBoolean(criteria(at(item, i, environment), environment)) === true)))],
  ['allTrue', () => (input) => ofBoolean(input.every(({ value }) => value === true))],
  ['anyTrue', () => (input) => ofBoolean(input.some(({ value }) => value === true))],
  ['allFalse', () => (input) => ofBoolean(input.every(({ value }) => value === false))],
  ['anyFalse', () => (input) => ofBoolean(input.some(({ value }) => value === false))],
  ['first', () => (input) => input.slice(0, 1)],
  ['last', () => (input) => input.slice(-1)],
  ['tail', () => (input, environment) => counted(input.slice(1), environment)],
  ['single', () => (input, environment) => {
      if (input.length > 1) environment.isMistaken = true;
      return input.length === 1 ? input : NONE;
    }],
  ['skip', ([count = NOTHING]) => (input, environment, outer) =>
      counted(input.slice(Math.max(0, toNumber(count(outer, environment)) ?? 0)), environment)],
  ['take', ([count = NOTHING]) => (input, environment, outer) =>
      counted(input.slice(0, Math.max(0, toNumber(count(outer, environment)) ?? 0)), environment)],
  ['distinct', () => (input, environment) => distinct(input, environment)],
  ['isDistinct', () => (input, environment) =>
      ofBoolean(input.length < 2 || new Set(keysOf(input, environment)).size === input.length)],
  ['union', ([other = NOTHING]) => (input, environment, outer) => distinct(combined(input, other(outer, environment), environment), environment)],
  ['combine', ([other = NOTHING]) => (input, environment, outer) => combined(input, other(outer, environment), environment)],
  ['intersect', ([other = NOTHING]) => (input, environment, outer) => {
      const isAmong = amongst(other(outer, environment), environment);
      return distinct(input.filter(isAmong(input)), environment);
    }],
  ['exclude', ([other = NOTHING]) => (input, environment, outer) => {
      const isAmong = amongst(other(outer, environment), environment)(input);
      return input.filter((_item, i) => !isAmong(_item, i));
    }],
  ['subsetOf', ([other = NOTHING]) => (input, environment, outer) =>
      ofBoolean(input.every(amongst(other(outer, environment), environment)(input)))],
  ['supersetOf', ([other = NOTHING]) => (input, environment, outer) => {
      const some = other(outer, environment);
      return ofBoolean(some.every(amongst(input, environment)(some)));
    }],
  ['aggregate', ([step = NOTHING, initial]) => (input, environment, outer) => {
      const { total } = environment;
      environment.total = initial?.(outer, environment) ?? NONE;
      atEach(input, environment, () => {
        for (const [i, item] of input.entries()) environment.total = step(at(item, i, environment), environment);
      });
      const found = environment.total;
      environment.total = total;
      return found;
    }],
  ['children', () => allChildrenOf],
  ['descendants', () => (input, environment) => {
      const found: PathItem[] = [];
      for (let level = allChildrenOf(input, environment); level.length > 0; level = allChildrenOf(level, environment)) {
        for (const item of level) found.push(item);
      }
      return found;
    }],
  ['repeat', ([project = NOTHING]) => (input, environment) => {
      const found: PathItem[] = [];
      const seen = new Set<unknown>();
      for (let level = input; level.length > 0;) {
        const next = gathered(level, environment, (item) => project([item], environment), OF_ROUND);
        level = next.filter(({ value }) => {
          const { size } = seen;
          return seen.add(value).size > size;
        });
        for (const item of level) found.push(item);
      }
      return found;
    }],
  ['iif', ([criterion = NOTHING, then = NOTHING, otherwise = NOTHING]) => (input, environment, outer) => {
      // Of a call without anything before it the focus is that of the whole expression.
      const focus = input === outer ? outer : input;
      return (toBoolean(criterion(focus, environment)) === true ? then : otherwise)(focus, environment);
    }],
  ['trace', () => (input) => input],
  ['hasValue', () => (input) => ofBoolean(input.length === 1 && isPrimitive(input[0]?.value))],
  ['getValue', () => (input) => (input.length === 1 && isPrimitive(input[0]?.value) ? input : NONE)],
  ['extension', ([url = NOTHING]) => (input, environment, outer) => {
      const wanted = toText(url(outer, environment));
      const add = (item: PathItem, found: PathItem[]): void => environment.schema.children(item, 'extension', found);
      return childrenOf(input, environment, add).filter(({ value }) => (value as { url?: unknown }).url === wanted);
    }],
  ['resolve', () => (input, environment) => input.flatMap((item) => {
      const target = environment.resolve(item);
      if (target === undefined) environment.isUndecided = true;
      return target ?? [];
    })],
  ['memberOf', ([url = NOTHING]) => (input, environment, outer) => {
      const [code] = input;
      const valueSet = toText(url(outer, environment));
      if (code === undefined || input.length > 1 || valueSet === undefined) return NONE;
      const is = environment.isMember(code, valueSet);
      if (is === undefined) environment.isUndecided = true;
      return ofBoolean(is);
    }],
  ['conformsTo', ([url = NOTHING]) => (input, environment, outer) => {
      const [value] = input;
      const canonical = toText(url(outer, environment));
      if (value === undefined || input.length > 1 || canonical === undefined) return NONE;
      const is = environment.conforms?.(value, canonical);
      if (is === undefined) environment.isUndecided = true;
      return ofBoolean(is);
    }],
  ['comparable', () => () => ofBoolean(true)],
  ['abs', () => (input) => ofNumber(mapNumber(input, Math.abs))],
  ['ceiling', () => (input) => ofNumber(mapNumber(input, Math.ceil))],
  ['floor', () => (input) => ofNumber(mapNumber(input, Math.floor))],
  ['truncate', () => (input) => ofNumber(mapNumber(input, Math.trunc))],
  ['round', ([places]) => (input, environment, outer) => {
      const scale = 10 ** (places === undefined ? 0 : (toNumber(places(outer, environment)) ?? 0));
      return ofNumber(mapNumber(input, (number) => Math.round(number * scale) / scale));
    }],
  ['sqrt', () => (input) => ofNumber(mapNumber(input, Math.sqrt))],
  ['exp', () => (input) => ofNumber(mapNumber(input, Math.exp))],
  ['ln', () => (input) => ofNumber(mapNumber(input, Math.log))],
  ['power', ([exponent = NOTHING]) => (input, environment, outer) =>
      ofNumber(mapNumber(input, (number) => number ** (toNumber(exponent(outer, environment)) ?? NaN)))],
  ['log', ([base = NOTHING]) => (input, environment, outer) =>
      ofNumber(mapNumber(input, (number) => Math.log(number) / Math.log(toNumber(base(outer, environment)) ?? NaN)))],
  ['lowBoundary', () => (input) => boundary(input, 'low')],
  ['highBoundary', () => (input) => boundary(input, 'high')],
  ['getResourceKey', () => (input) => resourceKey(input)],
  ['now', () => (_input, environment) => nowAs('System.DateTime', ({ length }) => [0, length], environment)],
  ['today', () => (_input, environment) => nowAs('System.Date', () => [0, 10], environment)],
  ['timeOfDay', () => (_input, environment) => nowAs('System.Time', ({ length }) => [11, length - 1], environment)],
  ...CONVERSIONS.flatMap(([type, convert]): [string, MakeFunction][] => [
    [`to${type}`, () => (input, environment) => convert(read(input, environment))],
    [`convertsTo${type}`, () => (input, environment) =>
        input.length === 1 ? ofBoolean(convert(read(input, environment)).length === 1) : NONE],
  ]),
]); // prettier-ignore

/** Counts the only text. */
function read(input: Items, environment: Environment): Items {
  const text = toText(input);
  if (text !== undefined) spendReading(environment, text);
  return input;
}

/** The time of the evaluation, as a part of its text in ISO 8601. */
function nowAs(type: string, part: (text: string) => readonly [number, number], environment: Environment): Items {
  const text = environment.now?.toISOString();
  if (text === undefined) environment.isUndecided = true;
  return text === undefined ? NONE : [new PathItem(text.slice(...part(text)), type)];
}

function filter(input: Items, criteria: Evaluate | undefined, environment: Environment): Items {
  if (criteria === undefined) return input;
  return atEach(input, environment, () =>
    input.filter((item, i) => toBoolean(criteria(at(item, i, environment), environment)) === true),
  );
}

/** Looks at each value in turn; `$index` is what it was afterwards. */
function atEach<T>(input: Items, environment: Environment, work: () => T): T {
  spend(environment, input.length);
  const { index } = environment;
  const found = work();
  environment.index = index;
  return found;
}

function at(item: PathItem, index: number, environment: Environment): Items {
  environment.index = index;
  return [item];
}

function combined(input: Items, other: Items, environment: Environment): Items {
  spend(environment, input.length + other.length);
  return [...input, ...other];
}

/** Whether items, by their positions, are among others. */
function amongst(others: Items, environment: Environment) {
  const keys = new Set(keysOf(others, environment));
  return (items: Items): ((item: PathItem, i: number) => boolean) => {
    const own = keysOf(items, environment);
    return (_item, i) => keys.has(own[i]!);
  };
}

function allChildrenOf(input: Items, environment: Environment): readonly PathItem[] {
  return childrenOf(input, environment, (item, found) => environment.schema.allChildren(item, found));
}

function isPrimitive(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || isNumber(value);
}

function mapNumber(input: Items, work: (number: number) => number): number | undefined {
  const number = toNumber(input);
  return number === undefined ? undefined : work(number);
}

function toWhole(input: Items): number | undefined {
  const [only] = input;
  if (input.length === 1 && typeof only?.value === 'boolean') return Number(only.value);
  const number = toNumber(input) ?? numberOf(toText(input));
  // Integers have 32 bits. http://hl7.org/fhirpath/N1/#integer
  return number !== undefined && number === (number | 0) ? number : undefined;
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}
