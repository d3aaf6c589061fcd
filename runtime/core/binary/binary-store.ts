import { FhirError } from '../../fhir/errors.js';
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
import { composePut, type ComposingServices, type PutOptions } from '../write/compose-change.js';
import { liveVersion } from '../write/preconditions.js';
import type { Services } from '../services.js';
import type { ValidatedCall } from '../write/validate-profiles.js';
import { validateWritten, type WriteValidation } from '../write/validate-written.js';
import { writeCurrent, type Written } from '../write/write-current.js';

/** A Binary whose content is already stored in a blob. */
export interface TakenBinary {
  readonly resource: Resource;
  /** Absent: it has no content. */
  readonly pointer?: Pointer;
}

/** The services needed to store a Binary. */
export type BinaryServices = Pick<Services, 'store'> & ComposingServices & WriteValidation;

/**
 * Stores the content of a Binary that came as a resource in a blob.
 *
 * @throws FhirError if the resource is invalid, or has a pointer of its own
 */
export async function takeBinary(
  resource: Resource,
  id: string,
  call: ValidatedCall,
  services: BinaryServices,
): Promise<TakenBinary> {
  const data = await checkBinary(resource, call, services);
  if (data === undefined) return { resource };
  return { resource, pointer: await storeContent(services.store.blobs, id, once(data), services.limits.body) };
}

/**
 * Checks a Binary that came as a resource.
 *
 * @returns its content; undefined if it has none
 * @throws FhirError if the resource is invalid, or has a pointer of its own
 */
export async function checkBinary(
  resource: Resource,
  call: ValidatedCall,
  services: WriteValidation,
): Promise<Buffer | undefined> {
  await validateWritten(resource, call, services);
  refusePointer(resource);
  return decodeData(resource['data']);
}

/**
 * Writes a Binary whose content is already stored, unless the current version is equal. Deletes that content when
 * nothing is written or the write is rejected.
 *
 * @param check rejects a write over the current version
 */
export async function writeBinary(
  { resource, pointer }: TakenBinary,
  id: string,
  services: BinaryServices,
  check?: (current: StoredVersion | undefined) => Promise<void>,
): Promise<Written> {
  const { store } = services;
  // The client's request does not fail because the blob cannot be deleted: the sweep deletes it later.
  const drop = async (): Promise<void> => {
    if (pointer !== undefined) await store.blobs.delete(blobKey(id, pointer.name)).catch(() => {});
  };
  try {
    const compose = async (current: StoredVersion | undefined): Promise<Put | undefined> => {
      await check?.(current);
      return composeBinary(resource, pointer, id, current, services);
    };
    const written = await writeCurrent(store, BINARY, id, compose, { answerTime: services.limits.answerTime });
    if (written.after === undefined) await drop();
    return written;
  } catch (error) {
    // A failed store may have written the resource, or may still write it, and then needs the blob. The sweep decides later.
    if (error instanceof FhirError && error.status < 500) await drop();
    throw error;
  }
}

/** The change; undefined if the current version has the same content and elements. */
export async function composeBinary(
  resource: Resource,
  pointer: Pointer | undefined,
  id: string,
  current: StoredVersion | undefined,
  services: ComposingServices,
  how: PutOptions = {},
): Promise<Put | undefined> {
  const live = liveVersion(current);
  const old = live === undefined ? undefined : pointerOf(readJson(live.json) as Resource);
  if (old !== undefined && old.sha256 === pointer?.sha256 && old.size === pointer.size) {
    if ((await composePut(withPointer(resource, old), id, current, services, how)) === undefined) return undefined;
  }
  return composePut(withPointer(resource, pointer), id, current, services, how);
}
