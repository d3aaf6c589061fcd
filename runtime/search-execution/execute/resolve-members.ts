import { FhirError } from '../../fhir/errors.js';
import type { OwnBases } from '../../path/own-bases.js';
import { LISTINGS, MAX_LISTINGS, type Listing } from '../../search/parse/members.js';
import { NOTHING, type Condition, type MembersCriterion } from '../../search/query/query.js';
import { dateInterval } from '../../indexing/values/date-interval.js';
import type { Zone } from '../../indexing/values/zone.js';
import type { FindQuery, Store } from '../../store/store.js';
import { findAll } from '../../core/search-services/find-all.js';

/** Parts that looking up Lists, Groups and CareTeams works with. */
export interface MembershipSource {
  /** Finds those that the token may read. */
  readonly findReadable: Store['find'];
  readonly signal?: AbortSignal | undefined;
  /** By which references lead to resources here. */
  readonly own: OwnBases;
  readonly zone: Zone;
}

/** Limit of former members, of all resources that one search names. */
export const MAX_FORMER = 10_000;

/** The number of Lists, Groups and CareTeams that a search may still name. */
export interface MembershipBudget {
  listings: number;
}

/** Resources that one query returns. */
const PAGE = 100;

type Json = Readonly<Record<string, unknown>>;

/**
 * Membership as a condition on the searched resources: one of the named resources refers to them, and for `_in` not only as a former
 * member (`inactive`, `deleted`, or by its period). A named resource that the token may not read lists nothing.
 *
 * @throws FhirError `too-costly` for too many named resources or former members
 */
export async function resolveMembership(
  { members, type, of, isNot, now }: MembersCriterion,
  source: MembershipSource,
  budget: MembershipBudget,
): Promise<Condition> {
  if (members === '_in') budget.listings -= of.length;
  if (budget.listings < 0) throw tooMany(`more than ${MAX_LISTINGS} resources; search by some of them at a time`);
  const some: Condition[] = [];
  let room = MAX_FORMER;
  for (const [listing, ids] of byType(of)) {
    const row = LISTINGS[listing]!;
    const there: string[] = [];
    for await (const { id, content } of readAll(listing, ids, source)) {
      const former = members === '_in' ? formerOf(content(), row, type, now, source) : [];
      room -= former.length;
      if (room < 0)
        throw tooMany(
          `what has more than ${MAX_FORMER} members that are none any more; search by the ids of the others`,
        );
      if (former.length === 0) there.push(id);
      else some.push({ all: [listedBy(listing, row, [id]), { not: { ids: former } }] });
    }
    if (there.length > 0) some.push(listedBy(listing, row, there));
  }
  const [only] = some;
  const condition: Condition = some.length === 1 && only !== undefined ? only : some.length === 0 ? NOTHING : { some };
  return isNot ? { not: condition } : condition;
}

function listedBy(type: string, { param }: Listing, ids: readonly string[]): Condition {
  return { has: { type, param, where: { ids }, isReadable: true } };
}

function byType(of: MembersCriterion['of']): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { type, id } of of) found.set(type, [...(found.get(type) ?? []), id]);
  return found;
}

async function* readAll(type: string, ids: readonly string[], { findReadable, signal }: MembershipSource) {
  const query: FindQuery = { type, where: { ids }, sort: [], count: PAGE, total: 'none' };
  for await (const { id, json } of findAll(query, findReadable, signal)) {
    if (json !== undefined) yield { id, content: () => JSON.parse(json) as Json };
  }
}

/** Ids of the searched type that are listed as former members only. */
function formerOf(
  content: Json,
  { entries, reference, gone, period }: Listing,
  type: string | undefined,
  now: number,
  { own, zone }: MembershipSource,
): readonly string[] {
  const [active, former] = [new Set<string>(), new Set<string>()];
  for (const entry of (content[entries] as readonly Json[] | undefined) ?? []) {
    const read = own.readLocal((entry[reference] as Json | undefined)?.['reference']);
    if (read === undefined || read.type !== type) continue;
    const isGone = gone !== undefined && entry[gone] === true;
    const time = period === undefined ? undefined : (entry[period] as Json | undefined);
    (isGone || !holds(time, now, zone) ? former : active).add(read.id);
  }
  return [...former].filter((id) => !active.has(id));
}

/** Whether a Period includes an instant. Both ends are inclusive; an absent or unreadable end is open. */
function holds(period: Json | undefined, now: number, zone: Zone): boolean {
  const read = (name: string) => {
    const text = period?.[name];
    return typeof text === 'string' ? dateInterval(text, zone) : undefined;
  };
  return (read('start')?.low ?? -Infinity) <= now && now <= (read('end')?.high ?? Infinity);
}

function tooMany(what: string): FhirError {
  return new FhirError('too-costly', `_in names ${what}`);
}
