import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';

import { SERVER, type Principal } from '../auth/scopes/principal.js';
import type { OwnerRights } from '../auth/clients/resume-principal.js';
import { readAllowList } from '../auth/jwks/allow-list.js';
import { ConfigError } from '../config/config-error.js';
import type { Config } from '../config/settings.js';
import type { Services, SubscriptionChecks } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import { writeJson } from '../format/write-json.js';
import type { Log } from '../observe/log.js';
import type { Store } from '../store/store.js';
import { XML } from '../server.js';
import { createSubscriptionChecks } from '../subscriptions/check/create-subscription-checks.js';
import { liveOn } from '../subscriptions/check/live-on.js';
import { takePlace } from '../subscriptions/engine/client-places.js';
import { contentDigest, NEW } from '../subscriptions/engine/digest.js';
import { createSubscriptionEngine, type SubscriptionEngine } from '../subscriptions/engine/engine.js';
import type { EngineCounters, EngineParts, SendNotification } from '../subscriptions/engine/parts.js';
import { SubscriptionRows, type SubscriptionOwner } from '../subscriptions/engine/rows.js';
import { createSocketHub, type SocketHub } from '../subscriptions/socket/socket-hub.js';
import { SUBSCRIPTION } from '../core/write/content-to-store.js';
import { isGone } from './jobs.js';
import { readNamedFile } from './read-file.js';
import { createSender } from './send-notification.js';

/** How long an owner is kept whose write the matcher has not seen, in milliseconds. */
const OWNER = 30 * 86_400_000;

/** How long the grant of a token of another authorization server holds, in milliseconds. */
const FOREIGN_GRANT = 86_400_000;

/** Notifications that are sent at a time. */
const AT_ONCE = 100;

/** Parts that subscriptions are made of. */
export interface SubscriptionSetup {
  readonly config: Config;
  readonly store: Store;
  readonly log: Log;
  readonly services: () => Services;
  readonly rightsOf: (owner: SubscriptionOwner) => Promise<OwnerRights>;
  /** A detached JWS over the body of a notification, with the key of the authorization server; called where there is one. */
  readonly sign: (body: string) => Promise<string>;
  readonly base: () => string;
  readonly isOwn: (url: string) => boolean;
  readonly counters: EngineCounters;
  /** Takes down what was sent. */
  readonly audited: EngineParts['audited'];
}

/** The checks of writes, and the engine that delivers. */
export interface Subscriptions {
  readonly checks: SubscriptionChecks;
  readonly engine: SubscriptionEngine;
  /** Absent: web sockets are not offered. */
  readonly sockets?: SocketHub;
  close(): Promise<void>;
}

/** @throws ConfigError naming a setting that cannot be */
export async function openSubscriptions(setup: SubscriptionSetup): Promise<Subscriptions> {
  const { config, store, log, services, rightsOf, base, isOwn, counters, audited } = setup;
  if (config['subscriptions.sign'] && (config.auth === 'open' || config['auth.external.mode'] !== undefined)) {
    throw new ConfigError(
      'subscriptions.sign needs the authorization server of Kiln: it alone has a key (docs/authorization.md)',
    );
  }
  const caFile = config['subscriptions.ca'];
  const ca = caFile === undefined ? undefined : await readNamedFile('subscriptions.ca', caFile);
  const sender = createSender(allowListOf(config), isOwn, ca);
  const rows = new SubscriptionRows(store.maps);
  const isForeign = config['auth.external.mode'] !== undefined;
  const parts: EngineParts = {
    services,
    base,
    counters,
    audited,
    isGone,
    send: config['subscriptions.sign'] ? withSignature(sender.send, setup.sign) : sender.send,
    print: (resource, format) => (format === 'json' ? writeJson(resource) : XML.write(resource, false)),
    holder: `${hostname()} ${process.pid} ${randomUUID()}`,
    now: Date.now,
    async accessOf(owner, id) {
      const rights = await rightsOf(owner);
      // Who wrote it while no authorization was asked for is not known: its events wait until a client writes it.
      if (config.auth !== 'open' && owner.clientId === '') return { ...rights, now: undefined };
      const isOld = (granted: number): boolean => Date.now() - granted > FOREIGN_GRANT;
      const isForeignOwner = isForeign && owner.scope !== undefined;
      const isOver =
        isForeignOwner && isOld(owner.granted) && (id === undefined || isOld(await rows.grantOf(id, owner)));
      return isOver ? { ...rights, now: undefined } : rights;
    },
    settings: {
      retryFor: config['subscriptions.retryFor'],
      keep: config['subscriptions.keep'],
      keepLog: config['log.keep'],
      atOnce: AT_ONCE,
    },
    onWarning: (text) => log.warn(text),
    onError(error) {
      if (error instanceof FhirError) log.warn(`subscriptions: ${error.message}`);
      else log.defect('none', error);
    },
  };
  const hasWebsocket = config['subscriptions.websocket'];
  const sockets = hasWebsocket ? createSocketHub(parts) : undefined;
  const engine = createSubscriptionEngine(sockets === undefined ? parts : { ...parts, matched: sockets.matched });
  const checks = createSubscriptionChecks({
    hasWebsocket,
    perClient: config['subscriptions.perClient'],
    endpointFault: sender.endpointFault,
    takePlace: (request) => takePlace(request, config['subscriptions.perClient'], services(), Date.now()),
    liveOn: (topicId) => liveOn(store, topicId),
  });
  return {
    checks: withOwners(checks, engine, rows, isForeign),
    engine,
    ...(sockets !== undefined && { sockets }),
    async close() {
      await sockets?.close();
      await engine.close();
      sender.close();
    },
  };
}

/** Has each notification say who sent it, so that a receiver need not trust the way. */
function withSignature(send: SendNotification, sign: SubscriptionSetup['sign']): SendNotification {
  return async (notification) => {
    const { headers, body } = notification;
    return send({ ...notification, headers: [...headers, ['X-Kiln-Signature', await sign(body)]] });
  };
}

/** Keeps who writes a Subscription, and sees that the log goes on, before it is written. */
function withOwners(
  checks: SubscriptionChecks,
  engine: SubscriptionEngine,
  rows: SubscriptionRows,
  isForeign: boolean,
): SubscriptionChecks {
  return {
    ...checks,
    async checkPut(content, write, call, services) {
      const checked = await checks.checkPut(content, write, call, services);
      if (checked.resourceType !== SUBSCRIPTION) return checked;
      await engine.prepare();
      const before = write.before?.['meta'] as { readonly versionId?: unknown } | undefined;
      const version = before === undefined ? NEW : Number(before.versionId) + 1;
      const now = Date.now();
      const owner = ownerOf(call.principal, now);
      await rows.keepOwner(write.id, version, contentDigest(checked), owner, now + OWNER);
      if (isForeign) await rows.renewGrant(write.id, owner, now + FOREIGN_GRANT);
      return checked;
    },
  };
}

function ownerOf({ clientId, scope, registration, access }: Principal, granted: number): SubscriptionOwner {
  const isOpen = access === SERVER.access;
  return {
    clientId,
    ...(!isOpen && { scope }),
    ...(registration !== undefined && { registration }),
    granted,
  };
}

function allowListOf(config: Config) {
  try {
    return readAllowList(config['subscriptions.allow'], 'subscriptions.allow', true);
  } catch (error) {
    throw new ConfigError(`subscriptions.allow: ${error instanceof Error ? error.message : String(error)}`);
  }
}
