import { MOST_TEXT, toLine } from './line.js';
import { blocksOf } from './narrative.js';

/** Tags are no text: so much more of a narrative is read. */
const TAGS = 4;

/** Makes lines of the texts of a resource, of each once: what stands beside a parameter mostly stands in the content, too. */
export interface LineReader {
  /** Whether this text was read before. */
  knows(text: string, isXhtml: boolean): boolean;
  read(text: string, isXhtml: boolean): string;
}

/** Makes one, which begins without any line. */
export function readLines(): LineReader {
  const texts = new Map<string, string>();
  const narratives = new Map<string, string>();
  return {
    knows: (text, isXhtml) => (isXhtml ? narratives : texts).has(text),
    read(text, isXhtml) {
      const known = isXhtml ? narratives : texts;
      let line = known.get(text);
      if (line === undefined) known.set(text, (line = isXhtml ? narrative(text) : toLine(text)));
      return line;
    },
  };
}

function narrative(xhtml: string): string {
  return blocksOf(xhtml.slice(0, TAGS * MOST_TEXT))
    .map(toLine)
    .join('');
}
