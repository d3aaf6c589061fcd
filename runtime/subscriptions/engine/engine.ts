import { setTimeout as wait } from 'node:timers/promises';

import { Delivery, type DeliveryParts } from './delivery.js';
import { DeliveryGate } from './gate.js';
import { takeLease, type Lease } from './lease.js';
import { Matcher, MatcherReplaced } from './matcher.js';
import type { EngineParts } from './parts.js';
import { SubscriptionRows } from './rows.js';
import { SUBSCRIPTION } from '../../core/write/content-to-store.js';
import { writeStatus } from './write-status.js';

/** Between two looks whether there is something to do and no other process does it, in milliseconds. */
const LOOK = 3000;

/** Pause between two reads of the log, in milliseconds. */
const TOGETHER = 50;

/** Subscriptions that are turned off together. */
const STRANGERS = 100;

/** Between two clean-ups, in milliseconds. */
const TRIM = 600_000;

/** How often the cursor notes that Subscriptions are written, in milliseconds. */
const TOUCH = 60_000;

/** State of the engine, for metrics and health. */
export interface EngineState {
  /** Whether this process matches and delivers. */
  readonly isHolder: boolean;
  /** Versions that were not matched yet. */
  readonly lag: number;
  /** How long the oldest of them waits, in milliseconds. */
  readonly waits: number;
  /** Events that were not answered yet. */
  readonly backlog: number;
}

/** The engine of subscriptions in one process. */
export interface SubscriptionEngine {
  /**
   * To be called before a Subscription is written: every version that is committed after this resolves is looked at by the
   * engine, whatever process matches.
   */
  prepare(): Promise<void>;
  /** Takes up the work where no other process does it, and looks from time to time whether it has to, until it is closed. */
  open(): void;
  state(): Promise<EngineState>;
  close(): Promise<void>;
}

/** The engine of a store: of its processes one matches and delivers at a time. */
export function createSubscriptionEngine(parts: EngineParts): SubscriptionEngine {
  const closing = new AbortController();
  let lease: Lease | undefined;
  let matcher: Matcher | undefined;
  let deliveries = new Map<string, Delivery>();
  let looking: Promise<void> = Promise.resolve();
  let wakeLook: (() => void) | undefined;
  const rowsOf = (): SubscriptionRows => new SubscriptionRows(parts.services().store.maps);

  async function prepare(): Promise<void> {
    const { log } = parts.services().store;
    const rows = rowsOf();
    const seq = await log.end();
    for (;;) {
      const { text, value } = await rows.cursor();
      const now = parts.now();
      if (value !== undefined && now - value.touched < TOUCH) break;
      if (await rows.save([rows.cursorStep(text, { seq: value?.seq ?? seq, touched: now })])) break;
    }
    wakeLook?.();
  }

  /**
   * Turns off what lives in a store whose engine never accepted it: it was restored, copied, or written by an older program. What is accepted
   * fires.
   */
  async function turnOffStrangers(): Promise<void> {
    const services = parts.services();
    const { resourceTypes } = services.tables;
    if (!resourceTypes.includes(SUBSCRIPTION)) return;
    const any = ['requested', 'active', 'error'].map((code) => ({ is: 'token', code }) as const);
    const where = { param: 'status', any } as const;
    const query = { type: SUBSCRIPTION, where, sort: [], count: STRANGERS, total: 'none' } as const;
    for (let count = 0; ;) {
      const { versions } = await services.store.find(query, closing.signal);
      // A process that accepts one has the cursor before it writes: without a cursor it accepted none of these.
      if ((await rowsOf().cursor()).value !== undefined) return;
      for (const { id, version } of versions) await writeStatus(id, version, 'off', services);
      count += versions.length;
      if (versions.length === STRANGERS) continue;
      if (count > 0) parts.onWarning(`${count} Subscriptions that this store never delivered are off now`);
      return;
    }
  }

  async function look(): Promise<void> {
    await turnOffStrangers().catch((error: unknown) => {
      if (!closing.signal.aborted) parts.onError(error);
    });
    let trimmed = -Infinity;
    while (!closing.signal.aborted) {
      try {
        const rows = rowsOf();
        if ((await rows.cursor()).value !== undefined) await work(rows);
        else if (performance.now() - trimmed > TRIM) {
          trimmed = performance.now();
          await parts.services().store.log.trim(Infinity, parts.now() - parts.settings.keepLog);
        }
      } catch (error) {
        if (!closing.signal.aborted) parts.onError(error);
      }
      await Promise.race([
        wait(LOOK, undefined, { signal: closing.signal, ref: false }).catch(() => {}),
        new Promise<void>((resolve) => (wakeLook = resolve)),
      ]);
    }
  }

  /** Matches and delivers as long as this process has the lease. */
  async function work(rows: SubscriptionRows): Promise<void> {
    const { holder, isGone, now, settings } = parts;
    lease = await takeLease({ rows, holder, isGone, now });
    if (lease === undefined) return;
    const signal = AbortSignal.any([lease.signal, closing.signal]);
    const gate = new DeliveryGate(settings.atOnce);
    const own = { ...parts, rows, gate, lease };
    matcher = new Matcher(parts, rows);
    let wake: (() => void) | undefined;
    let isNews: boolean;
    const stop = parts.services().store.log.watch(() => {
      isNews = true;
      wake?.();
    });
    signal.addEventListener('abort', () => wake?.(), { once: true });
    try {
      if (!(await matcher.open())) return;
      await deliver(own);
      let trimmed = -Infinity;
      while (!signal.aborted) {
        isNews = false;
        const result = await matcher.step(signal);
        if (result === 'over') return;
        await deliver(own);
        if (result === 'more') continue;
        if (performance.now() - trimmed > TRIM) {
          trimmed = performance.now();
          await trim(rows, matcher);
        }
        // Under load the log is read for many commits together.
        await wait(TOGETHER, undefined, { signal, ref: false }).catch(() => {});
        if (isNews || signal.aborted) continue;
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          // What another process has written is noticed late, or not at all where the store is away for a moment.
          timer = setTimeout(resolve, LOOK).unref();
        });
        clearTimeout(timer);
      }
    } catch (error) {
      if (!(error instanceof MatcherReplaced) && !signal.aborted) throw error;
    } finally {
      stop();
      await stopDeliveries();
      await lease.release();
      [lease, matcher] = [undefined, undefined];
    }
  }

  /** Has a delivery for each Subscription that lives, and none for others. */
  async function deliver(own: DeliveryParts): Promise<void> {
    const live = await matcher!.live();
    parts.matched?.(live);
    for (const id of matcher!.takeChanges()) {
      const matched = live.get(id);
      const known = deliveries.get(id);
      if (known !== undefined && known.born === matched?.row.born) {
        known.update(matched);
        continue;
      }
      deliveries.delete(id);
      void known?.stop();
      if (matched === undefined) continue;
      const delivery = new Delivery(id, matched, own);
      deliveries.set(id, delivery);
      delivery.start();
    }
  }

  async function stopDeliveries(): Promise<void> {
    const all = [...deliveries.values()];
    deliveries = new Map();
    await Promise.all(all.map((delivery) => delivery.stop()));
  }

  /** Forgets events that were delivered long ago, those of Subscriptions that are off, and versions of the log. */
  async function trim(rows: SubscriptionRows, of: Matcher): Promise<void> {
    const { settings, now } = parts;
    const before = now() - settings.keep;
    for (const [id, { value: row }] of of.all()) {
      const sent = await rows.sent(id, row);
      // Of what is off nothing is delivered: it goes on after what is kept.
      const upTo = row.isLive ? sent.value.done : Infinity;
      const last = await rows.forgetEvents(id, row, upTo, before);
      if (last > sent.value.done) await rows.saveSent(id, row, sent, { ...sent.value, done: last });
    }
    await of.forgetExpunged();
    await parts.services().store.log.trim(of.seq, now() - settings.keepLog);
  }

  return {
    prepare,
    open() {
      looking = look();
    },
    async state() {
      const rows = rowsOf();
      const { value } = await rows.cursor();
      if (value === undefined) return { isHolder: false, lag: 0, waits: 0, backlog: 0 };
      const { log } = parts.services().store;
      const at = matcher?.seq ?? value.seq;
      const end = await log.end();
      const [oldest] = end > at ? ((await log.read(at, 1)) ?? []) : [];
      const waits = oldest === undefined ? 0 : Math.max(0, parts.now() - oldest.updated);
      const backlog = [...deliveries.values()].reduce((sum, delivery) => sum + delivery.backlog, 0);
      return { isHolder: lease !== undefined, lag: Math.max(0, end - at), waits, backlog };
    },
    async close() {
      closing.abort();
      wakeLook?.();
      await looking;
    },
  };
}
