/**
 * Text for comparison "insensitive to case and to combining characters": compatibility decomposition (NFKD), marks
 * stripped, case folded (`ß` = `ss`, every sigma the same), runs of white space and control characters one space,
 * none at the ends. Idempotent. Query values are folded by the same function.
 * https://hl7.org/fhir/R5/search.html#string
 */
export function fold(text: string): string {
  let plain = true;
  let before = SPACE;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c > LAST_ASCII) return foldUnits(text);
    if (isBlank(c) && (c !== SPACE || before === SPACE)) plain = false;
    before = c;
  }
  const lower = text.toLowerCase();
  return plain && before !== SPACE ? lower : collapse(lower);
}

/**
 * A string as searches compare it: folded, and without punctuation. Idempotent. "Punctuation and non-significant whitespace
 * (e.g. repeated space characters, tab vs space) SHOULD also be ignored". https://hl7.org/fhir/R5/search.html#string
 */
export function foldString(text: string): string {
  const folded = fold(text);
  return PUNCTUATION.test(folded) ? collapse(folded.replace(ALL_PUNCTUATION, '')) : folded;
}

/**
 * Returns all foldings that the index entry of this very text may have: the one that `foldString` makes now, and lesser
 * ones that older servers made.
 */
export function foldingsOf(text: string): readonly string[] {
  // V8 takes minutes to go through a long text that it keeps as two parts, once it has compiled `fold`.
  const whole = Buffer.from(text, 'utf16le').toString('utf16le');
  return [...new Set([foldString(whole), fold(whole), whole.toLowerCase(), whole])];
}

const PUNCTUATION = /\p{P}/u;
const ALL_PUNCTUATION = /\p{P}/gu;

const SPACE = 32;
const DELETE = 127;
const LAST_ASCII = 127;

/**
 * What each UTF-16 unit folds to, found when it is first met. Folding goes character by character, except for the
 * reordering of marks, which are stripped, and final sigmas, which are made ordinary ones.
 */
const units: (string | undefined)[] = [];

function foldUnits(text: string): string {
  let folded = '';
  let before = SPACE;
  let plain = true;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c >= 0xd800 && c <= 0xdfff) return collapse(foldWhole(text));
    const unit = (units[c] ??= foldWhole(text.charAt(i)));
    if (unit.length !== 1) plain = false;
    else {
      const u = unit.charCodeAt(0);
      if (u === SPACE && before === SPACE) plain = false;
      before = u;
    }
    folded += unit;
  }
  return plain && before !== SPACE ? folded : collapse(folded);
}

/** As `fold`, but runs of blanks stay, each a space. */
function foldWhole(text: string): string {
  // Case comes before the marks, because an iota subscript is a mark in lower case and a letter in upper case, and
  // again after them, because decomposition brings forth capitals (`ℕ`).
  const stripped = foldCase(text).normalize('NFKD').replace(/\p{M}/gu, '');
  return foldCase(stripped).replace(/[\s\p{Cc}]/gu, ' ');
}

/** Upper case makes `ß` two letters and the long s an s; lower case before it does so for the capital `ẞ`. */
function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Words with one space between them. Blanks are ASCII here. */
function collapse(text: string): string {
  let words = '';
  let start = -1;
  for (let i = 0; i <= text.length; i++) {
    if (i < text.length && !isBlank(text.charCodeAt(i))) {
      if (start < 0) start = i;
    } else if (start >= 0) {
      words += words === '' ? text.slice(start, i) : ` ${text.slice(start, i)}`;
      start = -1;
    }
  }
  return words;
}

function isBlank(c: number): boolean {
  return c <= SPACE || c === DELETE;
}
