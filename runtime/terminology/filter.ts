import { FhirError } from '../fhir/errors.js';
import { type JsonObject, objectsOf } from '../fhir/resource.js';
import { linearRegex, RegexFault } from '../path/evaluate/linear-regex.js';
import { canonicalOf, codeIn, isFlat, type CodeSystemIndex, type Concept } from './concepts.js';
import type { Effort } from './effort.js';

/** Longest text that a regular expression is tried on, in characters. */
const LONGEST_TEXT = 2000;

/** What the regular expression of a filter may cost on one concept: some hundredths of a second, in which nothing else goes on. */
const REGEX_STEPS = 2_000_000;

/** Steps of a regular expression that cost as much as one of `Effort`. */
const REGEX_STEPS_IN_ONE = 10;

/** A filter of a value set. */
export interface Filter {
  readonly test: (concept: Concept) => boolean;
  /** The codes outside of which no concept passes the test; absent: any may. */
  readonly among?: () => ReadonlySet<string>;
}

/**
 * Reads a filter of a value set. https://hl7.org/fhir/R5/valueset-definitions.html#ValueSet.compose.include.filter
 *
 * @throws FhirError `value-set-invalid` for an unknown operator, a code that the code system lacks, and an expression that is none or could take too long
 */
export function readFilter(filter: JsonObject, system: CodeSystemIndex, effort: Effort): Filter {
  const { property, op, value } = filter;
  if (typeof property !== 'string' || typeof op !== 'string' || typeof value !== 'string') {
    throw invalid('a filter has to have a property, an operator and a value');
  }
  if (!isKnown(property, system)) {
    throw invalid(`the code system ${system.url} has no property ${JSON.stringify(property.slice(0, 64))}`);
  }
  effort.spendText(value.length * 10);
  const isCode = property === 'code' || property === 'concept';
  const root = codeOf(system, value);
  if (BY_HIERARCHY.has(op) && system.content === 'complete' && !isFlat(system) && system.find(value) === undefined) {
    throw invalid(`the code system ${canonicalOf(system.resource)} has no code ${JSON.stringify(value.slice(0, 64))}, which a filter names`); // prettier-ignore
  }
  const below = (): ReadonlySet<string> => effort.closure('below', system, root);
  const isBelow = belowTest(system, root, effort);
  switch (op) {
    case '=':
      return { test: (concept) => valuesOf(concept, property).includes(value), ...(isCode && { among: () => new Set([value]) }) }; // prettier-ignore
    case 'exists':
      if (value !== 'true' && value !== 'false') throw invalid('the value of an "exists" filter is true or false');
      return { test: (concept) => valuesOf(concept, property).length > 0 === (value === 'true') };
    case 'is-a':
      return { test: (concept) => concept.code === root || isBelow(concept), among: () => new Set([root, ...below()]) };
    case 'descendent-of':
      return { test: isBelow, among: below };
    case 'is-not-a':
      return { test: (concept) => concept.code !== root && !isBelow(concept) };
    case 'generalizes': {
      const above = new Set([root, ...effort.closure('above', system, root)]);
      return { test: ({ code }) => above.has(code), among: () => above };
    }
    case 'child-of':
      return { test: ({ parents }) => parents.includes(root), among: () => new Set(system.find(root)?.children) };
    case 'descendent-leaf':
      return { test: (concept) => concept.children.length === 0 && isBelow(concept), among: below };
    case 'in':
    case 'not-in': {
      const listed = new Set(value.split(',').map((each) => each.trim()));
      const test = (concept: Concept): boolean => valuesOf(concept, property).some((each) => listed.has(each)) === (op === 'in'); // prettier-ignore
      return { test, ...(isCode && op === 'in' && { among: () => listed }) };
    }
    case 'regex': {
      const counted = <T>(work: (steps: { left: number }) => T): T => {
        const steps = { left: REGEX_STEPS };
        const done = understood(() => work(steps));
        effort.spend((REGEX_STEPS - steps.left) / REGEX_STEPS_IN_ONE);
        return done;
      };
      const expression = counted((steps) => linearRegex(value, steps));
      const fits = (each: string, steps: { left: number }): boolean => each.length <= LONGEST_TEXT && expression.matchesAll(each, steps); // prettier-ignore
      return { test: (concept) => counted((steps) => valuesOf(concept, property).some((each) => fits(each, steps))) };
    }
    default:
      throw invalid(`the filter operator ${JSON.stringify(op.slice(0, 32))} is none`);
  }
}

/** Operators whose value is a code. */
const BY_HIERARCHY: ReadonlySet<string> = new Set(['is-a', 'descendent-of', 'is-not-a', 'generalizes', 'child-of', 'descendent-leaf']); // prettier-ignore

/** @throws FhirError `value-set-invalid` for a fault of a regular expression */
function understood<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof RegexFault ? invalid(error.message) : error;
  }
}

/** Properties and parents of a concept that a test goes through in a step. */
const IN_ONE_STEP = 16;

/** Steps of the tests of some filters on a concept. */
export function costOfTests({ properties, parents, children }: Concept, filters: readonly Filter[]): number {
  return 1 + filters.length * (1 + (properties.length + parents.length + children.length) / IN_ONE_STEP);
}

/** The values of a property as text; `code` (or `concept`), `display` and `definition` count as properties. */
function valuesOf(concept: Concept, property: string): readonly string[] {
  if (property === 'code' || property === 'concept') return [concept.code];
  if (property === 'display') return concept.display === undefined ? [] : [concept.display];
  if (property === 'definition') return concept.definition === undefined ? [] : [concept.definition];
  if (property === 'parent') return concept.parents;
  if (property === 'child') return concept.children;
  // "default value is false" is said of this one alone: codesystem.html#defined-props
  if (property === 'inactive') return [String(concept.isInactive)];
  const own = concept.properties.filter(({ code }) => code === property).map(({ value }) => codeIn(value));
  const isFlag = property === 'notSelectable' || property === 'abstract';
  return own.length === 0 && isFlag && concept.isAbstract ? ['true'] : own;
}

/** Properties that every code system has. https://hl7.org/fhir/R5/codesystem.html#defined-props */
const EVERYWHERE: ReadonlySet<string> = new Set(
  [
    'code',
    'concept',
    'display',
    'definition',
    'parent',
    'child',
    'inactive',
    'status',
    'notSelectable',
    'abstract',
  ].concat([
    'effectiveDate',
    'deprecationDate',
    'retirementDate',
    'partOf',
    'synonym',
    'comment',
    'itemWeight',
    'subsumedBy',
  ]),
);

function isKnown(property: string, system: CodeSystemIndex): boolean {
  if (EVERYWHERE.has(property) || system.properties.has(property)) return true;
  if (objectsOf(system.resource['filter']).some(({ code }) => code === property)) return true;
  return system.usedProperties.has(property);
}

function codeOf(system: CodeSystemIndex, code: string): string {
  return system.find(code)?.code ?? code;
}

/** Concepts that are compared with those above them, before all that are below the root are looked up. */
const FEW = 16;

/** Whether a concept is below a code: of one concept it takes the way up, of many a set of all that are below. */
function belowTest(system: CodeSystemIndex, root: string, effort: Effort): (concept: Concept) => boolean {
  let [asked, below]: [number, ReadonlySet<string> | undefined] = [0, undefined];
  return ({ code }) => {
    if (code === root) return false;
    if (below === undefined && asked++ < FEW) return effort.closure('above', system, code).has(root);
    return (below ??= effort.closure('below', system, root)).has(code);
  };
}

function invalid(why: string): FhirError {
  return new FhirError('value-set-invalid', `The value set cannot be used: ${why}`);
}
