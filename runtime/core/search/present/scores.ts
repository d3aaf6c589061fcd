import { yieldToEventLoop } from '../../../fhir/yield-to-event-loop.js';
import type { WordsEntry } from '../../../search/entry.js';
import type { Criterion, WordsTest } from '../../../search/query/query.js';
import { scoreWords } from '../../../search/text/score-words.js';
import type { StoredVersion } from '../../../store/store.js';
import { readStored } from '../../read-stored.js';
import type { Services } from '../../services.js';

/** Words that a search asks for. */
export interface AskedWords {
  readonly param: string;
  readonly words: WordsTest;
}

/** The words that criteria ask the matches themselves for, but for those that must not be there. */
export function wordsAskedFor(criteria: readonly Criterion[]): readonly AskedWords[] {
  return criteria.flatMap((criterion): readonly AskedWords[] => {
    if ('words' in criterion) return [criterion];
    if ('all' in criterion) return wordsAskedFor(criterion.all);
    return 'some' in criterion ? wordsAskedFor(criterion.some) : [];
  });
}

/** How well each of some resources answers. https://hl7.org/fhir/R5/bundle-definitions.html#Bundle.entry.search.score */
export async function scoresOf(
  versions: readonly StoredVersion[],
  asked: readonly AskedWords[],
  services: Pick<Services, 'extract' | 'largeTexts'>,
): Promise<readonly number[]> {
  const pace = yieldToEventLoop();
  const allButWordsOf = new Set(asked.map(({ param }) => param));
  const scores: number[] = [];
  for (const { json = '{}' } of versions) {
    await pace();
    const entries = services.extract(await readStored(json, services), { allButWordsOf });
    const texts = new Map(
      entries.filter((each): each is WordsEntry => each.kind === 'words').map((each) => [each.param, each]),
    );
    scores.push(scoreWords(asked.map(({ param, words }) => ({ test: words, entry: texts.get(param) }))));
  }
  return scores;
}
