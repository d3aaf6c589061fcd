import { MOST_TEXT, toLine } from './line.js';
import { blocksOf } from './narrative.js';

/** Tags are no text: so much more of a narrative is read. */
const TAGS = 4;

/** Makes lines of the texts of a resource, of each once. */
export interface LineReader {
  /** Whether this text was read before. */
  knows(text: string, isXhtml: boolean): boolean;
  read(text: string, isXhtml: boolean): string;
  /** A line that was read, with what it took of the budget; undefined: none, or perhaps not the whole of it. */
  whole(text: string, isXhtml: boolean): WholeLine | undefined;
}

interface WholeLine {
  readonly line: string;
  /** UTF-16 units. */
  readonly took: number;
}

/**
 * Makes one.
 *
 * @param units what the segmenter may be given: UTF-16 units, never time, so that lines are the same wherever they are made
 * @param before read other parameters: what stands beside one mostly stands in the content, too. Lines of this are taken over, and count
 * as if they had been made anew, so that they are the same without it
 */
export function readLines(units: number, before?: LineReader): LineReader {
  const budget = { units };
  const texts = new Map<string, WholeLine>();
  const narratives = new Map<string, WholeLine>();

  function make(text: string, isXhtml: boolean): WholeLine {
    const known = before?.whole(text, isXhtml);
    const { units } = budget;
    if (known !== undefined && known.took <= units) {
      budget.units -= known.took;
      return known;
    }
    const blocks = isXhtml ? blocksOf(text.slice(0, TAGS * MOST_TEXT)) : [text];
    const line = blocks.map((block) => toLine(block, budget)).join('');
    return { line, took: budget.units === 0 ? Infinity : units - budget.units };
  }

  return {
    knows: (text, isXhtml) => (isXhtml ? narratives : texts).has(text),
    read(text, isXhtml) {
      const known = isXhtml ? narratives : texts;
      let made = known.get(text);
      if (made === undefined) known.set(text, (made = make(text, isXhtml)));
      return made.line;
    },
    whole(text, isXhtml) {
      const made = (isXhtml ? narratives : texts).get(text);
      return made === undefined || made.took === Infinity ? undefined : made;
    },
  };
}
