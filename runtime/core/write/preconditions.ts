import { FhirError, type RequestPart } from '../../fhir/errors.js';
import type { StoredVersion } from '../../store/store.js';
import type { Call, Conditions } from '../call.js';
import { clip } from '../../fhir/quote.js';

/** Some clients send the number of a version as it is. */
const ETAG = /^(?:(?:W\/)?"([^"]*)"|([0-9]+))$/;

/** Headers that name versions. */
const HEADERS = { ifMatch: 'If-Match', ifNoneMatch: 'If-None-Match' } as const satisfies Partial<
  Record<RequestPart, string>
>;

/** Version ids of one of these headers, or `*`. RFC 9110, 13.1 */
function parseEtags(part: keyof typeof HEADERS, header: string): '*' | readonly string[] {
  if (header.trim() === '*') return '*';
  // Empty elements of a list count for nothing. RFC 9110, 5.6.1
  const parts = header
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const versionIds = parts.map((part) => {
    const [, quoted, bare] = ETAG.exec(part) ?? [];
    return quoted ?? bare;
  });
  if (versionIds.length === 0 || versionIds.includes(undefined)) {
    throw new FhirError(
      'header-invalid',
      `${HEADERS[part]} has to be *, or like W/"3" or "3", or several of these with commas between them`,
      { part },
    );
  }
  return versionIds as string[];
}

/** A version with content, which a deletion does not have. */
export type LiveVersion = StoredVersion & { readonly json: string };

/** The version, if there is one and it has content. */
export function liveVersion(stored: StoredVersion | undefined): LiveVersion | undefined {
  return stored?.json === undefined ? undefined : (stored as LiveVersion);
}

/** The version ids in `If-Match` (`wanted`) and `If-None-Match` (`unwanted`). @throws FhirError `header-invalid` */
export function readEtags({ ifMatch, ifNoneMatch }: Conditions) {
  return {
    wanted: ifMatch === undefined ? undefined : parseEtags('ifMatch', ifMatch),
    unwanted: ifNoneMatch === undefined ? undefined : parseEtags('ifNoneMatch', ifNoneMatch),
  };
}

/**
 * Checks the preconditions of a write against the current version.
 * https://hl7.org/fhir/R5/http.html#concurrency
 *
 * @throws FhirError `precondition-failed` or `header-invalid`
 */
export function checkWrite(conditions: Conditions, current: StoredVersion | undefined): void {
  const { ifMatch, ifUnmodifiedSince } = conditions;
  const live = liveVersion(current);
  // Both headers are parsed first, so that a malformed one fails whatever the current version is.
  const { wanted, unwanted } = readEtags(conditions);
  if (wanted !== undefined) {
    if (live === undefined) throw failed('ifMatch', 'there is no such resource');
    if (wanted !== '*' && !wanted.includes(String(live.version))) {
      throw failed('ifMatch', `the current version is W/"${live.version}", not ${clip(ifMatch ?? '')}`);
    }
  }
  if (wanted === undefined && ifUnmodifiedSince !== undefined && live !== undefined) {
    if (!isOld(live, ifUnmodifiedSince)) {
      throw new FhirError('precondition-failed', 'If-Unmodified-Since: the resource has changed since then');
    }
  }
  if (unwanted !== undefined && live !== undefined) {
    if (unwanted === '*') throw failed('ifNoneMatch', 'the resource exists already');
    if (unwanted.includes(String(live.version))) {
      throw failed('ifNoneMatch', `the current version is W/"${live.version}"`);
    }
  }
}

/**
 * Checks `If-Match` and `If-Unmodified-Since` of a read, before its other conditions. RFC 9110, 13.2.2
 *
 * @throws FhirError `precondition-failed` or `header-invalid`
 */
export function checkRead({ ifMatch, ifUnmodifiedSince }: Conditions, version: LiveVersion): void {
  if (ifMatch === undefined && ifUnmodifiedSince === undefined) return;
  checkWrite(
    { ...(ifMatch !== undefined && { ifMatch }), ...(ifUnmodifiedSince !== undefined && { ifUnmodifiedSince }) },
    version,
  );
}

function failed(part: keyof typeof HEADERS, why: string): FhirError {
  return new FhirError('precondition-failed', `${HEADERS[part]}: ${why}`, { part });
}

/**
 * Whether the client has this version already (answer 304). One that was amended keeps its number and time, which do not say whether
 * the client has it as it is now: it is sent. `If-None-Match` takes precedence over `If-Modified-Since`,
 * which as a header has whole seconds. https://hl7.org/fhir/R5/http.html#cread
 */
export function isUnmodified(call: Call, stored: StoredVersion): boolean {
  const { ifNoneMatch, ifModifiedSince, isSinceExact } = call.conditions;
  if (ifNoneMatch !== undefined) {
    return isKnown(ifNoneMatch, String(stored.version)) && stored.amended === undefined;
  }
  if (stored.amended !== undefined) return false;
  if (ifModifiedSince === undefined) return false;
  return isSinceExact === true ? stored.lastUpdated <= ifModifiedSince : isOld(stored, ifModifiedSince);
}

/** Whether a version was written at or before a time, at the resolution of a header: whole seconds. */
function isOld({ lastUpdated }: StoredVersion, time: number): boolean {
  return Math.floor(lastUpdated / 1000) * 1000 <= time;
}

/** Whether an `If-None-Match` header names this version. Weak and strong tags are alike here. RFC 9110, 13.1.2 */
export function isKnown(ifNoneMatch: string, versionId: string): boolean {
  const known = parseEtags('ifNoneMatch', ifNoneMatch);
  return known === '*' || known.includes(versionId);
}
