import { yieldToEventLoop } from '../../../fhir/yield-to-event-loop.js';
import type { WordsEntry } from '../../../search/entry.js';
import { scoreWords } from '../../../search/text/score-words.js';
import type { StoredVersion } from '../../../store/store.js';
import { readStored } from '../../read-stored.js';
import type { AskedWords } from '../parse/asked-words.js';
import type { Services } from '../../services.js';

/** The score of each resource, from 0 to 1. https://hl7.org/fhir/R5/bundle-definitions.html#Bundle.entry.search.score */
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
