import type { SearchRow } from '../../contract/search.js';
import type { Tables } from '../../contract/tables.js';
import { compileWays } from '../../path/compile-ways.js';
import type { Visit, Way } from '../../path/visit.js';
import type { WordsEntry } from '../entry.js';
import { parametersOf } from '../parameters-of.js';
import { createContentWalk } from './content.js';
import { hasDisplays, takeDisplays, type TextFocus } from './displays.js';
import { append, MOST_TEXT, toLine } from './line.js';
import { blocksOf } from './narrative.js';
import { CONTENT, NARRATIVE } from './parameters.js';

/** Reads the texts of a resource of a type that the tables have. Never throws. */
export type TextExtractor = (type: string, resource: Readonly<Record<string, unknown>>) => WordsEntry[];

/** Tags are no text: so much more of a narrative is read. */
const TAGS = 4;

/**
 * Makes the function that reads the words of a resource: of its narrative, of its whole content, of what stands beside the
 * values of its token and reference parameters, and of parameters that are narratives themselves.
 */
export function createTextExtractor(tables: Pick<Tables, 'search' | 'types' | 'primitives'>): TextExtractor {
  const searchTables = new Map(tables.search.map((table) => [table.type, table]));
  const walk = createContentWalk(tables);
  const compiled = new Map<string, Visit<TextFocus>>();
  return (type, resource) => {
    let visit = compiled.get(type);
    if (visit === undefined) {
      visit = compileWays([...parametersOf(type, searchTables).values()].flatMap(waysOf));
      compiled.set(type, visit);
    }
    const texts = new Map<string, { text: string; readonly lines: Set<string> }>();
    // Most texts of a resource stand in its content and beside a parameter.
    const known = { texts: new Map<string, string>(), narratives: new Map<string, string>() };
    const take: TextFocus['take'] = (param, text, isXhtml = false) => {
      const lines = isXhtml ? known.narratives : known.texts;
      let line = lines.get(text);
      if (line === undefined) lines.set(text, (line = isXhtml ? narrative(text) : toLine(text)));
      // Text and display of a code are mostly the same, and nothing is found by the second that is not by the first.
      if (line === '') return;
      const collected = texts.get(param);
      if (collected === undefined) texts.set(param, { text: append('', line), lines: new Set([line]) });
      else if (!collected.lines.has(line)) {
        collected.lines.add(line);
        collected.text = append(collected.text, line);
      }
    };
    walk(resource, (text, isXhtml) => take(CONTENT, text, isXhtml));
    visit(resource, { root: resource, take });
    return Array.from(texts, ([param, { text }]) => ({ kind: 'words', param, text }));
  };
}

function narrative(xhtml: string): string {
  return blocksOf(xhtml.slice(0, TAGS * MOST_TEXT))
    .map(toLine)
    .join('');
}

function waysOf({ code, type, paths }: SearchRow): readonly Way<TextFocus>[] {
  if (code === NARRATIVE) {
    return [{ steps: [{ get: 'text' }], end: () => takeDisplays(code, ['Narrative']) }];
  }
  if (type !== 'token' && type !== 'reference' && type !== 'special') return [];
  return paths
    .filter(({ types }) => types.some(hasDisplays))
    .map(({ steps, types }) => ({
      steps,
      end: (told) => takeDisplays(code, told === undefined ? types : [told]),
    }));
}
