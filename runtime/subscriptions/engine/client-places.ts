import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import { SUBSCRIPTION } from '../../core/write/content-to-store.js';
import type { StoredVersion } from '../../store/store.js';
import { SUBSCRIPTION_MAPS } from '../../store/system-maps.js';
import { SubscriptionRows } from './rows.js';
import { LIVE } from './write-status.js';

const PLACES = `${SUBSCRIPTION_MAPS}places`;

/** How long a write may take that was accepted, in milliseconds. */
const WRITING = 15_000;

/** How long a place is kept that the matcher never sees, in milliseconds. */
const KEPT = 3_600_000;

/** A write of a Subscription that will live. */
export interface PlaceRequest {
  readonly clientId: string;
  readonly id: string;
  /** The version before; 0: there is none. */
  readonly version: number;
}

/** When a place was taken, in milliseconds since the epoch, and the version before. */
type Taken = readonly [at: number, version: number];

/**
 * Takes one of the places that a client has for live Subscriptions. What other writes have taken counts before they are committed and
 * matched: those of one batch, and of all processes, cannot pass the limit together.
 *
 * @param most places of a client
 * @param now milliseconds since the epoch
 * @returns false: none is left
 */
export async function takePlace(
  { clientId, id, version }: PlaceRequest,
  most: number,
  { store, largeTexts }: Pick<Services, 'store' | 'largeTexts'>,
  now: number,
): Promise<boolean> {
  const isOfUse = async ([at, before]: Taken, current: StoredVersion | undefined): Promise<boolean> => {
    if ((current?.version ?? 0) <= before) return at > now - WRITING;
    return current?.json !== undefined && LIVE.has((await readStored(current.json, { largeTexts }))['status']);
  };
  for (;;) {
    const text = await store.maps.get(PLACES, clientId);
    const rows = await new SubscriptionRows(store.maps).rows();
    const live = new Set<string>();
    for (const [each, { value }] of rows) if (value.isLive && value.owner.clientId === clientId) live.add(each);
    if (live.has(id)) return true;
    const known = text === undefined ? {} : (JSON.parse(text) as Record<string, Taken>);
    const others = Object.keys(known).filter((each) => each !== id && !live.has(each));
    const current = await store.readMany(others.map((each) => ({ type: SUBSCRIPTION, id: each })));
    const taken: Record<string, Taken> = {};
    for (const [i, each] of others.entries()) if (await isOfUse(known[each]!, current[i])) taken[each] = known[each]!;
    if (live.size + Object.keys(taken).length >= most) return false;
    taken[id] = [now, version];
    if (await store.maps.swap(PLACES, clientId, text, JSON.stringify(taken), now + KEPT)) return true;
  }
}
