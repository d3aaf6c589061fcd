import { maskParameter } from './mask-tokens.js';
import type { Refusal } from './refusals.js';

/** An endpoint of the authorization server. */
export type EndpointName = 'token' | 'introspection' | 'revocation';

/**
 * Event at an endpoint, for the audit sink (BALP IHE.IUA.71, authorization.md §6.4) and the log. It never holds an assertion, a
 * token or a secret. Refusals after too many failures (`rate`) are unlimited in number: they belong into counters rather than
 * into the audit sink.
 */
export interface AuthEvent {
  readonly endpoint: EndpointName;
  readonly outcome: 'success' | 'refused' | 'failed';
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly address: string;
  /** Of the client; where `isVerified` is false only what the request claimed. */
  readonly clientId?: string;
  readonly isVerified: boolean;
  readonly status: number;
  readonly refusal?: Refusal;
  readonly requestId?: string;
  /** For people, why exactly; for the log, not for the audit event. */
  readonly detail?: string;
  /** The request as a form, without assertion, token and secrets. */
  readonly request?: string;
  /** What was granted, canonical. */
  readonly scope?: string;
  /** Of the token issued, or revoked. */
  readonly jti?: string;
}

/** Where events go. Must not throw. */
export interface AuthEvents {
  happened(event: AuthEvent): void;
  /** An unexpected error. */
  defect(error: unknown): void;
}

const MAX_REQUEST = 4096;
/** The only parameters that are logged: others may hold secrets. */
const TOLD = ['grant_type', 'scope', 'client_assertion_type', 'client_id', 'resource', 'requested_token_type'];

/** A form without what is secret or unknown, or is where it does not belong. */
export function tellable(form: URLSearchParams): string {
  const kept = new URLSearchParams([...form].filter(([name]) => TOLD.includes(name)).map(maskParameter));
  return kept.toString().slice(0, MAX_REQUEST);
}
