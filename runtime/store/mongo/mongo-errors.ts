import {
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';

import { FhirError } from '../../fhir/errors.js';

/** Codes of the server, by what they mean for a client. https://www.mongodb.com/docs/manual/reference/error-codes/ */
const TIME_IS_UP = new Set([50, 262, 24]);
const TOO_LARGE = new Set([10334, 17280, 17419, 17420, 17421]);
/** `TransactionTooLargeForCache`, and what WiredTiger says itself where a server does not know that yet. */
const TRANSACTION_TOO_LARGE: ReadonlySet<unknown> = new Set([388, -31800]);
const WRITE_CONFLICTS = new Set([112, 251, 246, 239]);
/** Credentials, space on the disk, memory: what only its keepers can mend. */
const BROKEN = new Set([13, 18, 14031, 39, 146, 292, 8000]);

const RETRY = { headers: { 'Retry-After': '2' } } as const;

/** What a client is told to whom the database is busy with others. */
export function storeBusy(): FhirError {
  return new FhirError('store-busy', undefined, RETRY);
}

/** What a client is told whose write may have been done or not, as the database did not answer any more. */
export function outcomeUnknown(): FhirError {
  return new FhirError(
    'store-unavailable',
    'The database did not say whether the write was done; look before trying again',
    RETRY,
  );
}

/** What the client of a query is told that took longer than it may. */
export function tooCostly(): FhirError {
  return new FhirError('too-costly');
}

/** What a client is told whose resource does not fit into a document. */
export function tooLarge(): FhirError {
  return new FhirError(
    'resource-too-large',
    'The resource with its index entries does not fit into a document of MongoDB',
  );
}

/** What a client is told whose resource alone is more than the server can write. */
function moreThanCache(): FhirError {
  return new FhirError(
    'resource-too-large',
    'The resource has more index entries than MongoDB can write at once with the cache that it has; it needs a larger cache',
  );
}

/** What a client is told whose changes together are more than the server can do in one transaction. */
export function transactionTooLarge(): FhirError {
  return new FhirError(
    'transaction-too-large',
    'The changes are too many for one transaction of MongoDB with the cache that it has; send smaller Bundles',
  );
}

/** What a client is told whose write the server ended when its time was over: nothing of it was done. */
export function writeNotDone(): FhirError {
  return new FhirError(
    'store-busy',
    'The database did not finish the write in the time that it has, and wrote nothing of it; try again, or write less at once',
    RETRY,
  );
}

/**
 * Whether the time of an operation ran out in the server, before it was done. Where it ran out while the server waited for others
 * to confirm it, it was done.
 */
export function isTimeUp(error: unknown): boolean {
  if (error instanceof MongoWriteConcernError) return false;
  return error instanceof MongoServerError && TIME_IS_UP.has(Number(error.code));
}

/** Whether a unique index refused a document. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11000;
}

/** Whether a transaction was undone, and may go through when it is tried again. */
export function isTransient(error: unknown): boolean {
  return error instanceof MongoError && error.hasErrorLabel('TransientTransactionError') && !isTooLargeForCache(error);
}

/**
 * Whether the connection broke. The labels of the driver do not tell: where several connections to a server break at once, only the
 * first error has them; and a bulk write wraps its error.
 */
export function isConnectionLost(error: unknown): boolean {
  const cause = error instanceof MongoBulkWriteError ? error.errorResponse : error;
  return cause instanceof MongoNetworkError || isSocketError(cause);
}

/**
 * Where a connection breaks while a command is written, or before, the driver passes the error of the socket as it is: that of a
 * system call, or Node's own where the other end is closed already.
 */
function isSocketError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && SOCKET_ERRORS.has(String(error.code));
}

const SOCKET_ERRORS: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNREFUSED',
  'ECONNABORTED',
  'ETIMEDOUT',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** Whether no server was found in time. */
export function isSelectionFailed(error: unknown): boolean {
  return error instanceof MongoServerSelectionError;
}

/** Whether the snapshot that was asked for is there no more. */
export function isSnapshotGone(error: unknown): boolean {
  return error instanceof MongoServerError && (error.code === 239 || error.code === 246);
}

/**
 * Tells a client what it can know of a failed database: busy, unavailable, or that the resource is too large. Everything
 * else passes unchanged. Neither addresses nor credentials get into it.
 */
export function translateMongoError(error: unknown): unknown {
  // The serializer of the driver writes past the end of its buffer.
  if (error instanceof RangeError && 'code' in error && error.code === 'ERR_OUT_OF_RANGE') return tooLarge();
  if (isSocketError(error)) return unavailable('the connection was lost');
  if (!(error instanceof MongoError)) return error;
  if (isSelectionFailed(error)) return unavailable('no server that takes writes was found in time');
  // It was written, but a majority of the servers has not confirmed it.
  if (error instanceof MongoWriteConcernError) return outcomeUnknown();
  if (isTimeUp(error)) return storeBusy();
  if (isConnectionLost(error)) return unavailable('the connection was lost');
  const code = error instanceof MongoServerError ? Number(error.code) : undefined;
  if (isTooLargeForCache(error)) return transactionTooLarge();
  if (TOO_LARGE.has(code ?? 0) || isTooLargeForDriver(error)) return tooLarge();
  if (WRITE_CONFLICTS.has(code ?? 0) || isTransient(error)) return storeBusy();
  if (BROKEN.has(code ?? 0)) return unavailable(`MongoDB refused with code ${code}`);
  if (error.hasErrorLabel('RetryableError') || error.hasErrorLabel('RetryableWriteError') || isAboutPrimary(error)) {
    return unavailable('it has no primary at the moment');
  }
  if (error.name === 'MongoWaitQueueTimeoutError') return storeBusy();
  if (/^Mongo(?:PoolCleared|PoolClosed|NotConnected|TopologyClosed|ClientClosed)Error$/.test(error.name)) {
    return unavailable('the connection was closed');
  }
  return error;
}

/**
 * The same for a write of so many changes, outside of a transaction or when that is undone. What is too much of one resource no
 * smaller Bundle mends.
 */
export function translateWriteError(error: unknown, changes: number): unknown {
  if (isTimeUp(error)) return writeNotDone();
  const told = translateMongoError(error);
  const isAlone = changes === 1 && told instanceof FhirError && told.code === 'transaction-too-large';
  return isAlone ? moreThanCache() : told;
}

function unavailable(diagnostics: string): FhirError {
  return new FhirError('store-unavailable', undefined, { ...RETRY, diagnostics });
}

/** Servers label it as transient, but the next try takes as much; that of a bulk write has no name. */
function isTooLargeForCache(error: MongoError): boolean {
  if (!(error instanceof MongoServerError)) return false;
  return TRANSACTION_TOO_LARGE.has(error.code) || /will not fit in the storage engine cache/.test(error.message);
}

/** The driver looks itself before it sends several at once. */
function isTooLargeForDriver({ name, message }: MongoError): boolean {
  return name === 'MongoInvalidArgumentError' && /larger than the maximum size/.test(message);
}

/** "Not primary", "node is recovering", "shutting down": codes of the SDAM specification. */
const PRIMARY = new Set([91, 189, 10107, 11600, 11602, 13435, 13436, 10058]);

function isAboutPrimary(error: MongoError): boolean {
  return error instanceof MongoServerError && PRIMARY.has(Number(error.code));
}
