import type { SearchRow } from '../../contract/search.js';
import type { Tables } from '../../contract/tables.js';
import { compileWays } from '../../path/compile-ways.js';
import type { Visit, Way } from '../../path/visit.js';
import type { WordsEntry } from '../entry.js';
import { parametersOf } from '../parameters-of.js';
import { objectOf, textOf } from '../values/json.js';
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
    // Most texts beside a parameter, and all narratives, stand in the content, too.
    const [lines, narratives] = [new Map<string, string>(), new Map<string, string>()];
    let content = '';
    let isFull = false;
    const add = (text: string, isXhtml: boolean): void => {
      const known = isXhtml ? narratives : lines;
      if (isFull || known.has(text)) return;
      const line = isXhtml ? narrative(text) : toLine(text);
      known.set(text, line);
      const longer = append(content, line);
      isFull = longer.length < content.length + line.length;
      content = longer;
    };
    // The narrative is in the content whatever else there is: a store may keep it once.
    const own = textOf(objectOf(resource['text'])?.['div']);
    if (own !== undefined) add(own, true);
    // What is in the head comes last: it may be written anew with every version, and all else be known.
    const { meta, ...others } = resource;
    walk(others, add);
    if (meta !== undefined) walk({ resourceType: resource['resourceType'], meta }, add);
    const texts = new Map<string, { text: string; readonly lines: Set<string> }>();
    const take: TextFocus['take'] = (param, text, isXhtml = false) => {
      const line = isXhtml ? (narratives.get(text) ?? narrative(text)) : (lines.get(text) ?? toLine(text));
      // Text and display of a code are mostly the same, and nothing is found by the second that is not by the first.
      if (line === '') return;
      const collected = texts.get(param);
      if (collected === undefined) texts.set(param, { text: append('', line), lines: new Set([line]) });
      else if (!collected.lines.has(line)) {
        collected.lines.add(line);
        collected.text = append(collected.text, line);
      }
    };
    visit(resource, { root: resource, take });
    const entries = Array.from(texts, ([param, { text }]): WordsEntry => ({ kind: 'words', param, text }));
    return content === '' ? entries : [{ kind: 'words', param: CONTENT, text: content }, ...entries];
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
    .filter(({ types, library }) => library !== true && types.some(hasDisplays))
    .map(({ steps, types }) => ({
      steps,
      end: (told) => takeDisplays(code, told === undefined ? types : [told]),
    }));
}
