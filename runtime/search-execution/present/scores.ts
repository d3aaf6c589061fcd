import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { valuedBy, type WordsLeaf } from '../../search/query/query.js';
import { textIn } from '../../search/text/text-in.js';
import { scoreWords } from '../../search/text/score-words.js';
import type { StoredVersion } from '../../store/store.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';

/** The score of each resource, from 0 to 1. https://hl7.org/fhir/R5/bundle-definitions.html#Bundle.entry.search.score */
export async function scoresOf(
  versions: readonly StoredVersion[],
  asked: readonly WordsLeaf[],
  services: Pick<Services, 'extract' | 'largeTexts'>,
): Promise<readonly number[]> {
  const pace = yieldToEventLoop();
  const allButWordsOf = new Set(asked.flatMap(valuedBy));
  const scores: number[] = [];
  for (const { json = '{}' } of versions) {
    await pace();
    const entries = services.extract(await readStored(json, services), { allButWordsOf });
    const textOf = (leaf: WordsLeaf): string | undefined => {
      const params = valuedBy(leaf);
      return textIn(entries.filter(({ param }) => params.includes(param)));
    };
    scores.push(scoreWords(asked.map((leaf) => ({ test: leaf.words, text: textOf(leaf) }))));
  }
  return scores;
}
