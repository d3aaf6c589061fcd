import type { SearchRow } from '../../contract/search.js';
import type { Tables } from '../../contract/tables.js';
import { compileWays } from '../../path/compile-ways.js';
import type { Visit, Way } from '../../path/visit.js';
import type { WordsEntry } from '../entry.js';
import { parametersOf } from '../parameters-of.js';
import { createCharge } from '../stored-bound.js';
import { objectOf, textOf } from '../values/json.js';
import { collectLines } from './collect-lines.js';
import { createContentWalk } from './content.js';
import { hasDisplays, takeDisplays, type TextFocus } from './displays.js';
import { joinWords } from './join-words.js';
import { CONTENT, NARRATIVE } from './parameters.js';
import { readLines, type LineReader } from './read-lines.js';
import type { WordsBudget } from './segment.js';

/**
 * Reads the texts of a resource of a type that the tables have. Never throws.
 *
 * @param wanted parameters whose words are wanted, which are the same as among all; absent: all
 */
export type TextExtractor = (type: string, resource: Json, wanted?: ReadonlySet<string>) => WordsEntry[];

type Json = Readonly<Record<string, unknown>>;

/** What of some texts of a resource is read. */
interface Bounds extends Readonly<WordsBudget> {
  /** Different words, counted once for each parameter: a store has a key for each, and MongoDB changes all those of a document at once. */
  readonly words: number;
}

/**
 * Limits of the words that a resource is found by. `content` is for `_content`, which includes the words of `_text`;
 * `beside` for all other built-in parameters together; `stored` for stored parameters, which not all readers of the
 * resource know of. Words beyond a limit do not find the resource. The head (`meta`) may be written anew with every
 * version while the words of all else are known, so its words come last and have limits of their own.
 */
export const TEXT_BOUNDS: Readonly<Record<'body' | 'head', Readonly<Record<'content' | Beside, Bounds>>>> = {
  body: {
    content: { words: 12_000, segmented: 50_000, unlike: 600_000 },
    beside: { words: 6_000, segmented: 20_000, unlike: 500_000 },
    stored: { words: 1_000, segmented: 5_000, unlike: 100_000 },
  },
  head: {
    content: { words: 500, segmented: 2_000, unlike: 40_000 },
    beside: { words: 400, segmented: 2_000, unlike: 40_000 },
    stored: { words: 100, segmented: 500, unlike: 10_000 },
  },
};

/** Parameters whose words are beside their values: those of the specification, and stored ones. */
type Beside = 'beside' | 'stored';

/** What is read of a type. */
interface TypeTexts {
  readonly hasNarrative: boolean;
  /** Take the texts of all other parameters; each may give up, and then has none. */
  readonly visits: Readonly<Record<Beside, readonly BesideVisit[]>>;
}

interface BesideVisit {
  /** Code of the stored parameter that it is of; absent: of all that are built in. */
  readonly stored?: string;
  readonly visit: Visit<TextFocus>;
}

/**
 * Makes the function that reads the words of a resource: of its narrative, of its whole content, of what is beside the
 * values of its token and reference parameters, and of parameters that are narratives themselves.
 */
export function createTextExtractor(tables: Pick<Tables, 'search' | 'types' | 'primitives'>): TextExtractor {
  const searchTables = new Map(tables.search.map((table) => [table.type, table]));
  const walk = createContentWalk(tables);
  const compiled = new Map<string, TypeTexts>();

  function textsOf(type: string): TypeTexts {
    let texts = compiled.get(type);
    if (texts === undefined) {
      const rows = parametersOf(type, searchTables);
      // The words of a union are those of its parts.
      const builtIn = [...rows.values()].filter(({ isStored, unionOf }) => isStored !== true && unionOf === undefined);
      const stored = [...rows.values()].filter(({ isStored }) => isStored === true);
      const visits = {
        beside: [{ visit: compileWays(builtIn.flatMap(waysOf)) }],
        stored: stored.map((row) => ({ stored: row.code, visit: compileWays(waysOf(row)) })),
      };
      texts = { hasNarrative: rows.has(NARRATIVE), visits };
      compiled.set(type, texts);
    }
    return texts;
  }

  function contentOf(resource: Json, { hasNarrative }: TypeTexts, most: number, lines: LineReader): WordsEntry[] {
    const collected = collectLines(most);
    const add = (text: string, isXhtml: boolean): void => {
      if (collected.isFull(CONTENT) || lines.knows(text, isXhtml)) return;
      collected.add(CONTENT, lines.read(text, isXhtml));
    };
    // The narrative is in the content whatever else there is: a store may keep it once.
    const own = textOf(objectOf(resource['text'])?.['div']);
    if (own !== undefined) add(own, true);
    const text = collected.textOf(CONTENT);
    walk(resource, add);
    const content = collected.entries();
    return text === '' || !hasNarrative ? content : [...content, { kind: 'words', param: NARRATIVE, text }];
  }

  function besideOf(resource: Json, visits: readonly BesideVisit[], most: number, lines: LineReader): WordsEntry[] {
    const failed = new Set<string>();
    const collected = collectLines(most);
    const taken = new Map<string, Set<string>>();
    const take: TextFocus['take'] = (param, text, isXhtml = false) => {
      if (collected.isFull(param)) return;
      const line = lines.read(text, isXhtml);
      // Text and display of a code are mostly the same, and nothing is found by the second that is not by the first.
      let known = taken.get(param);
      if (known === undefined) taken.set(param, (known = new Set()));
      if (!known.has(line)) collected.add(param, line);
      known.add(line);
    };
    // What is built in has no such bound; what stored parameters find is counted, as for their values.
    const charge = createCharge();
    for (const { stored, visit } of visits) {
      try {
        visit(resource, { root: resource, take, ...(stored !== undefined && { charge }) });
      } catch (error) {
        if (stored === undefined) throw error;
        failed.add(stored);
      }
    }
    return collected.entries().filter(({ param }) => !failed.has(param));
  }

  return (type, resource, wanted) => {
    const texts = textsOf(type);
    const isWanted = (param: string): boolean => wanted === undefined || wanted.has(param);
    const wantsContent = isWanted(CONTENT) || isWanted(NARRATIVE);
    const wantsBeside = wanted === undefined || [...wanted].some((each) => each !== CONTENT && each !== NARRATIVE);
    const entriesOf = (part: Json, bounds: (typeof TEXT_BOUNDS)['body']): WordsEntry[] => {
      const lines = readLines(bounds.content);
      const content = wantsContent ? contentOf(part, texts, bounds.content.words, lines) : [];
      const entriesBeside = (which: Beside): WordsEntry[] => {
        const most = bounds[which];
        return wantsBeside ? besideOf(part, texts.visits[which], most.words, readLines(most, lines)) : [];
      };
      return [...content, ...entriesBeside('beside'), ...entriesBeside('stored')].filter(({ param }) =>
        isWanted(param),
      );
    };
    const { meta, ...body } = resource;
    const entries = entriesOf(body, TEXT_BOUNDS.body);
    if (meta === undefined) return entries;
    const ofHead = entriesOf({ resourceType: resource['resourceType'], meta }, TEXT_BOUNDS.head);
    return ofHead.length === 0 ? entries : joinWords([...entries, ...ofHead]);
  };
}

function waysOf({ code, type, paths }: SearchRow): readonly Way<TextFocus>[] {
  if (type !== 'token' && type !== 'reference' && type !== 'special') return [];
  // The narrative is read with the content.
  return paths
    .filter(({ types, isEvaluated }) => code !== NARRATIVE && isEvaluated !== true && types.some(hasDisplays))
    .map(({ steps, types }) => ({
      steps,
      end: (told) => takeDisplays(code, told === undefined ? types : [told]),
    }));
}
