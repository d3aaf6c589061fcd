import { FhirError } from '../fhir/errors.js';
import type { JsonObject } from '../fhir/resource.js';
import { ancestorsOf, descendantsOf, type CodeSystemIndex, type Concept } from './concepts.js';

/** Longest expression, and longest text that one is tried on, in characters. */
const LONGEST = { pattern: 500, text: 2000 };

/** A group that repeats with something inside that repeats can take time without end. */
const NESTED = /\([^()]*[+*}][^()]*\)\s*[+*{]/;

/**
 * The test behind a filter of a value set. https://hl7.org/fhir/R5/valueset-definitions.html#ValueSet.compose.include.filter
 *
 * @throws FhirError `value-set-invalid` for an unknown operator, and an expression that is none or could take too long
 */
export function filterTest(filter: JsonObject, system: CodeSystemIndex): (concept: Concept) => boolean {
  const property = String(filter['property']);
  const op = String(filter['op']);
  const value = String(filter['value']);
  const among = (codes: ReadonlySet<string>) => (concept: Concept) => codes.has(concept.code);
  switch (op) {
    case '=':
      return (concept) => valuesOf(concept, property).includes(value);
    case 'exists':
      return (concept) => valuesOf(concept, property).length > 0 === (value === 'true');
    case 'is-a':
      return among(new Set([codeOf(system, value), ...descendantsOf(system, value)]));
    case 'descendent-of':
      return among(descendantsOf(system, value));
    case 'is-not-a': {
      const below = new Set([codeOf(system, value), ...descendantsOf(system, value)]);
      return (concept) => !below.has(concept.code);
    }
    case 'generalizes':
      return among(new Set([codeOf(system, value), ...ancestorsOf(system, value)]));
    case 'child-of':
      return among(new Set(system.find(value)?.children));
    case 'descendent-leaf':
      return among(new Set([...descendantsOf(system, value)].filter((code) => isLeaf(system, code))));
    case 'in':
    case 'not-in': {
      const listed = new Set(value.split(',').map((each) => each.trim()));
      return (concept) => valuesOf(concept, property).some((each) => listed.has(each)) === (op === 'in');
    }
    case 'regex': {
      const expression = compile(value);
      return (concept) =>
        valuesOf(concept, property).some((each) => each.length <= LONGEST.text && expression.test(each));
    }
    default:
      throw invalid(`the filter operator ${JSON.stringify(op.slice(0, 32))} is none`);
  }
}

/** The values of a property as text; `code` (or `concept`), `display` and `definition` count as properties. */
function valuesOf(concept: Concept, property: string): readonly string[] {
  if (property === 'code' || property === 'concept') return [concept.code];
  if (property === 'display') return concept.display === undefined ? [] : [concept.display];
  if (property === 'definition') return concept.definition === undefined ? [] : [concept.definition];
  if (property === 'parent') return concept.parents;
  if (property === 'child') return concept.children;
  return concept.properties
    .filter(({ code }) => code === property)
    .map(({ value }) =>
      typeof value === 'object' && value !== null && 'code' in value ? String(value['code']) : String(value),
    );
}

function codeOf(system: CodeSystemIndex, code: string): string {
  return system.find(code)?.code ?? code;
}

function isLeaf(system: CodeSystemIndex, code: string): boolean {
  return (system.find(code)?.children.length ?? 0) === 0;
}

function compile(pattern: string): RegExp {
  if (pattern.length > LONGEST.pattern) throw invalid(`a regular expression may have ${LONGEST.pattern} characters`);
  if (NESTED.test(pattern))
    throw invalid('a regular expression repeats a group that repeats, which could take too long');
  try {
    return new RegExp(`^(?:${pattern})$`, 'u');
  } catch {
    throw invalid(`${JSON.stringify(pattern)} is no regular expression`);
  }
}

function invalid(why: string): FhirError {
  return new FhirError('value-set-invalid', `The value set cannot be used: ${why}`);
}
