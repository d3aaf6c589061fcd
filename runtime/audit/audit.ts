import type { JsonObject } from '../fhir/resource.js';

/** An AuditEvent, under an id of its own, so that it can be written again where it is not known whether it was. https://hl7.org/fhir/R5/auditevent.html */
export type AuditEvent = JsonObject & { readonly resourceType: 'AuditEvent' };

/** Where audit events go. Must not throw: what cannot be written is reported in the log. */
export interface AuditSink {
  /** @param event an `AuditEvent` as JSON, on one line */
  take(event: string): void;
  /** Writes what is still to be written, and ends. */
  close(): Promise<void>;
}

/** Who did something, as far as it is known. What is written of it is kept as long as the object is. */
export interface AuditedClient {
  /** Absent: not known. */
  readonly clientId?: string | undefined;
  /** `jti` of the token, where it has one. */
  readonly tokenId?: string | undefined;
  /** Of the network. */
  readonly address?: string | undefined;
}

/** One notification of a Subscription, once its receiver has answered or failed. */
export interface NotificationRecord {
  /** Client that owns the Subscription. */
  readonly client: AuditedClient;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Id of the Subscription. */
  readonly subscription: string;
  /** The events of it, by their numbers. */
  readonly first: number;
  readonly last: number;
  /** The versions that they are about, as far as the notification names them. */
  readonly foci: readonly { readonly type: string; readonly id: string; readonly version: number }[];
  /** Types of the versions, named or not. */
  readonly types: ReadonlySet<string>;
  /** Status that the receiver answered; 0: none. */
  readonly status: number;
  /** Why it failed; absent: it was taken. */
  readonly failure?: string | undefined;
}

/** One request, or one entry of a Bundle, once it has been answered. */
export interface RestRecord {
  readonly client: AuditedClient;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly requestId: string;
  /** Absent: it was refused before it was known. */
  readonly interaction?: string | undefined;
  /** The transaction of an exchange guide that it was: `ITI-67`. */
  readonly transaction?: string | undefined;
  /** The type in the URL, and what else names what it was about. */
  readonly type?: string | undefined;
  readonly id?: string | undefined;
  readonly versionId?: string | undefined;
  readonly status: number;
  /** Code of the failure, from the catalogue. */
  readonly failure?: string | undefined;
  /** The request line below the base, and the form that was posted; of searches, and of what was refused. */
  readonly query?: string | undefined;
  /** Ids of the patients that it was about. */
  readonly patients: readonly string[];
  /** There are more patients than are named. */
  readonly hasMorePatients?: boolean | undefined;
}
