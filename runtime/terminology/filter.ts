import { FhirError } from '../fhir/errors.js';
import type { JsonObject } from '../fhir/resource.js';
import { linearRegex, RegexFault } from '../path/library/linear-regex.js';
import { ancestorsOf, codeIn, descendantsOf, objectsOf, type CodeSystemIndex, type Concept } from './concepts.js';

/** Longest text that a regular expression is tried on, in characters. */
const LONGEST_TEXT = 2000;

/** What the regular expression of a filter may cost on one concept: some hundredths of a second, in which nothing else goes on. */
const EFFORT = 2_000_000;

/**
 * The test behind a filter of a value set. https://hl7.org/fhir/R5/valueset-definitions.html#ValueSet.compose.include.filter
 *
 * @throws FhirError `value-set-invalid` for an unknown operator, and an expression that is none or could take too long
 */
export function filterTest(filter: JsonObject, system: CodeSystemIndex): (concept: Concept) => boolean {
  const { property, op, value } = filter;
  if (typeof property !== 'string' || typeof op !== 'string' || typeof value !== 'string') {
    throw invalid('a filter has to have a property, an operator and a value');
  }
  if (!isKnown(property, system)) {
    throw invalid(`the code system ${system.url} has no property ${JSON.stringify(property.slice(0, 64))}`);
  }
  const among = (codes: ReadonlySet<string>) => (concept: Concept) => codes.has(concept.code);
  switch (op) {
    case '=':
      return (concept) => valuesOf(concept, property).includes(value);
    case 'exists':
      return (concept) => valuesOf(concept, property).length > 0 === (value === 'true');
    case 'is-a': {
      const [root, isBelow] = [codeOf(system, value), belowTest(system, value)];
      return (concept) => concept.code === root || isBelow(concept);
    }
    case 'descendent-of':
      return belowTest(system, value);
    case 'is-not-a': {
      const [root, isBelow] = [codeOf(system, value), belowTest(system, value)];
      return (concept) => concept.code !== root && !isBelow(concept);
    }
    case 'generalizes':
      return among(new Set([codeOf(system, value), ...ancestorsOf(system, value)]));
    case 'child-of': {
      const parent = codeOf(system, value);
      return (concept) => concept.parents.includes(parent);
    }
    case 'descendent-leaf': {
      const isBelow = belowTest(system, value);
      return (concept) => concept.children.length === 0 && isBelow(concept);
    }
    case 'in':
    case 'not-in': {
      const listed = new Set(value.split(',').map((each) => each.trim()));
      return (concept) => valuesOf(concept, property).some((each) => listed.has(each)) === (op === 'in');
    }
    case 'regex': {
      const expression = understood(() => linearRegex(value));
      return (concept) => {
        const effort = { left: EFFORT };
        const fits = (each: string): boolean => each.length <= LONGEST_TEXT && expression.matches(each, effort);
        return understood(() => valuesOf(concept, property).some(fits));
      };
    }
    default:
      throw invalid(`the filter operator ${JSON.stringify(op.slice(0, 32))} is none`);
  }
}

/** @throws FhirError `value-set-invalid` for a fault of a regular expression */
function understood<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof RegexFault ? invalid(error.message) : error;
  }
}

/** The values of a property as text; `code` (or `concept`), `display` and `definition` count as properties. */
function valuesOf(concept: Concept, property: string): readonly string[] {
  if (property === 'code' || property === 'concept') return [concept.code];
  if (property === 'display') return concept.display === undefined ? [] : [concept.display];
  if (property === 'definition') return concept.definition === undefined ? [] : [concept.definition];
  if (property === 'parent') return concept.parents;
  if (property === 'child') return concept.children;
  if (property === 'inactive') return [String(concept.isInactive)];
  if (property === 'notSelectable' || property === 'abstract') return [String(concept.isAbstract)];
  return concept.properties.filter(({ code }) => code === property).map(({ value }) => codeIn(value));
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

function isKnown(property: string, { properties, concepts, resource }: CodeSystemIndex): boolean {
  if (EVERYWHERE.has(property) || properties.has(property)) return true;
  if (objectsOf(resource['filter']).some(({ code }) => code === property)) return true;
  for (const concept of concepts.values()) if (concept.properties.some(({ code }) => code === property)) return true;
  return false;
}

function codeOf(system: CodeSystemIndex, code: string): string {
  return system.find(code)?.code ?? code;
}

/** Concepts that are compared with those above them, before all that are below the value are looked up. */
const FEW = 16;

/** Whether a concept is below a code: of one concept it takes the way up, of many a set of all that are below. */
function belowTest(system: CodeSystemIndex, value: string): (concept: Concept) => boolean {
  const root = codeOf(system, value);
  let [asked, below]: [number, ReadonlySet<string> | undefined] = [0, undefined];
  return ({ code }) => {
    if (code === root) return false;
    if (below === undefined && asked++ < FEW) return ancestorsOf(system, code).has(root);
    return (below ??= descendantsOf(system, value)).has(code);
  };
}

function invalid(why: string): FhirError {
  return new FhirError('value-set-invalid', `The value set cannot be used: ${why}`);
}
