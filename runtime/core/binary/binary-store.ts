import { FhirError } from '../../fhir/errors.js';
import type { Limits } from '../../fhir/limits.js';
import type { Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import type { Put, StoredVersion } from '../../store/store.js';
import {
  BINARY,
  blobKey,
  decodeData,
  once,
  pointerOf,
  refusePointer,
  storeContent,
  withPointer,
} from './binary-content.js';
import type { Pointer } from './binary-content.js';
import { composePut, type PutOptions } from '../write/compose-change.js';
import { liveVersion } from '../write/preconditions.js';
import type { Services } from '../services.js';
import { validateResource } from '../write/validate-resource.js';
import { writeCurrent, type Written } from '../write/write-current.js';

/** A Binary in two parts: its content is in a blob already. */
export interface TakenBinary {
  readonly resource: Resource;
  /** Absent: it has no content. */
  readonly pointer?: Pointer;
}

/** What storing a Binary takes. */
export type BinaryServices = Pick<Services, 'store' | 'extract' | 'refit' | 'validate'> & { readonly limits: Limits };

/**
 * Takes in a Binary that came as a resource: its content goes into a blob, what is left is small.
 *
 * @param text the JSON that it was read from, for places of faults
 * @throws FhirError where it is faulty, or says itself where its content is
 */
export async function takeBinary(
  resource: Resource,
  id: string,
  services: BinaryServices,
  text?: () => string,
): Promise<TakenBinary> {
  const data = checkBinary(resource, services, text);
  if (data === undefined) return { resource };
  return { resource, pointer: await storeContent(services.store.blobs, id, once(data), services.limits.body) };
}

/**
 * Checks a Binary that came as a resource.
 *
 * @returns its content; undefined: it has none
 * @throws FhirError where it is faulty, or says itself where its content is
 */
export function checkBinary(
  resource: Resource,
  services: Pick<Services, 'validate'>,
  text?: () => string,
): Buffer | undefined {
  validateResource(resource, text === undefined ? {} : { text }, services);
  refusePointer(resource);
  return decodeData(resource['data']);
}

/**
 * Writes a Binary whose content has been taken in, unless the current version says the same; then, and where it is
 * refused, nothing is left of that content.
 */
export async function writeBinary(
  { resource, pointer }: TakenBinary,
  id: string,
  services: BinaryServices,
): Promise<Written> {
  const { store } = services;
  // A failure to delete it is not the client's.
  const drop = async (): Promise<void> => {
    if (pointer !== undefined) await store.blobs.delete(blobKey(id, pointer.name)).catch(() => {});
  };
  try {
    const written = await writeCurrent(store, BINARY, id, (current) =>
      composeBinary(resource, pointer, id, current, services),
    );
    if (written.after === undefined) await drop();
    return written;
  } catch (error) {
    // A store that failed may have written all the same, or be about to: then the blob is wanted. The sweep finds out.
    if (error instanceof FhirError && error.status < 500) await drop();
    throw error;
  }
}

/** The change; none where the current version has the same content and all else is equal too. */
export async function composeBinary(
  resource: Resource,
  pointer: Pointer | undefined,
  id: string,
  current: StoredVersion | undefined,
  services: Pick<Services, 'extract' | 'refit'> & { readonly limits: Limits },
  how: PutOptions = {},
): Promise<Put | undefined> {
  const live = liveVersion(current);
  const old = live === undefined ? undefined : pointerOf(readJson(live.json) as Resource);
  if (old !== undefined && old.sha256 === pointer?.sha256 && old.size === pointer.size) {
    if ((await composePut(withPointer(resource, old), id, current, services, how)) === undefined) return undefined;
  }
  return composePut(withPointer(resource, pointer), id, current, services, how);
}
