import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

import type { RouteRow } from '../../contract/index.js';
import { FhirError } from '../../fhir/errors.js';
import { parseHttpDate } from '../../fhir/instant.js';
import type { Conditions, Preferences } from '../../core/call.js';

/** Most requests have none of these headers. */
const NO_CONDITIONS: Conditions = {};
const NO_PREFERENCES: Preferences = {};

/** What is read of a request. */
type Head = Pick<IncomingMessage, 'headers' | 'headersDistinct'>;

/** What a request asks for. */
type Row = Pick<RouteRow, 'method' | 'interaction'>;

/**
 * Conditions of a request. https://hl7.org/fhir/R5/http.html#concurrency
 *
 * @throws FhirError `header-invalid`
 */
export function readConditions(req: Head): Conditions {
  const { headers } = req;
  const ifMatch = headers['if-match'];
  const ifNoneMatch = headers['if-none-match'];
  const since = headers['if-modified-since'];
  const until = headers['if-unmodified-since'];
  const ifNoneExist = headers['if-none-exist'] === undefined ? undefined : readIfNoneExist(req);
  if ((ifMatch ?? ifNoneMatch ?? since ?? until ?? ifNoneExist) === undefined) return NO_CONDITIONS;
  const ifModifiedSince = since === undefined ? undefined : parseHttpDate(since);
  // What is no date is as good as not there. RFC 9110, 13.1.4
  const ifUnmodifiedSince = until === undefined ? undefined : parseHttpDate(until);
  return {
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
    ...(ifNoneExist === undefined ? {} : { ifNoneExist }),
    ...(ifModifiedSince === undefined ? {} : { ifModifiedSince }),
    ...(ifUnmodifiedSince === undefined ? {} : { ifUnmodifiedSince }),
  };
}

/**
 * The criteria of a conditional create. What Node would make of two of them, or of bytes beyond ASCII, would find nothing, and
 * so create what is there. https://hl7.org/fhir/R5/http.html#ccreate
 */
function readIfNoneExist({ headersDistinct }: Head): string {
  const [only = '', ...others] = headersDistinct['if-none-exist'] ?? [];
  if (others.length > 0) throw new FhirError('header-invalid', 'If-None-Exist may appear once');
  if (!/^[\x20-\x7e]*$/.test(only)) {
    throw new FhirError('header-invalid', 'If-None-Exist has to be percent-encoded, as a query in a URL');
  }
  return only;
}

/**
 * Refuses conditions of writes that do not go with the method: one that has no effect would be worse than none. Bundles
 * refuse the same of their entries.
 *
 * @throws FhirError `header-invalid`
 */
export function checkConditions({ ifNoneExist, ifMatch }: Conditions, { method, interaction }: Row): void {
  if (ifNoneExist !== undefined && (method === 'PUT' || method === 'PATCH' || method === 'DELETE')) {
    const hint = method === 'PUT' ? '; If-None-Match: * only creates' : '';
    throw new FhirError('header-invalid', `If-None-Exist goes with POST, not with ${method}${hint}`);
  }
  if (ifMatch !== undefined && interaction === 'create') {
    throw new FhirError('header-invalid', 'If-Match goes with PUT, PATCH, DELETE, not with POST');
  }
}

const RETURNS = ['minimal', 'representation', 'OperationOutcome'] as const;
const HANDLINGS = ['strict', 'lenient'] as const;

/** Wishes of `Prefer`; those that are unknown are ignored (RFC 7240). https://hl7.org/fhir/R5/http.html#ops */
export function readPreferences(headers: IncomingHttpHeaders): Preferences {
  const text = headers['prefer'];
  if (text === undefined) return NO_PREFERENCES;
  const isFresh = /(?:^|[\s,])no-cache(?:$|[\s,])/i.test(headers['cache-control'] ?? '');
  const wishes = new Map<string, string>();
  for (const part of String(text).split(/[,;]/)) {
    const [name = '', value = ''] = part.split('=', 2);
    // Of a wish that is there twice the first counts.
    const key = name.trim().toLowerCase();
    if (!wishes.has(key)) wishes.set(key, value.trim().replace(/^"(.*)"$/, '$1'));
  }
  const wanted = RETURNS.find((each) => each === wishes.get('return'));
  const handling = HANDLINGS.find((each) => each === wishes.get('handling'));
  return {
    ...(wanted === undefined ? {} : { return: wanted }),
    ...(handling === undefined ? {} : { handling }),
    ...(wishes.has('respond-async') && { respondAsync: true as const }),
    ...(/^[0-9]{1,9}$/.test(wishes.get('wait') ?? '') && { wait: Number(wishes.get('wait')) }),
    ...(wishes.get('async-form') === 'redirect' && { isRedirect: true as const }),
    ...(isFresh && { isFresh }),
  };
}
