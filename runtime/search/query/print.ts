import type {
  Interval,
  Condition,
  Ends,
  PlaceTest,
  SortKey,
  SystemTest,
  Target,
  ValueTest,
  WordsTest,
} from './query.js';

/**
 * A condition as one line of text, for `kiln explain-search` and for tests: operators in words, values as JSON, so that
 * equal text means equal conditions.
 */
export function printCondition(condition: Condition): string {
  if ('all' in condition) return condition.all.length === 0 ? 'everything' : joined(condition.all, 'and');
  if ('some' in condition) return condition.some.length === 0 ? 'nothing' : joined(condition.some, 'or');
  if ('not' in condition) return `not (${printCondition(condition.not)})`;
  if ('chain' in condition) return `${condition.param} -> ${either(condition.chain.map(printTarget))}`;
  if ('has' in condition) return `${condition.has.param} of ${printTarget(condition.has)} -> this`;
  if ('ids' in condition) return `_id in (${list(condition.ids)})`;
  if ('updated' in condition) return either(condition.updated.map((ends) => `_lastUpdated ${printEnds(ends, isoOf)}`));
  if ('present' in condition) return `${condition.param} is there`;
  if ('words' in condition) return `${condition.param} ${printWords(condition.words)}`;
  if ('any' in condition) return `${condition.param} ${either(condition.any.map(printTest))}`;
  if ('places' in condition) return `${condition.param} ${either(condition.places.map(printPlace))}`;
  const alternatives = condition.composite.map((parts) =>
    parts.map((tests) => either(tests.map(printTest))).join(' $ '),
  );
  return `${condition.param} ${either(alternatives)}`;
}

function printTarget({ type, where }: Target): string {
  return `${type} (${printCondition(where)})`;
}

/** An order as one line of text: `-birthdate, family, _id`. */
export function printSort(sort: readonly SortKey[]): string {
  return [...sort.map(({ param, isDescending }) => `${isDescending ? '-' : ''}${param}`), '_id'].join(', ');
}

function joined(conditions: readonly Condition[], word: string): string {
  return conditions.map((each) => `(${printCondition(each)})`).join(` ${word} `);
}

function either(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] ?? '') : `(${texts.join(' or ')})`;
}

function list(values: readonly string[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}

function printPlace({ latitude, longitude, ...test }: PlaceTest): string {
  const point = `latitude ${latitude}, longitude ${longitude}`;
  return test.is === 'near' ? `within ${test.distance} m of ${point}` : `around ${point}`;
}

function printWords(words: WordsTest): string {
  if ('phrase' in words) return `has ${JSON.stringify(words.phrase.join(' '))}`;
  if ('begins' in words) return `has a value that begins ${JSON.stringify(words.begins.join(' '))}`;
  if ('some' in words) return `(${words.some.map(printWords).join(' or ')})`;
  return `(${[...words.all.map(printWords), ...words.none.map((each) => `not ${printWords(each)}`)].join(' and ')})`;
}

function printTest(test: ValueTest): string {
  switch (test.is) {
    case 'token':
      return `= ${printSystem(test.system)}${test.code === undefined ? '*' : JSON.stringify(test.code)}`;
    case 'token-code-begins':
      return `code begins ${JSON.stringify(test.lower)}`;
    case 'token-any-case':
    case 'token-other': {
      const code = test.lower === undefined ? '*' : JSON.stringify(test.lower);
      return `${test.is === 'token-other' ? '!=' : '='} ${printSystem(test.system)}${code} in any case`;
    }
    case 'of-type':
      return `= ${JSON.stringify(test.value)} of type ${printSystem(test.system)}${JSON.stringify(test.code)}`;
    case 'string-begins':
      return `begins ${JSON.stringify(test.folded)}`;
    case 'string-contains':
      return `contains ${JSON.stringify(test.folded)}`;
    case 'string-ends':
      return `ends ${JSON.stringify(test.folded)}`;
    case 'string-range': {
      const { is: _is, ...bounds } = test;
      const texts = Object.entries(bounds).map(
        ([sign, text]) => `${SIGNS[sign as keyof Interval]} ${JSON.stringify(text)}`,
      );
      return texts.join(' & ');
    }
    case 'string-equals':
      return `= ${JSON.stringify(test.text)}`;
    case 'date':
      return printEnds(test, isoOf);
    case 'number':
      return printEnds(test, String);
    case 'quantity': {
      const { canonical, system, unit } = test;
      const name = canonical ?? [system, unit].filter((each) => each !== undefined).join('|');
      return `${printEnds(test, String)}${name === '' ? '' : ` ${canonical === undefined ? '' : 'canonical '}${JSON.stringify(name)}`}`;
    }
    case 'reference': {
      const { is: _is, types, ...rest } = test;
      return `-> ${types === undefined ? '' : `${types.join('|')} `}${JSON.stringify(rest)}`;
    }
    case 'identifier':
      return `-> identifier ${printSystem(test.system)}${test.value === undefined ? '*' : JSON.stringify(test.value)}`;
    case 'uri-equals':
      return `= ${JSON.stringify(test.value)}`;
    case 'uri-below':
    case 'uri-above':
      return `${test.is.slice('uri-'.length)} ${JSON.stringify(test.value)}`;
  }
}

function printSystem(system: SystemTest | undefined): string {
  if (system === undefined) return '';
  return system === null ? 'no system|' : `${JSON.stringify(system)}|`;
}

const SIGNS: Readonly<Record<keyof Interval, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

function printEnds({ low, high }: Ends, print: (value: number) => string): string {
  const ends = [...printBounds('low', low, print), ...printBounds('high', high, print)];
  return ends.length === 0 ? 'any' : ends.join(' & ');
}

function printBounds(name: string, bounds: Interval | undefined, print: (value: number) => string): string[] {
  return Object.entries(bounds ?? {}).map(
    ([sign, value]) => `${name} ${SIGNS[sign as keyof Interval]} ${print(value as number)}`,
  );
}

/** Instants that a Date can hold as such, others as numbers. */
function isoOf(time: number): string {
  return Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : String(time);
}
