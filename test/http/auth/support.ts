import { OWN } from '../../toy/own.js';
import type { VerifiedToken } from '../../../runtime/auth/server/access-token.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { parseElements, selectElements } from '../../../runtime/format/summary-elements.js';
import { summarize } from '../../../runtime/format/summary.js';
import { createTokenGate } from '../../../runtime/http/token-gate.js';
import type { AppOptions } from '../../../runtime/http/app.js';
import type { View } from '../../../runtime/core/services.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { Store } from '../../../runtime/store/store.js';
import { tables } from '../../../generated/tables.js';
import type { ToyServer } from '../server.js';
import { useBundleServer } from '../bundles/bundle-server.js';

/** Everything on all types, and what `*` does not give. */
export const EVERYTHING = 'system/*.cruds system/AuditEvent.ud __admin';

/** A server that asks for tokens. What is sent without more comes without one. */
export interface GuardedServer extends ToyServer {
  /** The server as a client with these scopes sees it. */
  as(scopes: string, clientId?: string): Pick<ToyServer, 'send'>;
}

/** Tokens that the verifier does not take, by what it says of them. */
export const BAD_TOKENS = { expired: 'expired', unavailable: 'unavailable', invalid: 'forged' } as const;

/** A token that gives these scopes. */
export function tokenOf(scopes: string, clientId = 'client'): string {
  return Buffer.from(JSON.stringify([clientId, scopes])).toString('base64url');
}

/** A server with all types on a store, whose tokens say themselves what they give. */
export function serveWith(store: Store, options: Partial<AppOptions> = {}): GuardedServer {
  const scopes = createScopes({ tables, zone: utc, own: OWN });
  const gate = createTokenGate({ verifier: { verify: async (text) => verify(text) }, access: scopes.access });
  const server = useBundleServer(store, { gate, subset, ...options });
  const as = (given: string, clientId?: string): Pick<ToyServer, 'send'> => ({
    send: (method, path, body, headers = {}) =>
      server.send(method, path, body, { authorization: `Bearer ${tokenOf(given, clientId)}`, ...headers }),
  });
  return Object.assign(Object.create(server) as ToyServer, { as });
}

function subset(resource: Resource, { summary, elements = [] }: View): Resource {
  if (summary !== undefined) return summarize(resource, summary, tables);
  return selectElements(resource, parseElements(elements.join(','), [resource.resourceType], tables), tables);
}

function verify(text: string): { token: VerifiedToken } | { failure: 'invalid' | 'expired' | 'unavailable' } {
  if (text === BAD_TOKENS.expired) return { failure: 'expired' };
  if (text === BAD_TOKENS.unavailable) return { failure: 'unavailable' };
  if (text === BAD_TOKENS.invalid) return { failure: 'invalid' };
  const [clientId, scope] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, string];
  return { token: { clientId, scope, exp: Date.now() / 1000 + 300, issuer: 'test', audience: 'test' } };
}

/** What a scope with a constraint is about in these tests: the category of an Observation. */
export const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';

/** A constraint that leaves the laboratory's. */
export const LAB = `category=${CATEGORY}|laboratory`;

/** An Observation of the laboratory, or of another category. */
export function observed(category: 'laboratory' | 'vital-signs', more: object = {}): object {
  return {
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'what' },
    category: [{ coding: [{ system: CATEGORY, code: category }] }],
    ...more,
  };
}
