import { neededOn } from '../../auth/access/needed-scopes.js';
import { refusal } from '../../auth/access/refuse.js';
import { SEARCH_PARAMETER } from '../../indexing/parameters/stored-parameter.js';
import type { Change } from '../../store/store.js';
import type { Call } from '../call.js';
import { liveVersion } from '../write/preconditions.js';
import { readStored } from '../read-stored.js';
import type { Services } from '../services.js';
import type { WriteTarget } from '../write/write-plan.js';

const TEXT =
  'A search parameter that comes into effect, or goes out of it, changes what everybody finds, so that a scope within bounds is ' +
  'not enough (one that is not active is within them); what is needed is';

/**
 * Refuses writes by which a search parameter comes into effect, changes or goes, where the letter is given within bounds only: what
 * all others find, and what their scopes bound, follows from it, which no bound on resources of this type is about.
 *
 * @param letter that the write is done with
 * @throws FhirError `scope-missing`
 */
export async function checkEffects(
  changes: readonly Change[],
  { targets }: WriteTarget,
  letter: string,
  { principal: { access } }: Pick<Call, 'principal'>,
  services: Pick<Services, 'takesEffect' | 'store' | 'largeTexts'>,
): Promise<void> {
  const { takesEffect, store } = services;
  const mine = changes.filter(({ type }) => type === SEARCH_PARAMETER);
  if (mine.length === 0 || access.isWhole(SEARCH_PARAMETER, letter)) return;
  const refused = () => refusal('scope-missing', { needed: neededOn(SEARCH_PARAMETER, letter), text: TEXT });
  for (const { id, content } of mine) {
    if (content !== undefined && takesEffect(content)) throw refused();
    const live = liveVersion(targets.find((target) => target.id === id)?.current);
    if (live === undefined) continue;
    // The text is empty where a transaction has no room for it.
    const json = live.json === '' ? (await store.readVersion(live.type, live.id, live.version))?.json : live.json;
    if (json !== undefined && takesEffect(await readStored(json, services))) throw refused();
  }
}
