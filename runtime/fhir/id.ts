import { randomFillSync } from 'node:crypto';

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

/** What is wrong with an id where the general text does not say it. */
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
  writeNewId(SCRATCH, 0, now);
  return SCRATCH.toString('latin1');
}

/** Characters of a new id. */
export const ID_LENGTH = 36;
const SCRATCH = Buffer.allocUnsafeSlow(ID_LENGTH);

/** Writes a new id into bytes, as `newId` has it. */
export function writeNewId(bytes: Uint8Array, at: number, now: number): void {
  if (now !== last.time) last = { time: now, begin: Buffer.from(beginOf(now), 'latin1') };
  const { begin } = last;
  let to = at;
  for (let i = 0; i < begin.length; i++) bytes[to++] = begin[i]!;
  if (used === RANDOM.length) {
    randomFillSync(RANDOM);
    used = 0;
  }
  bytes[to++] = HEX[RANDOM[used]! & 0xf]!;
  for (let i = 1; i < RANDOM_BYTES; i++) {
    if (i === 2 || i === 4) bytes[to++] = HYPHEN;
    const byte = i === 2 ? (RANDOM[used + i]! & 0x3f) | VARIANT : RANDOM[used + i]!;
    bytes[to++] = HEX[byte >> 4]!;
    bytes[to++] = HEX[byte & 0xf]!;
  }
  used += RANDOM_BYTES;
}

/** Under load many ids are of one millisecond. */
let last = { time: NaN, begin: Buffer.alloc(0) };

function beginOf(now: number): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7`;
}

/** Of each id; of the first one half. */
const RANDOM_BYTES = 10;
/** Drawn for many ids together, used once. */
const RANDOM = Buffer.allocUnsafeSlow(400 * RANDOM_BYTES);
let used = RANDOM.length;
const HEX = Buffer.from('0123456789abcdef', 'latin1');
const HYPHEN = 0x2d;
const VARIANT = 0x80;

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether an id has the form of those that `newId` makes. */
export function isAssignedId(id: string): boolean {
  return id.length === 36 && UUID_V7.test(id);
}
