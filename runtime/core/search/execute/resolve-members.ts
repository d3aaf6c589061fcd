import { FhirError } from '../../../fhir/errors.js';
import { readReference } from '../../../path/reference-text.js';
import { LISTINGS, MAX_LISTINGS, type Listing } from '../../../search/parse/members.js';
import { NOTHING, type Condition, type MembersCriterion } from '../../../search/query/query.js';
import { dateInterval } from '../../../search/values/date-interval.js';
import type { Zone } from '../../../search/values/zone.js';
import type { FindQuery, Store } from '../../../store/store.js';
import { findAll } from './find-all.js';
import { baseKey } from '../../../path/own-base.js';

/** Where Lists, Groups and CareTeams are looked up. */
export interface MembershipSource {
  /** Finds of these what may be read. */
  readonly findReadable: Store['find'];
  readonly signal?: AbortSignal | undefined;
  /** URL of the FHIR base; empty: nobody knows. */
  readonly base: string;
  readonly zone: Zone;
}

/** Members that are none any more, of all that one search names. */
export const MAX_FORMER = 10_000;

/** How many it may still name. */
export interface MembershipBudget {
  listings: number;
}

/** Resources that one query asks for. */
const PAGE = 100;

type Json = Readonly<Record<string, unknown>>;

/**
 * What some resources list, as a condition on what is searched: that one of them refers to it, and for `_in` not only as what
 * is no member any more (`inactive`, `deleted`, or by its period). Those that may not be read list nothing.
 *
 * @throws FhirError `too-costly` where too many are named, or are no members any more
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

/** Ids of the searched type that are listed, and only as what does not belong to it. */
function formerOf(
  content: Json,
  { entries, reference, gone, period }: Listing,
  type: string | undefined,
  now: number,
  { base, zone }: MembershipSource,
): readonly string[] {
  const [active, former] = [new Set<string>(), new Set<string>()];
  for (const entry of (content[entries] as readonly Json[] | undefined) ?? []) {
    const named = (entry[reference] as Json | undefined)?.['reference'];
    const read = typeof named === 'string' ? readReference(named) : undefined;
    if (read === undefined || read.type !== type || (read.base !== undefined && read.base !== baseKey(base))) continue;
    const isGone = gone !== undefined && entry[gone] === true;
    const time = period === undefined ? undefined : (entry[period] as Json | undefined);
    (isGone || !holds(time, now, zone) ? former : active).add(read.id);
  }
  return [...former].filter((id) => !active.has(id));
}

/** Whether a Period, its ends within, holds an instant; what is absent or cannot be read is open. */
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
