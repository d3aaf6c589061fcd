import { fold } from '../values/fold.js';
import { asciiWords, LONGEST } from './ascii-words.js';

/**
 * Budget for making words, in UTF-16 units. It is never time, so that words are the same on every machine. It becomes 0
 * when text is left out.
 */
export interface WordsBudget {
  /** What the segmenter may be given: it takes some microseconds for each, a hundred times as long as other ways. */
  segmented: number;
  /** What may be read of texts that are not all ASCII, whether or not they need the segmenter, and have words: that takes a hundred times as long as ASCII. */
  unlike: number;
}

/**
 * The words of a text: what `Intl.Segmenter` takes for words (https://www.unicode.org/reports/tr29/#Word_Boundaries), folded
 * as strings are compared, without the apostrophes and quotation marks within them (`don't`, `don’t`: `dont`), without signs
 * that are invisible, and no more than the first 40 UTF-16 units of each; a colon always parts words (`BP:high`), as people expect. No stemming. Texts in scripts
 * without spaces are divided by ICU's dictionaries.
 */
export function wordsOf(text: string, budget: WordsBudget = unbounded()): string[] {
  const words = joinedWords(text, budget);
  return words === '' ? [] : words.split(' ');
}

/**
 * Returns the words of a text like `wordsOf`, joined by spaces; most texts have that form already.
 *
 * @param budget text that needs the segmenter when the budget is used up is left out, and words end a little before
 *   that point; a text that is not all ASCII and exceeds the budget is left out whole, with all such texts behind it
 */
export function joinedWords(value: string, budget: WordsBudget): string {
  const plain = asciiWords(value);
  if (plain !== undefined) return plain;
  if (value.length > budget.unlike) {
    budget.unlike = 0;
    return '';
  }
  budget.unlike -= value.length;
  const text = value.replace(SPACES, ' ').replace(UNSEEN, '');
  if (!DIVIDED.test(text)) return foldedWords(text, budget);
  return text
    .split(/\s+/)
    .map((piece) =>
      DIVIDED.test(piece) ? dividedWords(piece, budget) : (asciiWords(piece) ?? foldedWords(piece, budget)),
    )
    .filter(isSome)
    .join(' ');
}

/** Leaves nothing out. */
export function unbounded(): WordsBudget {
  return { segmented: Infinity, unlike: Infinity };
}

/** Signs that are invisible, and not written in a search: soft hyphens, joiners, marks of direction. */
const UNSEEN = /\p{Cf}/gu;

/** The one among them that parts words, where these are written without spaces. */
const SPACES = /\u200b/g;

function foldedWords(text: string, budget: WordsBudget): string {
  const folded = fold(text).replace(APOSTROPHES, "'").replace(SEPARATORS, ' ');
  // No word goes over a space, and the segmenter takes a thousand times as long as a pass over ASCII.
  return (
    asciiWords(folded) ??
    folded
      .split(' ')
      .map((piece) => asciiWords(piece) ?? wordsOfPiece(piece, budget))
      .filter(isSome)
      .join(' ')
  );
}

function wordsOfPiece(piece: string, budget: WordsBudget): string {
  const run = LETTERS.exec(piece)?.[1];
  return run === undefined ? tidy(segment(piece, budget)).join(' ') : cut(run);
}

/** Scripts without spaces whose vowels and tones are marks: without these no dictionary knows their words. */
const DIVIDED = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function dividedWords(piece: string, budget: WordsBudget): string {
  if (budget.segmented === 0) return '';
  const spelled = piece.normalize('NFC').toLowerCase().replace(COLONS, ' ').replace(SEPARATORS, ' ');
  const words = segment(spelled, budget).flatMap((word) => fold(word).split(' '));
  return tidy(words).filter(isSome).join(' ');
}

function isSome(words: string): boolean {
  return words !== '';
}

/**
 * Versions of all that decides on words besides the text: a number to be raised when the code makes other words, and
 * the versions of Unicode and of the dictionaries (ICU) that the segmenter uses.
 */
export const WORDS = [4, process.versions['unicode'], process.versions['icu']?.split('.')[0]] as const;

/** Rules of the root locale, whatever the machine's. */
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** What the segmenter is given at a time: each of its segments holds a copy of all that it was given. */
const WINDOW = 512;

/** So near its end it may divide otherwise than with what follows: dictionaries weigh the words that come next. */
const UNSURE = 64;

/** What it takes to ask it at all, in units of text. */
const CALL = 8;

function segment(text: string, budget: WordsBudget): string[] {
  const words: string[] = [];
  let window = WINDOW;
  for (let at = 0; at < text.length;) {
    const room = budget.segmented - CALL;
    if (room <= 0) {
      budget.segmented = 0;
      break;
    }
    const end = Math.min(at + window, text.length, at + room);
    budget.segmented -= CALL + end - at;
    const sure = end === text.length ? end : end - UNSURE;
    let behind = at;
    for (const { segment, isWordLike } of segmenter.segment(text.slice(at, end))) {
      if (behind + segment.length > sure) break;
      behind += segment.length;
      if (isWordLike === true) words.push(segment);
    }
    // A word that goes on to the end of the window is seen whole.
    window = behind === at ? 2 * window : WINDOW;
    at = behind;
  }
  return words;
}

/**
 * A run of letters that is one word whatever letters these are, as in ASCII, with signs around it that are no part of a word. Marks
 * are folded away before, and Hangul is letters of an alphabet then.
 */
const SCRIPTS =
  'Latin Cyrillic Greek Armenian Georgian Hebrew Arabic Syriac Thaana Nko Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Tibetan Ethiopic Cherokee Canadian_Aboriginal Mongolian Hangul'.split(
    ' ',
  );
const LETTER = `(?=\\p{L})[${SCRIPTS.map((script) => `\\p{Script=${script}}`).join('')}]`;
const LETTERS = new RegExp(`^["'.,;،]*((?:${LETTER})(?:${LETTER}|[0-9])*)["'.,;،]*$`, 'u');

/** Another spelling of what is in `don't`. */
const APOSTROPHES = /(?<=[a-z])[‘’](?=[a-z])/g;

/** Other spellings of the colon, which the segmenter takes for part of a word, too, where nothing is folded before. */
const COLONS = /[：﹕︓]/g;

/** The colon, and frequent signs that are never part of a word: so that most texts need no segmenter. */
const SEPARATORS = /[:–—“”„«»‹›•°§†‡¿¡।॥؛؟。、「」『』【】〈〉《》()[\]{}<>/\\+*=#&@!?%$^~|`-]/g;

function tidy(words: string[]): string[] {
  if (!words.some((word) => word.length > LONGEST || QUOTE.test(word))) return words;
  return words.map((word) => cut(word.replace(QUOTES, ''))).filter((word) => word !== '');
}

const QUOTES = /['"’‘ʼ＇״׳]/g;
const QUOTE = new RegExp(QUOTES.source);

function cut(word: string): string {
  return word.length > LONGEST ? word.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, '') : word;
}
