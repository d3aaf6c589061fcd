import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { Fault } from '../../validate/fault.js';
import type { Services } from '../../core/services.js';
import { entryPath, ofBundle } from './entry-error.js';
import { bareEntry, type OpenedBundle } from './envelope.js';

type Validate = Services['validate'];

/** An entry without faults. */
const SOUND = { fullUrl: 'urn:none' };

/**
 * Faults of a batch outside its entries. They fail the batch; a fault in an entry fails only that entry.
 */
export function faultsAround({ bundle, entries }: OpenedBundle, validate: Validate): readonly Fault[] {
  const entry = bundle['entry'];
  const held = entries.length === 0 ? entry : entries.map((each) => (isObject(each) ? SOUND : each));
  return validate(held === undefined ? bundle : { ...bundle, entry: held as JsonValue[] });
}

/**
 * Faults of the entries of a batch, without those of their resources. Entries are validated one by one, because the list of
 * faults is limited and could end before the last entry.
 */
export function faultsOfEntries(
  { bundle: { resourceType, type }, entries }: OpenedBundle,
  validate: Validate,
): ReadonlyMap<number, FhirError> {
  const failures = new Map<number, FhirError>();
  for (const [index, entry] of entries.entries()) {
    const alone = { resourceType, type, entry: [bareEntry(entry)] } as Resource;
    const [first, ...others] = validate(alone).map((fault) => ofBundle(atEntry(fault, index)));
    if (first !== undefined) failures.set(index, FhirError.of([first, ...others]));
  }
  return failures;
}

/** A fault of a Bundle with one entry, as a fault of the entry `index` of the whole Bundle. */
function atEntry(fault: Fault, index: number): Fault {
  return { ...fault, expression: among(fault.expression, index), text: among(fault.text, index) };
}

/** Replaces `Bundle`, or `Bundle.entry[0]` at the start of a text, by the path of the entry `index`. */
function among(text: string, index: number): string {
  const only = entryPath(0);
  if (text === 'Bundle') return entryPath(index);
  return text.startsWith(only) ? entryPath(index) + text.slice(only.length) : text;
}
