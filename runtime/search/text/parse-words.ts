import { ownMember } from '../../fhir/own-member.js';
import { ValueError } from '../parse/parse-value.js';
import type { WordsTest } from '../query/query.js';
import { LONGEST } from '../../indexing/text/ascii-words.js';
import { countWords, MOST_WORDS } from './has-words.js';
import { wordsOf, type WordsBudget } from '../../indexing/text/segment.js';
import { quote } from '../../fhir/quote.js';

/** Characters of a value for each of its words, at most: twice what counts of a word. Longer ones are refused before they are divided. */
const LONGEST_ASKED = 2 * LONGEST;

/** Limits of all values for words in one search together: they are read on the thread that serves all requests. */
export const SEARCH_BOUNDS = { characters: 40_000, segmented: 8_000 } as const;

/** Budget that is left for the values for words in one search. */
export interface TextBudget extends WordsBudget {
  characters: number;
  /** What was read, by modifier and value: a chain that leads to many types reads its value once. */
  readonly known: Map<string, readonly WordsTest[]>;
}

/** All that one search may take. */
export function textBudget(): TextBudget {
  return { ...SEARCH_BOUNDS, unlike: Infinity, known: new Map() };
}

/** Parentheses within each other. The parser of SQLite's FTS5 has a stack of fixed size, and gets up to three for one. */
export const DEEPEST = 8;

/**
 * Reads what full text is asked for: words, all of which have to be there; `"a phrase"`; `AND`, `OR` and `NOT` in either case, AND
 * before OR; parentheses. `NOT` goes with something that is to be there. https://hl7.org/fhir/R5/search.html#_content
 *
 * @throws ValueError
 */
export function readWords(text: string, budget: WordsBudget = textBudget()): WordsTest {
  checkLength(text);
  const reader: Reader = { tokens: tokensOf(text), budget, at: 0, depth: 0 };
  const test = readOr(reader);
  // Whatever comes before the end, readOr stops at a closing parenthesis alone.
  if (reader.at < reader.tokens.length) throw new ValueError('has a ) without a (');
  return bounded(test);
}

/** Reads the beginning of a value. @throws ValueError */
export function readBeginning(text: string, budget: WordsBudget = textBudget()): WordsTest {
  checkLength(text);
  const begins = wordsWithin(text, budget);
  if (begins.length === 0) throw nothing(text);
  return bounded({ begins });
}

/**
 * Looks at how long a value is, which is no work.
 *
 * @param words how many it may have
 * @throws ValueError
 */
export function checkLength(text: string, words = MOST_WORDS): void {
  const most = words * LONGEST_ASKED;
  if (text.length > most) {
    throw new ValueError(`has ${text.length} characters, and may have ${most}, for ${words} words`);
  }
}

/** Takes the length of a value. @throws ValueError */
export function takeLength({ length }: string, budget: TextBudget): void {
  if (length > budget.characters) {
    const most = SEARCH_BOUNDS.characters.toLocaleString('en');
    throw new ValueError(`has more characters than are left: all words of a search have ${most} together`);
  }
  budget.characters -= length;
}

/** The words of a text, or none of them. */
function wordsWithin(text: string, budget: WordsBudget): string[] {
  const words = wordsOf(text, budget);
  if (budget.segmented > 0) return words;
  const most = SEARCH_BOUNDS.segmented.toLocaleString('en');
  throw new ValueError(
    `is more than a search may ask for of what only dictionaries and rules divide into words: ${most} characters together, each piece without a space counting some more`,
  );
}

function bounded(test: WordsTest): WordsTest {
  const count = countWords(test);
  if (count > MOST_WORDS) throw new ValueError(`has ${count} words, and may have ${MOST_WORDS}`);
  return test;
}

type Token = { readonly is: 'and' | 'or' | 'not' | '(' | ')' } | { readonly is: 'text'; readonly text: string };

interface Reader {
  readonly tokens: readonly Token[];
  readonly budget: WordsBudget;
  at: number;
  depth: number;
}

const OPERATORS: Readonly<Record<string, Token>> = { and: { is: 'and' }, or: { is: 'or' }, not: { is: 'not' } };

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (const [piece, quoted, bracket, word] of text.matchAll(/"([^"]*)"|([()])|([^\s()"]+)|"/g)) {
    if (piece === '"') throw new ValueError('has a quotation mark without another; a comma in a phrase is written \\,');
    if (quoted !== undefined) tokens.push({ is: 'text', text: quoted });
    else if (bracket !== undefined) tokens.push({ is: bracket as '(' | ')' });
    else if (word !== undefined) tokens.push(ownMember(OPERATORS, word.toLowerCase()) ?? { is: 'text', text: word });
  }
  return tokens;
}

function readOr(reader: Reader): WordsTest {
  const some = [readAnd(reader)];
  while (skip(reader, 'or')) some.push(readAnd(reader));
  return some.length === 1 ? some[0]! : { some };
}

function readAnd(reader: Reader): WordsTest {
  const all: WordsTest[] = [];
  const none: WordsTest[] = [];
  do {
    const isNot = skip(reader, 'not');
    (isNot ? none : all).push(readOne(reader));
  } while (skip(reader, 'and') || !isEnd(reader));
  if (all.length === 0) throw new ValueError('has nothing but NOT: say what is to be there, as in "a NOT b"');
  return all.length === 1 && none.length === 0 ? all[0]! : { all, none };
}

function isEnd({ tokens, at }: Reader): boolean {
  const is = tokens[at]?.is;
  return is === undefined || is === 'or' || is === ')';
}

function readOne(reader: Reader): WordsTest {
  const token = reader.tokens[reader.at++];
  if (token?.is === 'text') {
    const phrase = wordsWithin(token.text, reader.budget);
    if (phrase.length === 0) throw nothing(token.text);
    return { phrase };
  }
  if (token?.is !== '(') {
    const where = token === undefined ? 'at the end' : `before ${token.is.toUpperCase()}`;
    throw new ValueError(`lacks a word ${where}; AND, OR and NOT stand for themselves within quotation marks`);
  }
  if (++reader.depth > DEEPEST) throw new ValueError(`has more than ${DEEPEST} parentheses within each other`);
  const test = readOr(reader);
  if (!skip(reader, ')')) throw new ValueError('has a ( without a )');
  reader.depth--;
  return test;
}

function skip(reader: Reader, is: Token['is']): boolean {
  if (reader.tokens[reader.at]?.is !== is) return false;
  reader.at++;
  return true;
}

function nothing(piece: string): ValueError {
  return new ValueError(`has nothing to look for in ${quote(piece)}: letters or digits are needed`);
}
