import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { Fault } from '../../validate/fault.js';
import type { Services } from '../../core/services.js';
import { toIssue } from '../../core/write/validate-resource.js';
import { entryPath, ofBundle } from './entry-error.js';
import { bareEntry, type OpenedBundle } from './envelope.js';

type Validate = NonNullable<Services['validate']>;

/** An entry that nothing is wrong with. */
const SOUND = { fullUrl: 'urn:none' };

/**
 * What is wrong with a batch itself, whatever its entries are: with anything else its entries can be executed, each by
 * itself.
 */
export function faultsAround({ bundle, entries }: OpenedBundle, validate: Validate): readonly Fault[] {
  const entry = bundle['entry'];
  const held = entries.length === 0 ? entry : entries.map((each) => (isObject(each) ? SOUND : each));
  return validate(held === undefined ? bundle : { ...bundle, entry: held as JsonValue[] });
}

/**
 * What is wrong with each of the entries of a batch, but for the resources in them: validated one by one, because a list of
 * faults that is cut says nothing of the entries after them.
 */
export function faultsOfEntries(
  { bundle: { resourceType, type }, entries }: OpenedBundle,
  validate: Validate,
): ReadonlyMap<number, FhirError> {
  const failures = new Map<number, FhirError>();
  for (const [index, entry] of entries.entries()) {
    const alone = { resourceType, type, entry: [bareEntry(entry)] } as Resource;
    const [first, ...others] = validate(alone).map((fault) => ofBundle(toIssue(atEntry(fault, index))));
    if (first !== undefined) failures.set(index, FhirError.of([first, ...others]));
  }
  return failures;
}

/** A fault of the only entry of a Bundle, told of its place among the others. */
function atEntry(fault: Fault, index: number): Fault {
  return { ...fault, expression: among(fault.expression, index), text: among(fault.text, index) };
}

/** What begins with the place of the only entry begins with that of another; of the Bundle itself it says nothing. */
function among(text: string, index: number): string {
  const only = entryPath(0);
  if (text === 'Bundle') return entryPath(index);
  return text.startsWith(only) ? entryPath(index) + text.slice(only.length) : text;
}
