import { checkResource } from './check-structure.js';
import { createFindPlan, type StructureTables } from './compile-plan.js';
import { ERRORS } from '../fhir/errors.js';
import type { Fault } from './fault.js';
import { ValidationRun } from './run.js';

/** Settings of one validation. */
export interface ValidatorOptions {
  /** How many faults to list at most; one more says where there are others. Default: 100. */
  readonly maxFaults?: number;
}

/** Says what is wrong with the structure of a resource; an empty list where nothing is. Never throws. */
export type Validator = (resource: unknown, options?: ValidatorOptions) => readonly Fault[];

const MAX_FAULTS = 100;
const NONE: readonly Fault[] = Object.freeze([]);

/**
 * Makes the function that checks the structure of resources as JSON has it: known properties, cardinality, JSON types,
 * primitive values, siblings of primitives, choices, known types of resources within, and the rules `ele-1` and
 * `ext-1`. (Of `ele-1` one thing is waived: an object with an `id` alone passes, because the official
 * `Medication/med0301` has one; the rules tell `$validate` of it.) One fault is one entry; its parts are not judged where a value has another JSON type than it should.
 *
 * What it does not look at: other rules (`rules/create-rule-checker.ts`) and profiles. Of a narrative it knows only that it is a
 * well-formed div of XHTML.
 *
 * Numbers may be plain or `Decimal`. Types are compiled when they first come.
 * https://hl7.org/fhir/R5/json.html, https://hl7.org/fhir/R5/datatypes.html
 */
export function createValidator(tables: StructureTables): Validator {
  const find = createFindPlan(tables);
  const types = new Set(tables.resourceTypes);
  let idle: ValidationRun | undefined;
  return (resource, { maxFaults = MAX_FAULTS } = {}) => {
    // One run serves all calls as long as it found nothing.
    const run =
      maxFaults === MAX_FAULTS
        ? (idle ??= new ValidationRun(maxFaults, find, types))
        : new ValidationRun(maxFaults, find, types);
    run.start(rootName(resource));
    checkResource(resource, run);
    if (run.faults.length === 0 && !run.isFull) return NONE;
    idle = undefined;
    return run.isFull ? [...run.faults, moreFaults(run)] : run.faults;
  };
}

function moreFaults(run: ValidationRun): Fault {
  const { issue } = ERRORS['more-faults'];
  const text = `There are more faults than the ${run.faults.length} listed`;
  return { code: 'more-faults', issue, text, expression: run.root, path: [] };
}

/** What expressions start with: the type; where the resource has none that could be one, the name of all types. */
function rootName(resource: unknown): string {
  const type: unknown = (resource as { resourceType?: unknown } | null | undefined)?.resourceType;
  return typeof type === 'string' && /^[A-Z][A-Za-z]{0,63}$/.test(type) ? type : 'Resource';
}
