import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { checkResource } from '../../core/write/check-resource.js';

/** A batch or a transaction whose entries are not checked yet. */
export interface OpenedBundle {
  readonly bundle: Resource;
  readonly type: 'batch' | 'transaction';
  readonly entries: readonly JsonValue[];
}

/**
 * Opens the body of a request to the base as a Bundle to execute.
 *
 * @param most greatest number of entries
 * @throws FhirError `bundle-type`, `too-many-entries`, and as `checkResource`
 */
export function openBundle(body: JsonValue | undefined, most: number): OpenedBundle {
  const bundle = checkResource(body, 'Bundle', notToTheBase);
  const { type } = bundle;
  if (type !== 'batch' && type !== 'transaction') throw notExecuted(type);
  const list = bundle['entry'];
  const entries = Array.isArray(list) ? list : [];
  if (entries.length > most) {
    const text = `The Bundle has ${entries.length} entries; there may be ${most}. Send them in several Bundles`;
    throw new FhirError('too-many-entries', text, { expression: 'Bundle.entry' });
  }
  return { bundle, type, entries };
}

function notToTheBase(type: string): string {
  return `POST to the base takes a Bundle of type batch or transaction, not ${type}; POST [base]/[type] creates a resource`;
}

function notExecuted(type: JsonValue | undefined): FhirError {
  const what = typeof type === 'string' ? `of type ${JSON.stringify(type.slice(0, 64))} is` : 'without a type is';
  const text = `A Bundle ${what} not executed: batch and transaction are. POST to [base]/Bundle stores a Bundle as it is`;
  return new FhirError('bundle-type', text, { expression: 'Bundle.type' });
}

/** The Bundle without its resources. Each resource is validated by the interaction of its entry. */
export function envelopeOf({ bundle, entries }: OpenedBundle): Resource {
  if (!Array.isArray(bundle['entry'])) return bundle;
  return { ...bundle, entry: entries.map(bareEntry) };
}

/** An entry without its resource. */
export function bareEntry(entry: JsonValue): JsonValue {
  if (!isObject(entry)) return entry;
  const { resource: _resource, ...rest } = entry;
  // An entry with only a resource must not become empty, which is another fault. `readEntry` reports the missing request.
  return Object.keys(rest).length === 0 ? { fullUrl: 'urn:none' } : rest;
}
