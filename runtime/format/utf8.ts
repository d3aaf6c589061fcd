import { isUtf8 } from 'node:buffer';

import { FhirError } from '../fhir/errors.js';

const LINE_FEED = 0x0a;

/**
 * The text of UTF-8 bytes, without a byte order mark. Nothing is repaired: what is not UTF-8 is refused.
 * https://hl7.org/fhir/R5/http.html#mime-type
 *
 * @throws FhirError `json-encoding`, naming the line and the column (in bytes) of the first wrong byte
 */
export function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) {
    const at = firstWrongByte(bytes);
    const start = bytes.lastIndexOf(LINE_FEED, Math.max(0, at - 1)) + 1;
    let line = 1;
    for (let i = bytes.indexOf(LINE_FEED); i >= 0 && i < at; i = bytes.indexOf(LINE_FEED, i + 1)) line++;
    throw new FhirError('json-encoding', `Line ${line}, byte ${at - start + 1}: not valid UTF-8`);
  }
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString('utf8', marked ? 3 : 0);
}

/** Halves the range until one character is left: a prefix is valid up to the character that is not. */
function firstWrongByte(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 4) {
    let middle = (good + bad) >> 1;
    while (middle > good && (bytes[middle] ?? 0) >> 6 === 0b10) middle--;
    if (middle === good) break;
    if (isUtf8(bytes.subarray(good, middle))) good = middle;
    else bad = middle;
  }
  for (let end = good + 1; end <= bytes.length && end <= good + 4; end++) {
    if (isUtf8(bytes.subarray(good, end))) {
      good = end;
      end = good;
    }
  }
  return good;
}
