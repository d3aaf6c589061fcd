import { MOST_TEXT, toLine } from './line.js';
import { blocksOf } from './narrative.js';
import type { WordsBudget } from './segment.js';

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
  /** Undefined: perhaps it would be longer with more. */
  readonly took: Readonly<WordsBudget> | undefined;
}

/**
 * Makes one.
 *
 * @param bounds what all lines together may take
 * @param before read other parameters: what is beside one is mostly in the content, too. Lines of this are taken over, and count
 * as if they had been made anew, so that they are the same without it
 */
export function readLines(bounds: Readonly<WordsBudget>, before?: LineReader): LineReader {
  const budget = { segmented: bounds.segmented, unlike: bounds.unlike };
  const texts = new Map<string, WholeLine>();
  const narratives = new Map<string, WholeLine>();

  function make(text: string, isXhtml: boolean): WholeLine {
    const known = before?.whole(text, isXhtml);
    const took = known?.took;
    if (took !== undefined && took.segmented <= budget.segmented && took.unlike <= budget.unlike) {
      budget.segmented -= took.segmented;
      budget.unlike -= took.unlike;
      return known!;
    }
    const { segmented, unlike } = budget;
    const blocks = isXhtml ? blocksOf(text.slice(0, TAGS * MOST_TEXT)) : [text];
    const line = blocks.map((block) => toLine(block, budget)).join('');
    const isWhole = budget.segmented > 0 && budget.unlike > 0;
    return {
      line,
      took: isWhole ? { segmented: segmented - budget.segmented, unlike: unlike - budget.unlike } : undefined,
    };
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
      return made?.took === undefined ? undefined : made;
    },
  };
}
