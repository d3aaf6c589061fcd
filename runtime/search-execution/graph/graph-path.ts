import type { PathStep } from '../../contract/search.js';
import { elementsOf, rowsByName } from '../../contract/type-rows.js';
import type { ElementRow, TypeRow } from '../../contract/types.js';
import { isObject } from '../../path/visit.js';
import { compilePath } from '../../path/compile-path.js';

/** The texts of the references that a path leads to from a resource: `Patient/1`. */
export type FollowPath = (resource: object) => readonly string[];

/** The type of a node that does not say which. */
const ANY = 'Resource';

/** One step of a path: an element or a function. */
const STEP =
  /^(?:(?<name>[a-z]\w*)|ofType\(\s*(?<of>\w+)\s*\)|where\(\s*resolve\(\)\s+is\s+(?<refers>\w+)\s*\)|extension\(\s*'(?<url>[^']*)'\s*\))(?:\.(?!$)|$)/;

/** Types of values that refer to resources. */
const REFERENCES = ['Reference', 'CodeableReference'];

/** All references of a resource. */
const EVERY = '*';

/** Limit of the combinations of types that the elements of one path may have. */
const MOST_WAYS = 256;

/**
 * Compiles the path of a link: elements by name from the resource on, with `ofType()`, `extension()` and
 * `where(resolve() is Type)` among them, or `*`. https://hl7.org/fhir/R5/graphdefinition-definitions.html#GraphDefinition.link.path
 *
 * @param type of the resources that the path begins at; `Resource`: any type, of which the path may name one
 * @returns a text where the path cannot be followed: why
 */
export function readGraphPath(text: string, type: string, types: readonly TypeRow[]): FollowPath | string {
  if (text.trim() === EVERY) return everyReference;
  const [, named, rest = ''] = /^([A-Z]\w*)\.(.*)$/s.exec(text.trim()) ?? [undefined, undefined, text.trim()];
  if (named !== undefined && type !== ANY && named !== type) return `it begins at ${named}, and its node is of ${type}`;
  const begin = named ?? type;
  const steps: PathStep[] = [];
  let ends: readonly string[] = [begin];
  for (let left = rest; left !== '';) {
    const step = STEP.exec(left)?.groups;
    if (step === undefined) return `names of elements, ofType(), extension() and where(resolve() is Type) are followed`;
    left = left.slice(STEP.exec(left)![0].length);
    if (step['refers'] !== undefined) steps.push({ refers: step['refers'] });
    else if (step['url'] !== undefined) {
      steps.push({ extension: step['url'] });
      ends = ['Extension'];
    } else if (step['of'] !== undefined) {
      const last = steps.at(-1);
      if (last === undefined || !('choose' in last)) return `ofType() follows an element that has several types`;
      const kept = Object.entries(last.choose).filter(([, of]) => of === step['of']);
      if (kept.length === 0) return `no value there is of the type ${step['of']}`;
      steps.splice(-1, 1, { choose: Object.fromEntries(kept) });
      ends = [step['of']];
    } else {
      const name = step['name']!;
      const row = ends.map((end) => elementOf(end, name, types)).find((each) => each !== undefined);
      if (row === undefined) return `${ends.join(', ')} has no element ${name}`;
      steps.push(row.choice === undefined ? { get: name } : { choose: choicesOf(row) });
      ends = row.types;
    }
  }
  if (!ends.some((end) => REFERENCES.includes(end)))
    return `it leads to ${ends.slice(0, 3).join(', ')}, and to no reference`;
  keepReferences(steps);
  const ways = steps.reduce(
    (product, step) => ('choose' in step ? product * Object.keys(step.choose).length : product),
    1,
  );
  if (ways > MOST_WAYS)
    return `its elements have more than ${MOST_WAYS} combinations of types; say which with ofType()`;
  const run = compilePath({ text, steps, types: [] });
  return (resource) => {
    const found: string[] = [];
    if (begin !== ANY && (resource as { resourceType?: unknown }).resourceType !== begin) return found;
    run(resource, (value) => {
      const reference = referenceIn(value);
      if (reference !== undefined) found.push(reference);
    });
    return found;
  };
}

/** Keeps the types of the last element that are references. */
function keepReferences(steps: PathStep[]): void {
  const last = steps.at(-1);
  if (last === undefined || !('choose' in last)) return;
  const kept = Object.entries(last.choose).filter(([, type]) => REFERENCES.includes(type));
  steps.splice(-1, 1, { choose: Object.fromEntries(kept) });
}

/** The text of every Reference in a resource, contained resources excepted. */
function everyReference(resource: object): readonly string[] {
  const found: string[] = [];
  const look = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(look);
    else if (isObject(value)) {
      if (typeof value['reference'] === 'string') found.push(value['reference']);
      Object.values(value).forEach(look);
    }
  };
  const { contained: _contained, ...own } = resource as { readonly contained?: unknown };
  look(own);
  return found;
}

/** The text of a Reference, or of the Reference in a CodeableReference. */
function referenceIn(value: unknown): string | undefined {
  const text = isObject(value) ? value['reference'] : undefined;
  return isObject(text) ? referenceIn(text) : typeof text === 'string' ? text : undefined;
}

function elementOf(type: string, name: string, types: readonly TypeRow[]): ElementRow | undefined {
  return elementsOf(type, rowsByName(types)).findLast((each) => each.name === name);
}

/** https://hl7.org/fhir/R5/formats.html#choice */
function choicesOf({ name, types }: ElementRow): Readonly<Record<string, string>> {
  return Object.fromEntries(types.map((type) => [`${name}${type.slice(0, 1).toUpperCase()}${type.slice(1)}`, type]));
}
