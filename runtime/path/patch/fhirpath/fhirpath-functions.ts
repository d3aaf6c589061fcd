/**
 * Functions that paths of patches may call, and how many arguments each takes. They look at nothing but the resource,
 * and their work is in proportion to what they are given: no regular expressions, nothing that makes long texts or
 * compares all with all, and nothing that the library prints or fetches. https://hl7.org/fhirpath/N1, https://hl7.org/fhir/R5/fhirpath.html
 */
export const FUNCTIONS: ReadonlyMap<string, readonly number[]> = new Map([
  ...taking(
    [0],
    ['empty', 'not', 'allTrue', 'anyTrue', 'allFalse', 'anyFalse', 'count'],
    ['single', 'first', 'last', 'tail', 'children', 'descendants', 'hasValue', 'getValue'],
    ['upper', 'lower', 'length', 'trim', 'abs', 'ceiling', 'floor', 'truncate', 'now', 'today', 'timeOfDay'],
    ['toBoolean', 'toInteger', 'toDecimal', 'toString', 'toDate', 'toDateTime', 'toTime'],
    ['convertsToBoolean', 'convertsToInteger', 'convertsToDecimal', 'convertsToString'],
    ['convertsToDate', 'convertsToDateTime', 'convertsToTime'],
  ),
  ...taking([0, 1], ['exists']),
  ...taking(
    [1],
    ['all', 'where', 'select', 'extension', 'ofType', 'is', 'as', 'take', 'skip', 'combine'],
    ['startsWith', 'endsWith', 'contains', 'indexOf'],
  ),
  ...taking([1, 2], ['substring']),
  ...taking([2, 3], ['iif']),
]);

/** Why a function that FHIRPath has is refused, where the reason helps. */
export const REFUSALS: Readonly<Record<string, string>> = {
  resolve: 'a patch changes one resource; reach what it contains by contained.where(id = …)',
  memberOf: 'a path of a patch cannot ask a terminology server',
  trace: 'a path of a patch cannot write to the log',
  matches: 'paths of patches have no regular expressions; use =, startsWith, endsWith or contains',
  matchesFull: 'paths of patches have no regular expressions; use =, startsWith, endsWith or contains',
  repeat: 'use descendants()',
  replaceMatches: 'paths of patches have no regular expressions',
};

function taking(
  counts: readonly number[],
  ...names: readonly (readonly string[])[]
): readonly (readonly [string, readonly number[]])[] {
  return names.flat().map((name) => [name, counts] as const);
}
