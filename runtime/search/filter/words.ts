import { FhirError } from '../../fhir/errors.js';
import { clip, quote } from '../../fhir/quote.js';

/** A piece of a filter. `at` is where it begins: characters from its start. */
export interface Word {
  /** One of the brackets, or no bracket is in it. */
  readonly is: 'mark' | 'word';
  readonly text: string;
  readonly at: number;
}

const MARKS = '()[]';

/**
 * Reads a filter piece by piece. What a piece is depends on where it is: a path ends at a bracket, a value at white space
 * or at what closes a bracket.
 */
export class Words {
  private at = 0;

  constructor(private readonly text: string) {}

  /** The next mark or word, which stays; undefined: the filter ends. A word ends at white space or a mark. */
  peek(): Word | undefined {
    const at = this.skip();
    const first = this.text.charAt(at);
    if (first === '') return undefined;
    if (MARKS.includes(first)) return { is: 'mark', text: first, at };
    const end = this.endOf(/[\s()[\]]/g, at);
    return { is: 'word', text: this.text.slice(at, end), at };
  }

  /** Whether white space, or the end, is here. */
  isApart(): boolean {
    return /^(?:\s|$)/.test(this.text.slice(this.at, this.at + 1));
  }

  /** Goes on behind a word that `peek` gave. */
  pass({ at, text }: Word): void {
    this.at = at + text.length;
  }

  /** The mark, which has to be here. @throws FhirError `parameter-invalid` */
  expect(mark: string, why: string): void {
    const word = this.peek();
    if (word?.is !== 'mark' || word.text !== mark) throw this.wrong(`${quote(mark)} ${why}`);
    this.pass(word);
  }

  /** Goes on behind a value: a JSON string, or all up to white space, ")" or "]". @throws FhirError `parameter-invalid` */
  value(after: string): string {
    const at = this.skip();
    if (this.text.charAt(at) === '"') return this.string(at);
    const end = this.endOf(/[\s)\]]/g, at);
    if (end === at) throw this.wrong(`a value after ${quote(after)}`);
    this.at = end;
    return this.text.slice(at, end);
  }

  /** What should be here and is not. */
  wrong(wanted: string): FhirError {
    const found = this.text.slice(this.at).trimStart();
    const place = found === '' ? 'at its end' : `before ${JSON.stringify(clip(found))}`;
    return new FhirError('parameter-invalid', `The filter lacks ${wanted}, ${place}`);
  }

  private skip(): number {
    this.at = this.endOf(/\S/g, this.at);
    return this.at;
  }

  private endOf(pattern: RegExp, from: number): number {
    pattern.lastIndex = from;
    return pattern.exec(this.text)?.index ?? this.text.length;
  }

  private string(at: number): string {
    const [literal] = /^"(?:[^"\\]|\\[^])*"/.exec(this.text.slice(at)) ?? [];
    this.at = at + (literal?.length ?? 0);
    try {
      const text: unknown = JSON.parse(literal ?? '');
      // URLs hold no half of a surrogate pair, and neither do stores.
      if (typeof text === 'string' && !/\p{Surrogate}/u.test(text)) return text;
    } catch {
      // Reported below.
    }
    this.at = at;
    throw this.wrong('the end of a string as JSON writes it, "…" with \\" and \\\\ inside');
  }
}
