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
const DUPLICATE = 11000;
const TIME_IS_UP = new Set([50, 262, 24]);
const TOO_LARGE = new Set([10334, 17280, 17419, 17420, 17421]);
/** `TransactionTooLargeForCache`, and what WiredTiger says itself where a server does not know that yet. */
const TRANSACTION_TOO_LARGE: ReadonlySet<unknown> = new Set([388, -31800]);
const WRITE_CONFLICTS = new Set([112, 251, 246, 239]);
/** Credentials, disk space, memory: faults that only an operator can fix. */
const BROKEN = new Set([13, 18, 14031, 39, 146, 292, 8000]);

const RETRY = { headers: { 'Retry-After': '2' } } as const;

/** The error for a request that the database is too busy to serve. */
export function storeBusy(): FhirError {
  return new FhirError('store-busy', undefined, RETRY);
}

/** The error for a write whose outcome is unknown because the database stopped answering. */
export function outcomeUnknown(): FhirError {
  return new FhirError(
    'store-unavailable',
    'The database did not say whether the write was done; look before trying again',
    RETRY,
  );
}

/** The error for a query that exceeded its time limit. */
export function tooCostly(): FhirError {
  return new FhirError('too-costly');
}

/** The error for a resource that does not fit into a document. */
export function tooLarge(): FhirError {
  return new FhirError(
    'resource-too-large',
    'The resource with its index entries does not fit into a document of MongoDB',
  );
}

/** The error for a single resource that is too large for a transaction of the server. */
function moreThanCache(): FhirError {
  return new FhirError(
    'resource-too-large',
    'The resource has more index entries than MongoDB can write at once with the cache that it has; it needs a larger cache',
  );
}

/** The error for changes that together are too large for one transaction of the server. */
export function transactionTooLarge(): FhirError {
  return new FhirError(
    'transaction-too-large',
    'The changes are too many for one transaction of MongoDB with the cache that it has; send smaller Bundles',
  );
}

/** The error for a write that the server ended at its time limit: none of it was applied. */
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

/** Whether the code of a statement says that the server did not do it, and will not: a duplicate, or too large. */
export function isRefusal(code: number): boolean {
  return code === DUPLICATE || TOO_LARGE.has(code);
}

/** Whether a unique index refused a document. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE;
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

/** Whether the requested snapshot no longer exists. */
export function isSnapshotGone(error: unknown): boolean {
  return error instanceof MongoServerError && (error.code === 239 || error.code === 246);
}

/**
 * Translates an error of the database to one that a client may see: busy, unavailable, or resource too large. Any other error
 * is returned unchanged. The result contains neither addresses nor credentials.
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
 * Translates the error of a write of `changes` changes, outside of a transaction or after its rollback. If a single resource is
 * too large, the error does not suggest a smaller Bundle.
 */
export function translateWriteError(error: unknown, changes: number): unknown {
  if (isTimeUp(error)) return writeNotDone();
  const translated = translateMongoError(error);
  const isAlone = changes === 1 && translated instanceof FhirError && translated.code === 'transaction-too-large';
  return isAlone ? moreThanCache() : translated;
}

function unavailable(diagnostics: string): FhirError {
  return new FhirError('store-unavailable', undefined, { ...RETRY, diagnostics });
}

/** Servers label it as transient, but the next try takes as much; that of a bulk write has no name. */
function isTooLargeForCache(error: MongoError): boolean {
  if (!(error instanceof MongoServerError)) return false;
  return TRANSACTION_TOO_LARGE.has(error.code) || /will not fit in the storage engine cache/.test(error.message);
}

/** The driver checks the size itself before it sends a bulk write. */
function isTooLargeForDriver({ name, message }: MongoError): boolean {
  return name === 'MongoInvalidArgumentError' && /larger than the maximum size/.test(message);
}

/** "Not primary", "node is recovering", "shutting down": codes of the SDAM specification. */
const PRIMARY = new Set([91, 189, 10107, 11600, 11602, 13435, 13436, 10058]);

function isAboutPrimary(error: MongoError): boolean {
  return error instanceof MongoServerError && PRIMARY.has(Number(error.code));
}
