import type { Focus, Visit } from './visit.js';

/**
 * `where(…)`. Without `equals` it keeps a value from which the criterion reaches anything (`exists()`); with it, one
 * from which the criterion reaches exactly one value, and that one: in FHIRPath a comparison of collections of
 * different size is false, and one with an empty collection is empty, which drops the value as well.
 * https://hl7.org/fhirpath/N1/#where, https://hl7.org/fhirpath/N1/#equals
 * @param criterion makes the compiled criterion, which hands what it reaches to the visit it is given
 */
export function whereStep<F extends Focus>(
  criterion: (found: Visit<F>) => Visit<F>,
  equals: string | boolean | undefined,
  next: Visit<F>,
): Visit<F> {
  // Closure state, not an object per value: a criterion runs to its end before anything else happens.
  let count = 0;
  let last: unknown;
  const run = criterion((value) => {
    count++;
    last = value;
  });
  if (equals === undefined) {
    return (value, focus) => {
      count = 0;
      run(value, focus);
      if (count > 0) next(value, focus);
    };
  }
  return (value, focus) => {
    count = 0;
    run(value, focus);
    if (count === 1 && last === equals) next(value, focus);
  };
}
