/** Words that are longer are as good as their beginnings: what is longer is no word that anybody looks for. */
export const LONGEST = 40;

/** Where words are written to before they are a text. Nothing is kept in it. */
let bytes = Buffer.allocUnsafe(16 * 1024);

/**
 * The words of a text with a space between them, in lower case, in one pass; undefined where it is not all ASCII. They are what the
 * segmenter of Unicode takes for words, without apostrophes: a test holds them against each other.
 */
export function asciiWords(text: string): string | undefined {
  if (bytes.length <= text.length) bytes = Buffer.allocUnsafe(2 * text.length);
  const out = bytes;
  // Each word is written with a space behind it.
  let end = 0;
  let start = 0;
  let last = OTHER;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > LAST_ASCII) return undefined;
    const kind = KINDS[unit]!;
    if (kind !== OTHER) {
      last = kind;
      if (end - start < LONGEST) out[end++] = LOWER[unit]!;
    } else if (last !== OTHER) {
      // What reads behind the end once is compiled anew, three times as slow.
      if (JOINTS[unit] !== 0 && at + 1 < text.length && joins(unit, last, text.charCodeAt(at + 1))) {
        if (unit !== APOSTROPHE && end - start < LONGEST) out[end++] = unit;
        continue;
      }
      last = OTHER;
      if (end - start === 1 && out[start] === LOW_LINE) end = start;
      else out[end++] = SPACE;
      start = end;
    }
  }
  if (end - start === 1 && out[start] === LOW_LINE) end = start;
  else if (last !== OTHER) end++;
  return end === 0 ? '' : out.toString('latin1', 0, end - 1);
}

const [LAST_ASCII, SPACE, APOSTROPHE, LOW_LINE] = [127, 32, 39, 95];

const [OTHER, LETTER, DIGIT, LINE] = [0, 1, 2, 3];

/** Each unit of ASCII. */
const UNITS = Array.from({ length: 128 }, (_, unit) => String.fromCharCode(unit));

/** What each is to a word. */
const KINDS = Uint8Array.from(UNITS, (each) => {
  if (/[A-Za-z]/.test(each)) return LETTER;
  if (/[0-9]/.test(each)) return DIGIT;
  return each === '_' ? LINE : OTHER;
});

/** Its lower case. */
const LOWER = Uint8Array.from(UNITS, (each) => each.toLowerCase().charCodeAt(0));

/** Whether it may be within a word: `e.g`, `don't`, `1,000`. */
const JOINTS = Uint8Array.from(UNITS, (each) => (".',;".includes(each) ? 1 : 0));

const BETWEEN_LETTERS = /[.']/;
const BETWEEN_DIGITS = /[.',;]/;

function joins(unit: number, last: number, next: number): boolean {
  if (last === LINE || next > LAST_ASCII || KINDS[next] !== last) return false;
  return (last === LETTER ? BETWEEN_LETTERS : BETWEEN_DIGITS).test(UNITS[unit]!);
}
