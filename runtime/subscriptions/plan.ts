import type { Principal } from '../auth/scopes/principal.js';
import type { Resource } from '../fhir/resource.js';
import type { Evaluate } from '../path/evaluate/function-types.js';
import type { Criterion } from '../search/query/query.js';
import type { IncludeDirective, StoredVersion } from '../store/store.js';
import type { PlaceRequest } from './engine/client-places.js';

/**
 * Types of topic subscriptions: what topics and Subscriptions are compiled to, what the matcher is given, and what notifications are
 * made of. Nothing here reads or writes. https://hl7.org/fhir/R5/subscriptions.html
 */

/** Interaction that made a version. https://hl7.org/fhir/R5/valueset-interaction-trigger.html */
export type TriggerInteraction = 'create' | 'update' | 'delete';

/** One version with what a matcher judges it by. */
export interface VersionChange {
  readonly interaction: TriggerInteraction;
  /** The version; of a deletion it has no `json`. */
  readonly version: StoredVersion;
  /** The version before, with `json`; undefined: nothing was current. */
  readonly before: StoredVersion | undefined;
}

/** Criteria of one search: as they were written, and read. Hierarchies, value sets and lists in them are looked up at each evaluation. */
export interface SearchCriteria {
  readonly text: string;
  readonly criteria: readonly Criterion[];
}

/** The types that an element `resource` of a topic means. */
export interface FocusTypes {
  /** `Observation`, or `Resource`. */
  readonly name: string;
  /** Whether it is a type that others inherit from. */
  readonly isGeneral: boolean;
  readonly types: ReadonlySet<string>;
}

/** One `resourceTrigger`. */
export interface TriggerPlan {
  readonly focus: FocusTypes;
  readonly interactions: ReadonlySet<TriggerInteraction>;
  /** Absent: the trigger has no search criteria. */
  readonly query?: {
    readonly previous?: SearchCriteria;
    readonly current?: SearchCriteria;
    /** Absent: the test takes no part. https://hl7.org/fhir/R5/valueset-subscriptiontopic-cr-behavior.html */
    readonly resultForCreate?: boolean;
    readonly resultForDelete?: boolean;
    readonly requireBoth: boolean;
  };
  /** Absent: the trigger has no FHIRPath criteria. */
  readonly path?: { readonly text: string; readonly evaluate: Evaluate };
}

/** One `canFilterBy`, for the types of one trigger. */
export interface AllowedFilter {
  readonly focus: FocusTypes;
  /** What `Subscription.filterBy.filterParameter` says. */
  readonly name: string;
  /** The search parameter that it means: a code or a chain. */
  readonly param: string;
  /** Whether its values have prefixes. */
  readonly isCompared: boolean;
  readonly comparators: ReadonlySet<string>;
  readonly modifiers: ReadonlySet<string>;
}

/** The includes of one `notificationShape`. */
export interface ShapePlan {
  readonly types: ReadonlySet<string>;
  readonly includes: readonly IncludeDirective[];
}

/** A topic that can be evaluated. https://hl7.org/fhir/R5/subscriptiontopic.html */
export interface TopicPlan {
  readonly id: string;
  readonly url: string;
  readonly version?: string;
  /** `url`, or `url|version` where the topic has a version: what `SubscriptionStatus.topic` says. */
  readonly canonical: string;
  readonly triggers: readonly TriggerPlan[];
  readonly filters: readonly AllowedFilter[];
  readonly shapes: readonly ShapePlan[];
}

/** https://hl7.org/fhir/R5/valueset-subscription-payload-content.html */
export type PayloadLevel = 'empty' | 'id-only' | 'full-resource';

/** Criteria of one filter for a focus of these types. */
export interface FilterPlan extends SearchCriteria {
  /** Place in `filterBy`. */
  readonly index: number;
  readonly types: ReadonlySet<string>;
}

/** A Subscription that can fire, without its state. https://hl7.org/fhir/R5/subscription.html */
export interface SubscriptionPlan {
  readonly id: string;
  readonly topic: TopicPlan;
  /** All that apply to the type of the focus have to hold. */
  readonly filters: readonly FilterPlan[];
  readonly channel: 'rest-hook' | 'websocket';
  /** Of rest-hook. */
  readonly endpoint?: string;
  /** Sent with each request, in this order. They may hold secrets: never to be logged. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly level: PayloadLevel;
  readonly format: 'json' | 'xml';
  /** `Content-Type`, exactly as the Subscription has it. */
  readonly contentType: string;
  /** Seconds; absent: no heartbeats. */
  readonly heartbeatPeriod?: number;
  /** Seconds. */
  readonly timeout: number;
  /** Events in one notification at most; absent: up to 100 when there is a backlog, 1 otherwise. */
  readonly maxCount?: number;
  /** Milliseconds since the epoch. */
  readonly end?: number;
}

/** A Subscription with what its owner may read: kept scopes, as far as the registration still has them. */
export interface OwnedSubscription {
  readonly plan: SubscriptionPlan;
  readonly principal: Principal;
}

/** Result of matching one version. */
export interface MatchOutcome<T extends OwnedSubscription> {
  /** Subscriptions that get an event: topic, filters and rights all hold. Each once. */
  readonly matched: readonly T[];
  /** Criteria that failed at run time: these fire nothing. */
  readonly failures: readonly { readonly topic: TopicPlan; readonly text: string; readonly message: string }[];
}

/** https://hl7.org/fhir/R5/valueset-subscription-notification-type.html */
export type NotificationType = 'handshake' | 'heartbeat' | 'event-notification' | 'query-status' | 'query-event';

/** One event in a notification. */
export interface NotificationEvent {
  readonly number: number;
  /** `lastUpdated` of the version: milliseconds since the epoch. */
  readonly updated: number;
  /** Absent: the owner may not read it now, or the version is gone; the event keeps number and time. */
  readonly focus?: {
    readonly type: string;
    readonly id: string;
    readonly interaction: TriggerInteraction;
    /** The version of the event; read for `full-resource` only. */
    readonly resource?: Resource;
    /** Included resources: names like `Patient/p1`. */
    readonly context?: readonly { readonly type: string; readonly id: string }[];
  };
}

/** Input that a notification is composed from. */
export interface NotificationInput {
  readonly type: NotificationType;
  /** FHIR base of the server, without a slash at its end. */
  readonly base: string;
  readonly subscription: { readonly id: string; readonly status: 'requested' | 'active' | 'error' | 'off' };
  /** Canonical of the topic. Left out of `empty` notifications. */
  readonly topic: string;
  readonly level: PayloadLevel;
  /** All events so far; of an event-notification the highest number in it. */
  readonly eventsSinceStart: number;
  /** Ascending by number, with one deletion of a resource at most; only of event-notification and query-event. */
  readonly events?: readonly NotificationEvent[];
  /** Included resources in their current version, each once; of `full-resource` only. */
  readonly included?: readonly Resource[];
  /** Of query-status: newest first. */
  readonly errors?: readonly { readonly code: string; readonly text: string }[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Questions of the write checks to the engine, which knows the live Subscriptions. */
export interface SubscriptionPorts {
  /** Whether the server offers the channel websocket. */
  readonly hasWebsocket: boolean;
  /** Greatest number of live Subscriptions of one client: the setting `subscriptions.perClient`. */
  readonly perClient: number;
  /** Why the server does not connect to a URL; undefined: it does, as far as the URL tells. The setting `subscriptions.allow`. */
  readonly endpointFault: (url: string) => string | undefined;
  /** Takes a place for a Subscription of a client that will live; false: it has `perClient`. */
  readonly takePlace: (request: PlaceRequest) => Promise<boolean>;
  /** The live Subscriptions (current contents) whose topic is this SubscriptionTopic. */
  readonly liveOn: (topicId: string) => Promise<readonly Resource[]>;
}
