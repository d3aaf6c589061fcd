/**
 * Functions that expressions of search parameters, HFQL and GraphQL may call, and how many arguments each takes. They look at nothing but the
 * resource, find the same at any time, and their work is in proportion to what they are given. https://hl7.org/fhirpath/N1
 */
export const FUNCTIONS: ReadonlyMap<string, readonly number[]> = new Map([
  ...taking(
    [0],
    ['empty', 'not', 'allTrue', 'anyTrue', 'allFalse', 'anyFalse', 'count', 'distinct', 'isDistinct'],
    ['single', 'first', 'last', 'tail', 'children', 'descendants', 'hasValue', 'getValue'],
    ['upper', 'lower', 'length', 'trim', 'abs', 'ceiling', 'floor', 'truncate'],
    ['toBoolean', 'toInteger', 'toDecimal', 'toString', 'toDate', 'toDateTime', 'toTime', 'toQuantity'],
    ['convertsToBoolean', 'convertsToInteger', 'convertsToDecimal', 'convertsToString'],
    ['convertsToDate', 'convertsToDateTime', 'convertsToTime', 'convertsToQuantity'],
  ),
  ...taking([0, 1], ['exists', 'join', 'round']),
  ...taking(
    [1],
    ['all', 'where', 'select', 'extension', 'ofType', 'is', 'as', 'take', 'skip', 'combine', 'union'],
    ['startsWith', 'endsWith', 'contains', 'indexOf', 'split'],
  ),
  ...taking([1, 2], ['substring']),
  ...taking([2, 3], ['iif']),
]);

const REGULAR = 'there are no regular expressions here; use =, startsWith, endsWith or contains';
const LATER = 'what it gives today it does not give tomorrow; write the date or time itself';

/** Why a function that FHIRPath has is refused, where the reason helps. */
export const REFUSALS: Readonly<Record<string, string>> = {
  resolve:
    'no other resource is read; in search parameters only where(resolve() is Type) is understood, right behind a reference',
  memberOf: 'no terminology server is asked',
  trace: 'nothing is written to the log',
  matches: REGULAR,
  matchesFull: REGULAR,
  replaceMatches: REGULAR,
  repeat: 'use descendants()',
  now: LATER,
  today: LATER,
  timeOfDay: LATER,
};

function taking(
  counts: readonly number[],
  ...names: readonly (readonly string[])[]
): readonly (readonly [string, readonly number[]])[] {
  return names.flat().map((name) => [name, counts] as const);
}
