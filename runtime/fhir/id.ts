import { randomUUID } from 'node:crypto';

const ID = /^[A-Za-z0-9\-.]{1,64}$/;
const VERSION_ID = /^[1-9][0-9]{0,14}$/;

/**
 * Whether a text is a legal id. https://hl7.org/fhir/R5/datatypes.html#id
 *
 * FHIR's pattern admits `.` and `..` too, which are none here: in the path of a URL they mean the folder and the one
 * above it (RFC 3986, 5.2.4), so that clients, following `Basic/../_history/1`, would ask for something else.
 */
export function isId(text: string): boolean {
  return ID.test(text) && !isDots(text);
}

/** Returns the fault of an id where the general text does not explain it. */
export function whyNoId(text: string): string | undefined {
  return isDots(text) ? `The id "${text}" cannot be used: in a URL it would mean another place` : undefined;
}

function isDots(text: string): boolean {
  return text === '.' || text === '..';
}

/** The number behind a version id of ours (a decimal integer from 1), or undefined where it cannot be one. */
export function versionNumber(versionId: string): number | undefined {
  return VERSION_ID.test(versionId) ? Number(versionId) : undefined;
}

/**
 * A new id for the server to assign: a UUIDv7 (RFC 9562), lower case, so that ids grow with time and their index
 * stays compact. The random part, variant included, is that of a UUIDv4.
 *
 * @param now milliseconds since the epoch
 */
export function newId(now: number = Date.now()): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice('01234567-89ab-4'.length)}`;
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether an id has the form of those that `newId` makes. */
export function isAssignedId(id: string): boolean {
  return id.length === 36 && UUID_V7.test(id);
}
