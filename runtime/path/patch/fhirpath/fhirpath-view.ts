import { Decimal } from '../../../fhir/decimal.js';
import type { JsonValue } from '../../../fhir/resource.js';
import type { Budget } from './fhirpath-budget.js';

/**
 * Makes copies of JSON as the library reads it: numbers that kept their text become plain ones. Only for looking at;
 * what a patch changes is the original. A part that was copied before is not copied again, so that the resource need
 * not be walked for each operation.
 */
export function createView(budget: Budget): (value: JsonValue) => unknown {
  const known = new WeakMap<object, unknown>();
  const view = (value: JsonValue): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Decimal) return Number(value.text);
    let copy = known.get(value);
    if (copy === undefined) {
      budget.spend(1);
      copy = Array.isArray(value)
        ? value.map(view)
        : Object.fromEntries(Object.entries(value).map(([name, each]) => [name, view(each)]));
      known.set(value, copy);
    }
    return copy;
  };
  return view;
}
