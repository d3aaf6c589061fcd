import type { PathRow } from '../contract/search.js';
import { compileWays } from './compile-ways.js';
import type { Focus } from './visit.js';

/** Receives a value and the name of its FHIR type (empty where neither the steps nor the row tell). */
export type ValueVisit = (value: unknown, type: string) => void;

interface Reporting extends Focus {
  readonly report: ValueVisit;
}

/**
 * Compiles one row of the tables, once, into a function that visits the values which the row reaches from a
 * resource (for a component of a composite: from the composite's value), in FHIRPath's order.
 * @param root in a component's case the resource that the value is in; `#id` references are looked up there
 */
export function compilePath(row: PathRow): (start: object, visit: ValueVisit, root?: object) => void {
  const run = compileWays<Reporting>([
    {
      steps: row.steps,
      end: (told) => {
        const type = told ?? soleType(row) ?? '';
        return (value, { report }) => {
          report(value, type);
        };
      },
    },
  ]);
  return (start, visit, root = start) => {
    run(start, { root, report: visit });
  };
}

/** The type of a row's values where there is but one. */
export function soleType(row: PathRow): string | undefined {
  return row.types.length === 1 ? row.types[0] : undefined;
}
