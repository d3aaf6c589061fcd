import type { Resource } from '../../fhir/resource.js';
import type { AtomicMaps, MapScan, MapStep } from '../../store/store.js';
import { SUBSCRIPTION_MAPS } from '../../store/system-maps.js';
import type { LoggedInteraction, LoggedVersion } from '../../store/version-log.js';
import { contentDigest, NEW } from './digest.js';

/**
 * What the engine of subscriptions keeps in the store. The matcher alone writes its cursor, the rows of Subscriptions and their events,
 * always together; deliveries alone write how far they are.
 */
const MAPS = {
  engine: `${SUBSCRIPTION_MAPS}engine`,
  rows: `${SUBSCRIPTION_MAPS}rows`,
  sent: `${SUBSCRIPTION_MAPS}sent`,
  owners: `${SUBSCRIPTION_MAPS}owners`,
  sockets: `${SUBSCRIPTION_MAPS}sockets`,
  grants: `${SUBSCRIPTION_MAPS}grants`,
} as const;

const CURSOR = 'cursor';
const LEASE = 'lease';

/** How far the log was matched. */
export interface MatchCursor {
  readonly seq: number;
  /** When a Subscription was written last: milliseconds since the epoch. */
  readonly touched: number;
}

/** Whose rights a Subscription has: the client that wrote its present content. */
export interface SubscriptionOwner {
  /** Empty without authorization. */
  readonly clientId: string;
  /** Canonical scopes of the token; absent: it gave everything. */
  readonly scope?: string;
  /** `Client.registration` then, where the token said so. */
  readonly registration?: string;
  /** When the client wrote it: milliseconds since the epoch. */
  readonly granted: number;
  /** Canonical scopes of a token that asks for no more than it may read itself; kept nowhere. */
  readonly within?: string | undefined;
}

/** Row that the matcher keeps for a Subscription. */
export interface SubscriptionRow {
  /** Number in the log of the version that created it: what is kept of an earlier one of the same id is not its own. */
  readonly born: number;
  /** The version of the Subscription that is in force. */
  readonly version: number;
  /** The topic as it was chosen; absent: none could be. `canonical` is what the Subscription says. */
  readonly topic?: { readonly canonical: string; readonly id: string; readonly version: number };
  readonly owner: SubscriptionOwner;
  /** The number of its last event. */
  readonly number: number;
  /** Whether versions make events. */
  readonly isLive: boolean;
}

/** An event of one Subscription. */
export type SubscriptionEvent = LoggedVersion & { readonly number: number };

/** Error of a delivery, for `$status`. */
export interface DeliveryError {
  readonly code: string;
  readonly text: string;
  readonly at: number;
}

/** How far the deliveries of a Subscription are. Times are milliseconds since the epoch. */
export interface SentRow {
  /** The highest number that was answered. */
  readonly done: number;
  /** Attempts that failed in a row. */
  readonly failures: number;
  /** When the first of these failed. */
  readonly failingSince?: number;
  /** No attempt is made before. */
  readonly notBefore?: number;
  /** When something was sent last and answered. */
  readonly sentAt?: number;
  /** The version of the Subscription that was requested last, whose attempts are counted. */
  readonly requested?: number;
  /** Whether the handshake of the present content was answered. */
  readonly isShaken: boolean;
  /** Newest first. */
  readonly errors: readonly DeliveryError[];
}

/** State that the deliveries of a Subscription begin with. */
export const NOTHING_SENT: SentRow = { done: 0, failures: 0, isShaken: false, errors: [] };

/** A value with the text that is replaced. */
export interface Kept<T> {
  readonly text: string | undefined;
  readonly value: T;
}

/** Keys of numbers are in their order. */
function numberKey(number: number): string {
  return String(number).padStart(15, '0');
}

function bornKey(id: string, { born }: Pick<SubscriptionRow, 'born'>): string {
  return `${id}/${born}`;
}

function eventsMap(id: string, row: Pick<SubscriptionRow, 'born'>): string {
  return `${SUBSCRIPTION_MAPS}events/${bornKey(id, row)}`;
}

/** Events that are forgotten at a time. */
const FORGOTTEN = 500;

function readEvent(key: string, text: string): SubscriptionEvent {
  const [seq, type, id, version, updated, interaction] = JSON.parse(text) as [number, string, string, number, number, number]; // prettier-ignore
  return { number: Number(key), seq, type, id, version, updated, interaction: INTERACTIONS[interaction]! };
}

const INTERACTIONS: readonly LoggedInteraction[] = ['create', 'update', 'delete'];

/** Reads and writes of what the engine keeps. */
export class SubscriptionRows {
  constructor(private readonly maps: AtomicMaps) {}

  async cursor(): Promise<Kept<MatchCursor | undefined>> {
    const text = await this.maps.get(MAPS.engine, CURSOR);
    return { text, value: text === undefined ? undefined : (JSON.parse(text) as MatchCursor) };
  }

  cursorStep(expected: string | undefined, next: MatchCursor | undefined): MapStep {
    return { map: MAPS.engine, key: CURSOR, expected, value: next && JSON.stringify(next) };
  }

  async rows(): Promise<Map<string, Kept<SubscriptionRow>>> {
    const all = await this.maps.entries(MAPS.rows);
    return new Map([...all].map(([id, text]) => [id, { text, value: JSON.parse(text) as SubscriptionRow }]));
  }

  async row(id: string): Promise<SubscriptionRow | undefined> {
    const text = await this.maps.get(MAPS.rows, id);
    return text === undefined ? undefined : (JSON.parse(text) as SubscriptionRow);
  }

  rowStep(id: string, expected: string | undefined, next: SubscriptionRow | undefined): MapStep {
    return { map: MAPS.rows, key: id, expected, value: next && JSON.stringify(next) };
  }

  eventStep(
    id: string,
    row: SubscriptionRow,
    { number, seq, type, id: focus, version, updated, interaction }: SubscriptionEvent,
  ): MapStep {
    const value = JSON.stringify([seq, type, focus, version, updated, INTERACTIONS.indexOf(interaction)]);
    return { map: eventsMap(id, row), key: numberKey(number), value };
  }

  /** Events after a number, in their order. */
  async events(id: string, row: SubscriptionRow, after: number, limit: number): Promise<SubscriptionEvent[]> {
    const found = await this.maps.range(eventsMap(id, row), numberKey(after), limit);
    return [...found].map(([key, text]) => readEvent(key, text));
  }

  /** Forgets events up to a number that are older than an instant. @returns the number of the last one; 0: there was none */
  async forgetEvents(id: string, row: SubscriptionRow, upTo: number, instant: number): Promise<number> {
    const map = eventsMap(id, row);
    for (let last = 0; ;) {
      const some = [...(await this.maps.range(map, '', FORGOTTEN))];
      const old = some.filter(([key, text]) => Number(key) <= upTo && readEvent(key, text).updated < instant);
      if (old.length > 0) await this.save(old.map(([key, expected]) => ({ map, key, expected })));
      last = Number(old.at(-1)?.[0] ?? last);
      if (old.length < FORGOTTEN) return last;
    }
  }

  /** Forgets all that deliveries of a Subscription that is gone have left. */
  async forget(id: string, row: Pick<SubscriptionRow, 'born'>): Promise<void> {
    for (;;) {
      const some = await this.maps.range(eventsMap(id, row), '', 500);
      for (const key of some.keys()) await this.maps.delete(eventsMap(id, row), key);
      if (some.size < 500) break;
    }
    await this.maps.delete(MAPS.sent, bornKey(id, row));
    await this.maps.delete(MAPS.sockets, id);
    await this.maps.delete(MAPS.grants, id);
  }

  async sent(id: string, row: Pick<SubscriptionRow, 'born'>): Promise<Kept<SentRow>> {
    const text = await this.maps.get(MAPS.sent, bornKey(id, row));
    return { text, value: text === undefined ? NOTHING_SENT : (JSON.parse(text) as SentRow) };
  }

  /** @returns undefined: another process wrote it meanwhile */
  async saveSent(
    id: string,
    row: Pick<SubscriptionRow, 'born'>,
    { text }: Kept<SentRow>,
    next: SentRow,
  ): Promise<Kept<SentRow> | undefined> {
    const value = JSON.stringify(next);
    const isSaved = await this.maps.swap(MAPS.sent, bornKey(id, row), text, value);
    return isSaved ? { text: value, value: next } : undefined;
  }

  /** The owner of a version that a client writes, before it is written; kept until the matcher has seen the version. */
  async keepOwner(
    id: string,
    version: number,
    digest: string,
    owner: SubscriptionOwner,
    expires: number,
  ): Promise<void> {
    const key = `${id}/${version}/${digest}`;
    const value = JSON.stringify(owner);
    for (;;) {
      const present = await this.maps.get(MAPS.owners, key);
      if (await this.maps.swap(MAPS.owners, key, present, value, expires)) return;
    }
  }

  /** Undefined: the server wrote the version. */
  async owner(id: string, version: number, digest: string): Promise<SubscriptionOwner | undefined> {
    const text = await this.maps.get(MAPS.owners, `${id}/${version}/${digest}`);
    return text === undefined ? undefined : (JSON.parse(text) as SubscriptionOwner);
  }

  /** Whose a Subscription is, which may have been written a moment ago. @param stored its current content */
  async ownerOf(stored: Resource): Promise<SubscriptionOwner | undefined> {
    const id = String(stored['id']);
    const { versionId } = (stored['meta'] ?? {}) as { readonly versionId?: unknown };
    const digest = contentDigest(stored);
    const row = await this.row(id);
    const written = await this.owner(id, Number(versionId), digest);
    return written ?? row?.owner ?? (await this.owner(id, NEW, digest));
  }

  /** Gives a Subscription to a web socket, in place of the one before it. @param name of the socket: no other has the same */
  async holdSocket(id: string, name: string): Promise<void> {
    for (;;) {
      const before = await this.maps.get(MAPS.sockets, id);
      if (await this.maps.swap(MAPS.sockets, id, before, name)) return;
    }
  }

  /** The web sockets of Subscriptions, by their ids. */
  sockets(): Promise<ReadonlyMap<string, string>> {
    return this.maps.entries(MAPS.sockets);
  }

  socketOf(id: string): Promise<string | undefined> {
    return this.maps.get(MAPS.sockets, id);
  }

  async dropSocket(id: string, name: string): Promise<void> {
    if ((await this.socketOf(id)) === name) await this.maps.delete(MAPS.sockets, id);
  }

  /**
   * Notes that the owner of a Subscription has written it once more, whether that made a version or not. With a token of other scopes it grants
   * nothing: those that are kept are no longer its own.
   *
   * @param expires when it is of no use any more
   */
  async renewGrant(id: string, { clientId, scope, granted }: SubscriptionOwner, expires: number): Promise<void> {
    const owner = (await this.row(id))?.owner;
    if (owner === undefined || owner.clientId !== clientId || owner.scope !== scope) return;
    const present = await this.maps.get(MAPS.grants, id);
    // Where another process did it just now that will do.
    await this.maps.swap(MAPS.grants, id, present, JSON.stringify({ clientId, granted }), expires);
  }

  /** When the owner of a Subscription has granted its scopes last: milliseconds since the epoch. */
  async grantOf(id: string, { clientId, granted }: SubscriptionOwner): Promise<number> {
    const text = await this.maps.get(MAPS.grants, id);
    if (text === undefined) return granted;
    const renewed = JSON.parse(text) as Pick<SubscriptionOwner, 'clientId' | 'granted'>;
    return renewed.clientId === clientId ? Math.max(granted, renewed.granted) : granted;
  }

  /** Forgets everything but which process matches: that one notices by the cursor. */
  async forgetAll(): Promise<void> {
    await this.maps.delete(MAPS.engine, CURSOR);
    for (let from: string | undefined, isOver = false; !isOver;) {
      const { entries, next }: MapScan = await this.maps.scan(from, FORGOTTEN);
      for (const { map, key } of entries) {
        if (map.startsWith(SUBSCRIPTION_MAPS) && map !== MAPS.engine) await this.maps.delete(map, key);
      }
      [from, isOver] = [next, next === undefined];
    }
  }

  save(steps: readonly MapStep[]): Promise<boolean> {
    return this.maps.swapAll(steps);
  }

  /** The process that matches and delivers, until its lease ends. */
  lease(): Promise<string | undefined> {
    return this.maps.get(MAPS.engine, LEASE);
  }

  swapLease(expected: string | undefined, holder: string, expires: number): Promise<boolean> {
    return this.maps.swap(MAPS.engine, LEASE, expected, holder, expires);
  }

  async dropLease(holder: string): Promise<void> {
    if ((await this.lease()) === holder) await this.maps.delete(MAPS.engine, LEASE);
  }
}
