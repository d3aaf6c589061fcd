import type { Principal } from '../../auth/scopes/principal.js';
import type { Services } from '../../core/services.js';
import type { Resource } from '../../fhir/resource.js';
import type { SubscriptionPlan } from '../plan.js';
import type { SubscriptionOwner, SubscriptionRow } from './rows.js';

/** Access of the owner of a Subscription. */
export interface OwnerAccess {
  /** With the scopes of the token that wrote it. */
  readonly kept: Principal;
  /** The same, as far as the client is registered for it now; undefined: it is removed or disabled, or its grant has run out. */
  readonly now: Principal | undefined;
}

/** A request to a receiver. */
export interface OutgoingNotification {
  readonly url: string;
  /** Beside those of the body, in their order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly contentType: string;
  readonly body: string;
  /** In milliseconds, until the head of the answer is there; its body is read for a moment only. */
  readonly timeout: number;
  /** Aborts when this process may not go on. */
  readonly signal: AbortSignal;
}

/** The head of the answer. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** A notification could not be made, or a receiver was not reached or did not answer. The text is for clients: it has nothing of the receiver's. */
export class DeliveryFault extends Error {
  constructor(
    /** https://hl7.org/fhir/R5/valueset-subscription-error.html, or `no-access`, or `error`: of this server */
    readonly code: 'dns-resolution-error' | 'no-response' | 'error-response' | 'no-access' | 'error',
    text: string,
  ) {
    super(text);
  }
}

/** A notification of events, once its receiver has answered or failed: for the audit. */
export interface SentNotification {
  /** Of the owner; empty without authorization. */
  readonly clientId: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly subscription: string;
  /** Numbers of its events. */
  readonly first: number;
  readonly last: number;
  /** The versions that it names. */
  readonly foci: readonly { readonly type: string; readonly id: string; readonly version: number }[];
  /** Types of the versions, named or not. */
  readonly types: ReadonlySet<string>;
  /** Status that the receiver answered; 0: none. */
  readonly status: number;
  /** Why it failed; undefined: it was taken. */
  readonly failure: string | undefined;
}

/** Sends a notification. @throws DeliveryFault */
export type SendNotification = (notification: OutgoingNotification) => Promise<ReceiverAnswer>;

/** Parts that the engine works with. */
export interface EngineParts {
  /** Those of the moment. */
  readonly services: () => Services;
  /** @param id of the Subscription, for a delivery: its owner may have granted its scopes once more since */
  readonly accessOf: (owner: SubscriptionOwner, id?: string) => Promise<OwnerAccess>;
  /** Absolute URL of the FHIR base, without a slash at its end. */
  readonly base: () => string;
  readonly send: SendNotification;
  /** The text of a resource in a format. */
  readonly print: (resource: Resource, format: 'json' | 'xml') => string | Promise<string>;
  /** Names this process; no other has the same. */
  readonly holder: string;
  /** Whether the process of this name is known to be dead. */
  readonly isGone: (holder: string) => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly settings: EngineSettings;
  /** Called with what an operator should know. */
  readonly onWarning: (text: string) => void;
  /** Called with a defect: the engine goes on. */
  readonly onError: (error: unknown) => void;
  readonly counters: EngineCounters;
  /** Called with each notification of events that was sent, or was to be sent. */
  readonly audited: (record: SentNotification) => void;
  /** Called with the Subscriptions that live, where this process matches. */
  readonly matched?: (live: ReadonlyMap<string, MatchedSubscription>) => void;
}

/** Times in milliseconds. */
export interface EngineSettings {
  /** How long a receiver is tried again before its Subscription is turned off. */
  readonly retryFor: number;
  /** How long delivered events are kept. */
  readonly keep: number;
  /** How long the log is kept. */
  readonly keepLog: number;
  /** Requests at a time. */
  readonly atOnce: number;
}

/** Counters of the engine. */
export interface EngineCounters {
  matched(events: number, failures: number): void;
  delivered(outcome: 'done' | 'failed'): void;
}

/** Subscription as the matcher knows it. */
export interface MatchedSubscription {
  readonly row: SubscriptionRow;
  /** Undefined: its topic or itself cannot be evaluated any more. */
  readonly plan: SubscriptionPlan | undefined;
}

/** Whether a client may read something of each type that fires a topic. */
export function showsTriggers({ topic }: SubscriptionPlan, { access }: Principal): boolean {
  const types = topic.triggers.flatMap(({ focus }) => [...focus.types]);
  return types.every((type) => access.on(type, 'rs') !== 'nothing');
}
