import { describeStaleIndex } from '../definitions/index-status.js';
import { findAll } from '../search-services/find-all.js';
import type { Services } from '../services.js';
import { FhirError } from '../../fhir/errors.js';
import { compareText } from '../../search/query/compare-text.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import type { Condition } from '../../search/query/query.js';
import { BASES } from '../../indexing/index-record.js';
import { REFERENCES, REFERS } from '../../indexing/other-references.js';
import type { FindPage, FindQuery, ResourceKey, StoredVersion } from '../../store/store.js';

/** Resources that one query of a search for referrers returns. */
const PAGE = 200;

/** Services that referrers are found with. */
export type ReferrerServices = Pick<Services, 'store' | 'tables' | 'indexStatus'>;

/** The types of the resources that are stored, in the order of their names. */
export async function typesStored({ store, tables }: ReferrerServices): Promise<readonly string[]> {
  const counts = await store.counts();
  return tables.resourceTypes.filter((type) => (counts.get(type) ?? 0) > 0).sort(compareText);
}

/**
 * The resources of a type that may refer to a resource, wherever in them. Some do not: those whose reference names a version or is
 * a canonical.
 */
export function findReferrers(
  type: string,
  to: ResourceKey,
  { store, tables }: ReferrerServices,
  signal: AbortSignal | undefined,
): AsyncGenerator<StoredVersion> {
  return findAll(queryFor(type, to, tables), (...asked) => store.find(...asked), signal);
}

/**
 * One page of them.
 *
 * @param after `next` of the page before; absent: the first page
 */
export async function findReferrerPage(
  type: string,
  to: ResourceKey,
  after: string | undefined,
  { store, tables }: ReferrerServices,
  signal: AbortSignal | undefined,
): Promise<FindPage> {
  const query = queryFor(type, to, tables);
  try {
    return await store.find(after === undefined ? query : { ...query, after }, signal);
  } catch (error) {
    // Another version of the program made this cursor: the type begins anew.
    if (after === undefined || !(error instanceof FhirError) || error.code !== 'page-invalid') throw error;
    return store.find(query, signal);
  }
}

/**
 * Checks that the index knows every reference of these types.
 *
 * @param otherwise what would happen to references that it does not know
 * @throws FhirError `index-not-current`
 */
export async function checkReferenceIndexes(
  types: readonly string[],
  { indexStatus, tables }: Pick<ReferrerServices, 'indexStatus' | 'tables'>,
  otherwise = 'References that are not found would not be changed',
): Promise<void> {
  const stale = new Set(await indexStatus.notCurrent());
  if (stale.size === 0) return;
  const { recordName } = searchDefinitions(tables);
  const used = types.flatMap((type) => referenceParameters(type, tables).map((code) => recordName(type, code) ?? code));
  const old = describeStaleIndex([REFERENCES, BASES, ...new Set(used)].filter((name) => stale.has(name)));
  if (old === undefined) return;
  throw new FhirError('index-not-current', `${old}. ${otherwise}`);
}

/** All parameters that resources of these types are found by, because they refer to others. */
export function referrerParameters(types: readonly string[], tables: ReferrerServices['tables']): readonly string[] {
  return [...new Set([REFERS, ...types.flatMap((type) => referenceParameters(type, tables))])];
}

function queryFor(type: string, to: ResourceKey, tables: ReferrerServices['tables']): FindQuery {
  const where = refersTo(to, referenceParameters(type, tables));
  return { type, where, sort: [], count: PAGE, total: 'none' };
}

function refersTo({ type, id }: ResourceKey, params: readonly string[]): Condition {
  const any = [{ is: 'reference', types: [type], id } as const];
  return { some: [REFERS, ...params].map((param) => ({ param, any })) };
}

/** Codes of the built-in reference parameters of a type. Extraction knows that their entries last (`otherReferences`). */
function referenceParameters(type: string, tables: ReferrerServices['tables']): readonly string[] {
  const rows = [...searchDefinitions(tables).rowsOf(type).values()];
  const own = rows.filter(({ type: kind, isStored }) => kind === 'reference' && isStored !== true);
  return [...new Set(own.map(({ code }) => code))];
}
