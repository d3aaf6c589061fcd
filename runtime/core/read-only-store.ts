import { FhirError } from '../fhir/errors.js';
import type { Store } from '../store/store.js';

/** Methods that change resources. */
const WRITES = ['write', 'amend', 'expunge', 'reindex', 'restore'] as const;

/**
 * Wraps a store so that no resource can be changed by whatever way a request finds to it: these methods reject with FhirError
 * `read-only`. Maps and contents of jobs stay as they are: keys of page links and files of exports are made on the way to reading.
 */
export function readOnlyStore(store: Store): Store {
  const refuse = (): Promise<never> => Promise.reject(new FhirError('read-only'));
  const properties = WRITES.map((name) => [name, { value: refuse, enumerable: true }] as const);
  return Object.create(store, Object.fromEntries(properties)) as Store;
}
