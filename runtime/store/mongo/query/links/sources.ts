import type { IncludeStep, VersionKey } from '../../../include-steps.js';
import type { ResourceKey, StoredVersion } from '../../../store.js';
import { idOf, type Raw } from '../../bson/bson.js';
import { keyOf } from '../../bson/documents.js';
import type { Ask } from '../ask.js';
import { everyOf, LIVING } from '../compile/compile.js';
import { referenceParam } from '../../bson/index-rows.js';
import { BY_ENTRY } from '../../indexes.js';
import { toStoredVersions, VERSION_ONLY } from '../../bson/stored-version.js';
import { isCanonicalOf, toCandidate, toKey } from './candidate.js';
import { canonicalsOf } from './canonicals.js';
import { chunksOf, readAllBy } from './read-all.js';

type Step = Extract<IncludeStep, { ask: 'sources' }>;

/** Resources of one snapshot that refer to others. */
export interface Sources {
  /** Resources that refer to some others, by some parameters. */
  find(step: Step): Promise<readonly ResourceKey[]>;
  /** The current versions of some that were found, where all of them are at hand. */
  read(of: readonly VersionKey[]): Promise<readonly StoredVersion[] | undefined>;
}

/** Places that one command names. */
const PLACES = 200;

/** Nothing was found yet. */
export function openSources(ask: Ask): Sources {
  /** What was found comes next, mostly, and so is read at the same time. */
  const versions = new Map<string, Raw>();
  const known = new Map<string, Promise<boolean>>();

  /** Whether there is a reference by one of some parameters. */
  function hasAny(type: string, params: readonly string[]): Promise<boolean> {
    const name = JSON.stringify([type, params]);
    const referring = { p: { $in: [...params] } };
    const isThere =
      known.get(name) ?? ask.isLonger({ type, reference: { $elemMatch: referring } }, BY_ENTRY.reference, 0);
    known.set(name, isThere);
    return isThere;
  }

  async function addReferring({ type, params, of, limit }: Step, found: Set<string>): Promise<void> {
    // In the order of what they refer to, then of ids: as the index has it.
    for (const chunk of chunksOf(of.map(keyOf), PLACES)) {
      const to = { $in: [...chunk] };
      const filter = everyOf([{ type, reference: { $elemMatch: { p: { $in: [...params] }, to } } }, LIVING]);
      const query = { filter, hint: BY_ENTRY.reference, limit };
      const whole = of.length <= PLACES ? await ask.read({ ...query, projection: VERSION_ONLY }) : undefined;
      // Of what one answer does not hold the keys come first.
      const isWhole = whole !== undefined && !whole.isCut;
      const { documents } = isWhole ? whole : await ask.read({ ...query, projection: { _id: 1 } });
      for (const bytes of documents) {
        const key = idOf(bytes);
        found.add(key);
        if (isWhole) versions.set(key, bytes);
      }
      if (found.size >= limit) break;
    }
  }

  return {
    async find(step) {
      const urls = step.params.map((param) => referenceParam(param, 'url'));
      const found = new Set<string>();
      const [hasUrls] = await Promise.all([hasAny(step.type, urls), addReferring(step, found)]);
      if (hasUrls && found.size < step.limit) await addCanonicalSources(ask, step, urls, found);
      return [...found].slice(0, step.limit).map(toKey);
    },
    async read(of) {
      const all = of.flatMap((key) => (key.version === undefined ? (versions.get(keyOf(key)) ?? []) : []));
      return all.length === of.length ? toStoredVersions(all) : undefined;
    },
  };
}

/** Those that name some of them by a canonical. */
async function addCanonicalSources(
  ask: Ask,
  { type, of, limit }: Step,
  urls: readonly string[],
  found: Set<string>,
): Promise<void> {
  const byUrl = new Map<string, { type: string; versions: readonly string[] }[]>();
  for await (const { key, urls: own, versions } of canonicalsOf({ ask }, of.map(keyOf))) {
    for (const url of own) byUrl.set(url, [...(byUrl.get(url) ?? []), { type: toKey(key).type, versions }]);
  }
  const projection = { _id: 1, reference: 1 };
  for (const chunk of chunksOf([...byUrl.keys()])) {
    const referring = { type, reference: { $elemMatch: { p: { $in: [...urls] }, to: { $in: [...chunk] } } } };
    for await (const documents of readAllBy(ask, BY_ENTRY.reference, [referring, LIVING], projection)) {
      for (const { key, references } of documents.map(toCandidate)) {
        const isNamed = references.some(
          (row) =>
            urls.includes(row.p) &&
            byUrl.get(row.to ?? '')?.some((target) => isCanonicalOf(row, target.type, target.versions)) === true,
        );
        if (isNamed) found.add(key);
        if (found.size >= limit) return;
      }
    }
  }
}
