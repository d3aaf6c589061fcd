import type { IncomingHttpHeaders } from 'node:http';

import { parseHttpDate } from '../fhir/instant.js';
import type { Conditions, Preferences } from '../interactions/call.js';

/** Most requests have none of these headers. */
const NO_CONDITIONS: Conditions = {};
const NO_PREFERENCES: Preferences = {};

/** Conditions of a request. https://hl7.org/fhir/R5/http.html#concurrency */
export function readConditions(headers: IncomingHttpHeaders): Conditions {
  const ifMatch = headers['if-match'];
  const ifNoneMatch = headers['if-none-match'];
  const since = headers['if-modified-since'];
  const until = headers['if-unmodified-since'];
  const ifNoneExist = headers['if-none-exist'];
  if ((ifMatch ?? ifNoneMatch ?? since ?? until ?? ifNoneExist) === undefined) return NO_CONDITIONS;
  const ifModifiedSince = since === undefined ? undefined : parseHttpDate(since);
  // What is no date is as good as not there. RFC 9110, 13.1.4
  const ifUnmodifiedSince = until === undefined ? undefined : parseHttpDate(until);
  return {
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
    ...(ifNoneExist === undefined ? {} : { ifNoneExist: String(ifNoneExist) }),
    ...(ifModifiedSince === undefined ? {} : { ifModifiedSince }),
    ...(ifUnmodifiedSince === undefined ? {} : { ifUnmodifiedSince }),
  };
}

const RETURNS = ['minimal', 'representation', 'OperationOutcome'] as const;
const HANDLINGS = ['strict', 'lenient'] as const;

/** Wishes of `Prefer`; those that nobody knows are ignored (RFC 7240). https://hl7.org/fhir/R5/http.html#ops */
export function readPreferences(headers: IncomingHttpHeaders): Preferences {
  const text = headers['prefer'];
  if (text === undefined) return NO_PREFERENCES;
  const wishes = new Map<string, string>();
  for (const part of String(text).split(/[,;]/)) {
    const [name = '', value = ''] = part.split('=', 2);
    // Of a wish that stands twice the first counts.
    const key = name.trim().toLowerCase();
    if (!wishes.has(key)) wishes.set(key, value.trim().replace(/^"(.*)"$/, '$1'));
  }
  const wanted = RETURNS.find((each) => each === wishes.get('return'));
  const handling = HANDLINGS.find((each) => each === wishes.get('handling'));
  return { ...(wanted === undefined ? {} : { return: wanted }), ...(handling === undefined ? {} : { handling }) };
}
