import type { Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import { matches } from '../../search/query/match.js';
import type { Condition, Target } from '../../search/query/query.js';
import type { StoredVersion } from '../../store/store.js';
import { STORED_DEPTH } from '../read-stored.js';
import type { Services } from '../services.js';

/**
 * The shipped definitions that a search finds: it has to name them by `url` or `_id`. Those in whose place something is stored, or was,
 * are left out.
 *
 * @param part the condition of the search, constraints of the token included
 * @param base of the server
 */
export async function shippedMatches(
  { type, where }: Target,
  base: string,
  { shipped, store, extract }: Pick<Services, 'shipped' | 'store' | 'extract'>,
): Promise<readonly StoredVersion[]> {
  if (shipped === undefined || asksForOthers(where)) return [];
  const found: StoredVersion[] = [];
  for (const version of namedBy(where, type, base, shipped)) {
    const { id, lastUpdated, json = '' } = version;
    const entries = extract(readJson(json, STORED_DEPTH) as Resource);
    if (!matches(where, { id, lastUpdated, entries })) continue;
    if ((await store.read(type, id)) === undefined) found.push(version);
  }
  return found;
}

/** The definitions that the first criterion by id or URL names. */
function namedBy(
  where: Condition,
  type: string,
  base: string,
  shipped: NonNullable<Services['shipped']>,
): readonly StoredVersion[] {
  for (const each of conjuncts(where)) {
    if ('ids' in each) return each.ids.flatMap((id) => shipped.byId(type, id, base) ?? []);
    if (!('any' in each) || each.param !== 'url') continue;
    const urls = each.any.map((test) => (test.is === 'uri-equals' ? test.value : undefined));
    if (!urls.includes(undefined)) return urls.flatMap((url) => shipped.byUrl(type, url ?? '', base) ?? []);
  }
  return [];
}

function conjuncts(where: Condition): readonly Condition[] {
  return 'all' in where ? where.all.flatMap(conjuncts) : [where];
}

/** Chains are about other resources, which these have no index of. */
function asksForOthers(where: Condition): boolean {
  if ('all' in where) return where.all.some(asksForOthers);
  if ('some' in where) return where.some.some(asksForOthers);
  if ('not' in where) return asksForOthers(where.not);
  return 'chain' in where || 'has' in where;
}
