import { FhirError } from '../../fhir/errors.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import type { Deletion, Referrer, ResourceKey, StoredVersion } from '../../store/store.js';
import { readStored } from '../read-stored.js';
import type { Services } from '../services.js';
import type { Looking } from '../access/security-context.js';
import { checkReferenceIndexes, findReferrers, referrerParameters, typesStored } from './find-referrers.js';
import { isShown } from '../access/visibility.js';
import type { Integrity } from './integrity.js';

/** Resources that a refusal names. */
const MAX_NAMED = 10;

/** Resources that refer, and are looked at for a refusal. */
const MOST_COUNTED = 1000;

/** Resources that are looked at because they refer, or may. */
const MOST_LOOKED_AT = 20_000;

/**
 * Makes deletions that are only done if nothing refers to what they delete. Most deletions are of such things, which the store finds out
 * within the write. Where it found that others refer, the caller decides anew, and they are looked for: those whose references may be
 * are let pass, for the others there are words.
 *
 * @returns a function that is called with the deletions of each attempt of one write
 */
export function openUnreferred(
  looking: Looking,
  services: Services,
): (deletions: readonly Deletion[]) => Promise<readonly Deletion[]> {
  const { integrity, tables } = services;
  if (integrity === undefined || integrity.holding.length === 0) return (deletions) => Promise.resolve(deletions);
  const types = integrity.holding;
  const params = referrerParameters(types, tables);
  let isFirst = true;
  return async (deletions) => {
    if (deletions.length === 0) return deletions;
    await checkReferenceIndexes(types, services, 'Who refers to what is to be deleted is not known');
    const looks = !isFirst;
    isFirst = false;
    const made: Deletion[] = [];
    for (const deletion of deletions) {
      if (integrity.isShipped(deletion)) made.push(deletion);
      else if (!looks) made.push({ ...deletion, unreferred: { types, params, except: [] } });
      else made.push(await lookedAt(deletion, integrity, params, looking, services));
    }
    return made;
  };
}

async function lookedAt(
  deletion: Deletion,
  integrity: Integrity,
  params: readonly string[],
  looking: Looking,
  services: Services,
): Promise<Deletion> {
  const except: Referrer[] = [];
  const holders: (StoredVersion & { readonly isShown: boolean })[] = [];
  const pace = yieldToEventLoop();
  const holding = new Set(integrity.holding);
  let looked = 0;
  for (const type of (await typesStored(services)).filter((each) => holding.has(each))) {
    if (looked > MOST_LOOKED_AT) break;
    for await (const version of findReferrers(type, deletion, services, looking.signal)) {
      await pace();
      if (++looked > MOST_LOOKED_AT) {
        // Those that were found are enough to refuse.
        if (holders.length > 0) break;
        throw new FhirError('too-costly', tooMany(deletion));
      }
      if (version.json === undefined || (version.type === deletion.type && version.id === deletion.id)) continue;
      const { id, version: number } = version;
      if (!integrity.holds(await readStored(version.json, services), deletion)) {
        except.push({ type, id, version: number });
      } else if (holders.length < MOST_COUNTED) {
        const { json: _json, ...head } = version;
        holders.push({ ...head, isShown: await isShown(version, looking, services) });
      }
    }
  }
  const unreferred = { types: integrity.holding, params, except };
  if (holders.length === 0) return { ...deletion, unreferred };
  const refuse = (changed: ReadonlySet<string>): FhirError => {
    const others = holders.filter(({ type, id }) => !changed.has(`${type}/${id}`));
    const shown = (others.length > 0 ? others : holders).filter((each) => each.isShown);
    return new FhirError('still-referred', wordsOf(deletion, shown));
  };
  return { ...deletion, unreferred, refuse };
}

/** What the token does not show is not counted either. */
function wordsOf({ type, id }: ResourceKey, shown: readonly StoredVersion[]): string {
  const names = shown.slice(0, MAX_NAMED).map((each) => `${each.type}/${each.id}`);
  const more = shown.length - names.length;
  const most = shown.length >= MOST_COUNTED ? 'at least ' : '';
  const who = names.length === 0 ? 'other resources' : names.join(', ') + (more > 0 ? ` and ${most}${more} more` : '');
  return `${type}/${id} is referred to by ${who}; delete or change them first, or in the same transaction`;
}

function tooMany({ type, id }: ResourceKey): string {
  return `More than ${MOST_LOOKED_AT} resources refer to ${type}/${id}; delete or change some of them first`;
}
