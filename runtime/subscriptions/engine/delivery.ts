import { readStored } from '../../core/read-stored.js';
import { span } from '../../observe/trace/spans.js';
import type { Principal } from '../../auth/scopes/principal.js';
import { notificationBundle } from '../notify/notification-bundle.js';
import type { NotificationInput, SubscriptionPlan } from '../plan.js';
import { readContents } from './content.js';
import type { DeliveryGate } from './gate.js';
import type { Lease } from './lease.js';
import {
  DeliveryFault,
  showsTriggers,
  type EngineParts,
  type MatchedSubscription,
  type ReceiverAnswer,
  type SentNotification,
} from './parts.js';
import { pauseAfterFailure, readRetryAfter } from './retries.js';
import type { Kept, SentRow, SubscriptionRow, SubscriptionRows } from './rows.js';
import { SUBSCRIPTION } from '../../core/write/content-to-store.js';
import { LIVE, writeStatus, type SubscriptionState } from './write-status.js';

/** Failures in a row after which a Subscription is in error. */
const FAILURES = 5;

/** Errors that are remembered. */
const ERRORS = 10;

/** Events in one notification where there is a backlog and the Subscription does not say. */
const TOGETHER = 100;

/** Pause after a failure of the store, in milliseconds. */
const STORE_PAUSE = 1000;

/** Error of a Subscription whose topic, or filters, cannot be evaluated any more. */
const UNMATCHED = {
  code: 'not-evaluated',
  text: 'the topic, or a search parameter that the Subscription needs, is not there any more: no events are made until it is',
};

/** Greatest time of a timer. */
const MOST = 2 ** 31 - 1;

/** What is kept of the deliveries of a Subscription was written by another process, or for another web socket. */
class DeliveredElsewhere extends Error {}

/** Parts that deliveries work with. */
export interface DeliveryParts extends EngineParts {
  readonly rows: SubscriptionRows;
  readonly gate: Pick<DeliveryGate, 'run'>;
  readonly lease: Pick<Lease, 'signal' | 'isHeld'>;
  /** The client at the other end of a web socket; absent: notifications go to endpoints. */
  readonly peer?: {
    /** Called when the owner, or who bound the socket, may read no more what the topic is about. */
    refused(): void;
  };
}

/** What is to be sent next. */
type Attempt = 'handshake' | 'events' | 'heartbeat';

/** The events of a notification, for the audit. */
type ToldEvents = Pick<SentNotification, 'first' | 'last' | 'foci' | 'types'>;

/** One Subscription as it was read before an attempt. */
interface Turn {
  readonly plan: SubscriptionPlan;
  readonly row: SubscriptionRow;
  readonly version: number;
  readonly status: SubscriptionState;
}

/**
 * Sends what there is to send for one Subscription, one request at a time, in the order of the numbers, until it is stopped or the Subscription
 * lives no more.
 */
export class Delivery {
  private readonly end = new AbortController();
  private wakeUp: (() => void) | undefined;
  private isNews = false;
  private sent: Kept<SentRow> | undefined;
  private ending: Promise<void> | undefined;
  /** Nothing was tried on the socket yet. */
  private isNewSocket: boolean;
  /** Whether the socket has had its handshake. */
  private isGreeted: boolean;

  constructor(
    readonly id: string,
    private matched: MatchedSubscription,
    private readonly parts: DeliveryParts,
  ) {
    this.isNewSocket = parts.peer !== undefined;
    this.isGreeted = !this.isNewSocket;
  }

  get born(): number {
    return this.matched.row.born;
  }

  /** Events that were not answered yet; of web sockets this process knows no more than of those that it has. */
  get backlog(): number {
    if (this.matched.plan?.channel === 'websocket' && this.parts.peer === undefined) return 0;
    return Math.max(0, this.matched.row.number - (this.sent?.value.done ?? 0));
  }

  start(): void {
    this.ending = this.work().catch((error: unknown) => this.parts.onError(error));
  }

  /** Takes what the matcher knows now. */
  update(matched: MatchedSubscription): void {
    if (matched.row === this.matched.row && matched.plan === this.matched.plan) return;
    this.matched = matched;
    this.isNews = true;
    this.wakeUp?.();
  }

  async stop(): Promise<void> {
    this.end.abort();
    this.wakeUp?.();
    await this.ending;
  }

  private get isStopped(): boolean {
    return this.end.signal.aborted || this.parts.lease.signal.aborted;
  }

  private async work(): Promise<void> {
    while (!this.isStopped) {
      try {
        const until = await this.step();
        if (until !== undefined) await this.sleep(until);
      } catch (error) {
        if (this.isStopped) return;
        if (!(error instanceof DeliveredElsewhere)) this.parts.onError(error);
        this.sent = undefined;
        await this.sleep(this.parts.now() + STORE_PAUSE);
      }
    }
  }

  /** Does the next thing. @returns until when there is nothing to do; undefined: there may be more at once */
  private async step(): Promise<number | undefined> {
    this.isNews = false;
    const { rows, now } = this.parts;
    const { row, plan } = this.matched;
    const services = this.parts.services();
    const current = await services.store.read(SUBSCRIPTION, this.id);
    // What the matcher has not seen yet it will tell.
    if (current?.json === undefined || current.version !== row.version) return Infinity;
    const { status } = (await readStored(current.json, services)) as { status?: unknown };
    if (!LIVE.has(status)) return Infinity;
    if (plan === undefined) {
      await this.tellUnmatched(row, current.version, status === 'error');
      return Infinity;
    }
    const turn: Turn = { plan, row, version: current.version, status: status as SubscriptionState };
    if (plan.end !== undefined && plan.end <= now()) {
      await writeStatus(this.id, current.version, 'off', services);
      return Infinity;
    }
    const most = plan.end ?? Infinity;
    // Events wait for the process that has the socket of a peer.
    if (plan.channel === 'websocket' && this.parts.peer === undefined) {
      this.sent = undefined;
      return most;
    }
    this.sent ??= await rows.sent(this.id, row);
    const isAnew = turn.status === 'requested' && this.sent.value.requested !== current.version;
    // A new socket is not tried later because that before it failed.
    if (isAnew || (this.isNewSocket && this.sent.value.failures > 0)) {
      const { notBefore: _notBefore, failingSince: _failingSince, ...kept } = this.sent.value;
      await this.save(row, { ...kept, requested: current.version, failures: 0, isShaken: false });
    }
    this.isNewSocket = false;
    const sent = this.sent.value;
    if (sent.notBefore !== undefined && sent.notBefore > now()) return Math.min(sent.notBefore, most);
    const due = heartbeatAt(plan, sent);
    const next = this.isGreeted ? nextAttempt(turn, sent, due <= now()) : 'handshake';
    if (next === undefined) return Math.min(due, most);
    await span('delivery', { notification: next }, () => this.attempt(next, turn));
    return undefined;
  }

  /** Says that no version can be matched: the client would wait for events without end. */
  private async tellUnmatched(row: SubscriptionRow, version: number, isError: boolean): Promise<void> {
    this.sent ??= await this.parts.rows.sent(this.id, row);
    const { errors, ...kept } = this.sent.value;
    if (errors[0]?.code !== UNMATCHED.code) {
      const all = [{ ...UNMATCHED, at: this.parts.now() }, ...errors].slice(0, ERRORS);
      await this.save(row, { ...kept, errors: all });
    }
    if (!isError) await writeStatus(this.id, version, 'error', this.parts.services());
  }

  private async attempt(kind: Attempt, turn: Turn): Promise<void> {
    const { gate, counters, now } = this.parts;
    const before = this.sent!.value;
    let done = before.done;
    let fault: DeliveryFault | undefined;
    let answer: ReceiverAnswer | undefined;
    let told: ToldEvents | undefined;
    try {
      await gate.run(before.failures > 0, async () => {
        if (this.isStopped) throw new Error('the delivery was stopped');
        const principal = await this.allowed(turn);
        const made = await this.compose(kind, turn, principal, before.done);
        told = made.told;
        answer = await this.send(made.body, turn);
        done = told?.last ?? done;
      });
    } catch (error) {
      if (!(error instanceof DeliveryFault) || this.isStopped) throw error;
      fault = error;
    }
    const status = answer?.status ?? 0;
    const said = fault ?? new DeliveryFault('error-response', `the receiver answered ${status}`);
    const isTaken = status >= 200 && status < 300;
    if (told !== undefined) {
      const { clientId } = turn.row.owner;
      const failure = isTaken ? undefined : said.message;
      this.parts.audited({ clientId, time: now(), subscription: this.id, ...told, status, failure });
    }
    if (isTaken) {
      counters.delivered('done');
      const { notBefore: _notBefore, failingSince: _failingSince, ...kept } = before;
      await this.save(turn.row, { ...kept, done, failures: 0, sentAt: now(), isShaken: true, errors: [] });
      this.isGreeted = true;
      if (turn.status !== 'active') await writeStatus(this.id, turn.version, 'active', this.parts.services());
      return;
    }
    counters.delivered('failed');
    const asked = status === 429 || status === 503 ? readRetryAfter(answer?.retryAfter, now()) : undefined;
    await this.failed(kind, turn, said, { isGone: status === 410, asked });
    if (said.code === 'no-access') this.parts.peer?.refused();
  }

  private async failed(
    kind: Attempt,
    turn: Turn,
    { code, message }: DeliveryFault,
    { isGone, asked }: { readonly isGone: boolean; readonly asked: number | undefined },
  ): Promise<void> {
    const { now, settings, services } = this.parts;
    const before = this.sent!.value;
    const at = now();
    const failures = before.failures + 1;
    const failingSince = before.failingSince ?? at;
    const pause = pauseAfterFailure(failures, asked);
    await this.save(turn.row, {
      ...before,
      ...{ failures, failingSince, notBefore: at + pause },
      ...(kind === 'handshake' && { isShaken: false }),
      errors: [{ code, text: message, at }, ...before.errors].slice(0, ERRORS),
    });
    const isOver = isGone || at - failingSince >= settings.retryFor;
    if (isOver) return writeStatus(this.id, turn.version, 'off', services());
    const isError = kind === 'handshake' || failures >= FAILURES;
    if (isError && turn.status !== 'error') await writeStatus(this.id, turn.version, 'error', services());
  }

  /** With what rights something is sent now. @throws DeliveryFault where the owner has none on a type of the topic */
  private async allowed({ plan, row }: Turn): Promise<Principal> {
    const { now } = await this.parts.accessOf(row.owner, this.id);
    if (now === undefined || !showsTriggers(plan, now)) {
      throw new DeliveryFault('no-access', 'the client that wrote the Subscription may not read what it is about now');
    }
    return now;
  }

  /**
   * The text of a notification, and its events.
   *
   * @throws DeliveryFault where it cannot be made: it is tried again later and later, as what a receiver refuses
   * @throws what the store throws while it does not work
   */
  private async compose(kind: Attempt, turn: Turn, principal: Principal, done: number) {
    const { print, services, onError } = this.parts;
    try {
      const { input, told } = await this.inputOf(kind, turn, principal, done);
      return { body: await print(notificationBundle(input), turn.plan.format), told };
    } catch (error) {
      const { ok } = this.isStopped ? { ok: false } : await services().store.check();
      if (!ok) throw error;
      onError(error);
      throw new DeliveryFault('error', 'the server could not make the notification: its log says why');
    }
  }

  private async inputOf(
    kind: Attempt,
    { plan, row, status }: Turn,
    principal: Principal,
    done: number,
  ): Promise<{ readonly input: NotificationInput; readonly told?: ToldEvents }> {
    const { rows, base, now, services } = this.parts;
    const head = {
      base: base(),
      subscription: { id: this.id, status: status as 'requested' | 'active' | 'error' },
      topic: plan.topic.canonical,
      level: plan.level,
      now: now(),
    };
    if (kind !== 'events') return { input: { ...head, type: kind, eventsSinceStart: row.number } };
    const backlog = row.number - done;
    const count = Math.min(backlog, plan.maxCount ?? TOGETHER);
    const events = await rows.events(this.id, row, done, count);
    // Those that were forgotten while the Subscription was off are passed over.
    if (events.length === 0) throw new Error(`no events of ${SUBSCRIPTION}/${this.id} after ${done}`);
    const request = { plan, principal, signal: this.end.signal };
    const contents = await readContents(events, request, services());
    const last = contents.events.at(-1)!.number;
    const sent = events.slice(0, contents.events.length);
    return {
      input: { ...head, type: 'event-notification', ...contents, eventsSinceStart: last },
      told: {
        ...{ first: sent[0]!.number, last, types: new Set(sent.map(({ type }) => type)) },
        foci: sent.filter((_, i) => contents.events[i]!.focus !== undefined),
      },
    };
  }

  private async send(body: string, { plan }: Turn): Promise<ReceiverAnswer> {
    const { lease, send } = this.parts;
    const signal = AbortSignal.any([this.end.signal, lease.signal]);
    if (!lease.isHeld()) throw new DeliveredElsewhere(`another process delivers ${SUBSCRIPTION}/${this.id}`);
    return send({
      url: plan.endpoint ?? '',
      headers: plan.headers,
      contentType: plan.contentType,
      body,
      timeout: plan.timeout * 1000,
      signal,
    });
  }

  private async save(row: SubscriptionRow, next: SentRow): Promise<void> {
    const saved = await this.parts.rows.saveSent(this.id, row, this.sent!, next);
    if (saved === undefined) throw new DeliveredElsewhere(`another process delivers ${SUBSCRIPTION}/${this.id}`);
    this.sent = saved;
  }

  private async sleep(until: number): Promise<void> {
    if (this.isNews || this.isStopped) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.wakeUp = resolve;
      if (until < Infinity) timer = setTimeout(resolve, Math.min(MOST, Math.max(0, until - this.parts.now()))).unref();
    });
    clearTimeout(timer);
    this.wakeUp = undefined;
  }
}

function nextAttempt({ row, status }: Turn, sent: SentRow, isDue: boolean): Attempt | undefined {
  if (status === 'requested' || !sent.isShaken) return 'handshake';
  if (row.number > sent.done) return 'events';
  // A Subscription in error whose events were all sent tells by a heartbeat that it goes on.
  return isDue || status === 'error' ? 'heartbeat' : undefined;
}

/** When a heartbeat is due; Infinity: never. */
function heartbeatAt({ heartbeatPeriod }: SubscriptionPlan, { sentAt }: SentRow): number {
  return heartbeatPeriod === undefined ? Infinity : (sentAt ?? 0) + heartbeatPeriod * 1000;
}
