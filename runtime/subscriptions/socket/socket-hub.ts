import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import { Delivery, type DeliveryParts } from '../engine/delivery.js';
import { DeliveryGate } from '../engine/gate.js';
import { Matcher } from '../engine/matcher.js';
import type { EngineParts, MatchedSubscription, OwnerAccess } from '../engine/parts.js';
import { SubscriptionRows, type SubscriptionOwner } from '../engine/rows.js';
import { takeToken, type SocketBinding } from './binding-token.js';

/** Between two looks at what another process matched, or bound, in milliseconds: shortly after a write, and otherwise. */
const LOOK = { near: 200, far: 3000 };

/** How long after a write a process looks more often, in milliseconds. */
const NEWS = 2000;

/** How long a message that is on its way has when its delivery is stopped, in milliseconds. */
const GRACE = 1000;

/** The matching process tells of itself more often than this, in milliseconds. */
const SILENCE = 5000;

/** Codes with which the server closes a web socket. https://www.rfc-editor.org/rfc/rfc6455#section-7.4.2 */
const CLOSE = {
  leaving: [1001, 'the server ends'],
  refused: [4403, 'the token does not give what the topic is about any more'],
  replaced: [4409, 'the Subscription is bound to another web socket'],
} as const;

/** The client at the other end of a web socket. */
export interface SocketPeer {
  /** Aborts when the connection is over, or is being closed. */
  readonly ended: AbortSignal;
  /**
   * Sends a text, one at a time. Resolves when the peer has taken it.
   *
   * @param timeout in milliseconds; a peer that takes longer is cut off
   * @throws Error where the connection is over
   */
  send(text: string, timeout: number): Promise<void>;
  close(code: number, reason: string): void;
}

/** Subscriptions with a web socket in this process. */
export interface SocketHub {
  /** Begins to deliver what a token was given for. @returns false: the token is not good */
  bind(token: string, peer: SocketPeer): Promise<boolean>;
  /** Takes what the matcher of this process knows. */
  matched(live: ReadonlyMap<string, MatchedSubscription>): void;
  /** Ends what is on its way, and closes all web sockets. */
  close(): Promise<void>;
}

/** One Subscription on a web socket. */
interface Bound {
  readonly id: string;
  readonly peer: SocketPeer;
  /** In the store, as that of the socket that has the Subscription. */
  readonly name: string;
  readonly binding: SocketBinding;
  matched?: MatchedSubscription;
  delivery?: Delivery;
  stopping?: Promise<void>;
}

/** Delivers by web sockets. The process that has the socket of a Subscription delivers it, whichever process matches. */
export function createSocketHub(parts: EngineParts): SocketHub {
  const all = new Map<string, Bound>();
  const places = new DeliveryGate(parts.settings.atOnce);
  /** One message at a time for each peer, so that a slow one has no more than one here. */
  const turns = new WeakMap<SocketPeer, DeliveryGate>();
  let isClosing = false;
  let binding: Promise<unknown> = Promise.resolve();
  let following: Promise<void> | undefined;
  let updated = -Infinity;
  let isNew = false;
  let wake: (() => void) | undefined;
  const rowsOf = (): SubscriptionRows => new SubscriptionRows(parts.services().store.maps);

  async function take(token: string, peer: SocketPeer): Promise<boolean> {
    const found = await takeToken(parts.services().store.maps, token, parts.now());
    if (found === undefined || isClosing) return false;
    const rows = rowsOf();
    for (const id of found.ids) {
      const before = all.get(id);
      if (before !== undefined && before.peer !== peer) before.peer.close(...CLOSE.replaced);
      if (before !== undefined) await release(before);
      const name = randomUUID();
      await rows.holdSocket(id, name);
      const bound: Bound = { id, peer, name, binding: found };
      if (peer.ended.aborted) return true;
      all.set(id, bound);
      peer.ended.addEventListener('abort', () => void release(bound).catch(parts.onError), { once: true });
    }
    isNew = true;
    wake?.();
    following ??= follow();
    return true;
  }

  async function release(bound: Bound): Promise<void> {
    if (all.get(bound.id) === bound) all.delete(bound.id);
    await stop(bound);
    await rowsOf().dropSocket(bound.id, bound.name);
  }

  async function stop(bound: Bound): Promise<void> {
    const { delivery } = bound;
    delete bound.delivery;
    delete bound.matched;
    if (delivery !== undefined) bound.stopping = delivery.stop().finally(() => delete bound.stopping);
    await bound.stopping;
  }

  function update(live: ReadonlyMap<string, MatchedSubscription>): void {
    for (const bound of all.values()) {
      const matched = live.get(bound.id);
      const isOurs = matched?.plan?.channel === 'websocket' && !bound.peer.ended.aborted;
      if (!isOurs || (bound.delivery !== undefined && matched.row.born !== bound.delivery.born)) {
        void stop(bound);
        continue;
      }
      if (bound.stopping !== undefined || isSame(matched, bound.matched)) continue;
      bound.matched = matched;
      if (bound.delivery !== undefined) bound.delivery.update(matched);
      else {
        bound.delivery = new Delivery(bound.id, matched, partsOf(bound));
        bound.delivery.start();
      }
    }
  }

  function partsOf({ id, peer, name, binding: who }: Bound): DeliveryParts {
    const rows = rowsOf();
    const turn = turns.get(peer) ?? new DeliveryGate(1);
    turns.set(peer, turn);
    return {
      ...parts,
      rows,
      gate: { run: (isFailing, work) => turn.run(false, () => places.run(isFailing, work)) },
      lease: { signal: peer.ended, isHeld: () => !peer.ended.aborted },
      accessOf: (owner, subscription) => accessWithin(owner, who, (of) => parts.accessOf(of, subscription)),
      peer: { refused: () => peer.close(...CLOSE.refused) },
      async send({ body, timeout, signal }) {
        if ((await rows.socketOf(id)) !== name) peer.close(...CLOSE.replaced);
        await Promise.race([peer.send(body, timeout), stopped(signal)]);
        return { status: 200, retryAfter: undefined };
      },
    };
  }

  /** Looks at what was matched elsewhere, and whether a Subscription was bound elsewhere, as long as there is a web socket. */
  async function follow(): Promise<void> {
    const { services, onError } = parts;
    let news = -Infinity;
    let looked = -Infinity;
    let reader: { readonly tables: unknown; readonly of: Matcher } | undefined;
    const stopWatching = services().store.log.watch(() => {
      news = performance.now();
      wake?.();
    });
    while (!isClosing && all.size > 0) {
      const now = performance.now();
      try {
        // After a binding it looks at once, also where this process matches: that goes on with the next version.
        if (isNew || now - updated > SILENCE) {
          isNew = false;
          const before = updated;
          const { tables } = services();
          if (reader?.tables !== tables) reader = { tables, of: new Matcher(parts, rowsOf()) };
          const live = (await reader.of.open()) ? await reader.of.live() : undefined;
          // What the matcher has reported meanwhile is newer.
          if (live !== undefined && updated === before) update(live);
        }
        if (now - looked >= LOOK.far) {
          looked = now;
          const holders = await rowsOf().sockets();
          for (const { id, name, peer } of all.values()) if (holders.get(id) !== name) peer.close(...CLOSE.replaced);
        }
      } catch (error) {
        onError(error);
      }
      if (isNew) continue;
      if (performance.now() - news < NEWS) await wait(LOOK.near, undefined, { ref: false });
      else await Promise.race([wait(LOOK.far, undefined, { ref: false }), new Promise<void>((done) => (wake = done))]);
    }
    stopWatching();
    following = undefined;
  }

  return {
    bind(token, peer) {
      const bound = binding.then(() => take(token, peer));
      binding = bound.catch(() => {});
      return bound;
    },
    matched(live) {
      updated = performance.now();
      update(live);
    },
    async close() {
      isClosing = true;
      await binding;
      const bounds = [...all.values()];
      await Promise.all(bounds.map((bound) => stop(bound)));
      for (const { peer } of bounds) peer.close(...CLOSE.leaving);
      await Promise.all(bounds.map((bound) => release(bound)));
      wake?.();
      await following;
    },
  };
}

/** Rejects a while after a delivery was stopped: what is on its way may arrive. */
function stopped(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => void setTimeout(() => reject(new Error('the delivery was stopped')), GRACE).unref();
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

function isSame(one: MatchedSubscription, other: MatchedSubscription | undefined): boolean {
  if (one === other) return true;
  const isSamePlan = one.plan === other?.plan && one.row.topic?.version === other?.row.topic?.version;
  return isSamePlan && one.row.version === other?.row.version && one.row.number === other.row.number;
}

/** Rights of the owner, as far as the token that the socket was bound with gives them; none where another client has become the owner. */
async function accessWithin(
  owner: SubscriptionOwner,
  { clientId, scope, registration, granted }: SocketBinding,
  accessOf: EngineParts['accessOf'],
): Promise<OwnerAccess> {
  const isOwn = owner.clientId === clientId && owner.registration === registration;
  const within = { ...owner, granted: Math.max(owner.granted, granted), within: scope };
  const { kept, now } = await accessOf(within);
  return { kept, now: isOwn ? now : undefined };
}
