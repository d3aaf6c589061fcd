import { FhirError } from '../fhir/errors.js';
import type { StoredVersion } from '../store/store.js';
import type { Call, Conditions } from './call.js';

const ETAG = /^(?:W\/)?"([^"]*)"$/;

/** Version ids of an `If-Match` or `If-None-Match` header, or `*`. RFC 9110, 13.1 */
function parseEtags(name: string, header: string): '*' | readonly string[] {
  if (header.trim() === '*') return '*';
  return header.split(',').map((part) => {
    const versionId = ETAG.exec(part.trim())?.[1];
    if (versionId === undefined) throw new FhirError('header-invalid', `${name} has to be like W/"3" or *`);
    return versionId;
  });
}

/** A version that has content; a deletion is none. */
export type LiveVersion = StoredVersion & { readonly json: string };

/** The version, if there is one and it has content. */
export function liveVersion(stored: StoredVersion | undefined): LiveVersion | undefined {
  return stored?.json === undefined ? undefined : { ...stored, json: stored.json };
}

/**
 * Checks what a client demands before a write, against the version that is there.
 * https://hl7.org/fhir/R5/http.html#concurrency
 *
 * @throws FhirError `precondition-failed` or `header-invalid`
 */
export function checkWrite({ ifMatch, ifNoneMatch }: Conditions, current: StoredVersion | undefined): void {
  const live = liveVersion(current);
  if (ifMatch !== undefined) {
    const wanted = parseEtags('If-Match', ifMatch);
    if (live === undefined) throw new FhirError('precondition-failed', 'If-Match: there is no such resource');
    if (wanted !== '*' && !wanted.includes(String(live.version))) {
      throw new FhirError('precondition-failed', `If-Match: the current version is W/"${live.version}"`);
    }
  }
  if (ifNoneMatch !== undefined && live !== undefined) {
    const unwanted = parseEtags('If-None-Match', ifNoneMatch);
    if (unwanted === '*') throw new FhirError('precondition-failed', 'If-None-Match: the resource exists already');
    if (unwanted.includes(String(live.version))) {
      throw new FhirError('precondition-failed', `If-None-Match: the current version is W/"${live.version}"`);
    }
  }
}

/**
 * Whether a reader has this version already (answer 304). `If-None-Match` counts before `If-Modified-Since`, which has
 * whole seconds. https://hl7.org/fhir/R5/http.html#cread
 */
export function isUnmodified(call: Call, stored: StoredVersion): boolean {
  const { ifNoneMatch, ifModifiedSince } = call.conditions;
  if (ifNoneMatch !== undefined) {
    return isKnown(ifNoneMatch, String(stored.version));
  }
  return ifModifiedSince !== undefined && Math.floor(stored.lastUpdated / 1000) * 1000 <= ifModifiedSince;
}

/** Whether an `If-None-Match` header names this version. Weak and strong tags are alike here. RFC 9110, 13.1.2 */
export function isKnown(ifNoneMatch: string, versionId: string): boolean {
  const known = parseEtags('If-None-Match', ifNoneMatch);
  return known === '*' || known.includes(versionId);
}
