import type { ResumePrincipal, RightsOf } from '../auth/clients/resume-principal.js';
import type { AuthEvents } from '../auth/server/events.js';
import { tokenCommand } from '../config/development.js';
import type { Config } from '../config/settings.js';
import { FHIR_PATH, type AppOptions } from '../http/app.js';
import type { RefusedToken } from '../http/token-gate.js';
import type { Log } from '../observe/log.js';
import type { RunningAudit } from './audit.js';
import type { Authorization, AuthorizationParts } from './authorization.js';

/** Options of an application that depend on who may send requests: without authorization, or with it. */
export interface AccessOptions extends Pick<AppOptions, 'gate' | 'auth' | 'authorization' | 'tokenCommand'> {
  /** On whose behalf jobs go on. */
  readonly principalOf: ResumePrincipal;
  /** With what rights notifications are made and sent. */
  readonly rightsOf: RightsOf;
  /** Signs notifications; absent: the server has no key. */
  readonly sign?: Authorization['sign'];
}

/**
 * Who may ask a server. With authorization its clients are registered meanwhile; without, nothing of it is loaded.
 *
 * @returns given the root under which clients know the server, without a trailing slash, and where FHIR is below it
 * @throws ConfigError naming a setting that cannot be
 */
export async function prepareAccess(
  config: Config,
  parts: Pick<AuthorizationParts, 'tables' | 'tablesNow' | 'zone' | 'own' | 'maps'>,
  log: Log,
  audit?: Pick<RunningAudit, 'token'>,
): Promise<(root: string, fhirPath?: string) => AccessOptions> {
  if (config.auth === 'open') {
    // Jobs of clients that a server with authorization left have the scopes that they were started with.
    const resuming = async () => {
      const [{ createScopes }, resume] = await Promise.all([
        import('../auth/scopes/create-scopes.js'),
        import('../auth/clients/resume-principal.js'),
      ]);
      return { ...resume, parts: { scopes: createScopes(parts), tables: parts.tables } };
    };
    return () => ({
      async principalOf(owner) {
        const { createResumePrincipal, parts: own } = await resuming();
        return createResumePrincipal(own)(owner);
      },
      async rightsOf(owner) {
        const { createOwnerRights, parts: own } = await resuming();
        return createOwnerRights(own)(owner);
      },
    });
  }
  const [{ prepareAuthorization }, { openRegistration, registerConfigured }, { settleDevelopmentClient }, gates] =
    await Promise.all([
      import('./prepare-authorization.js'),
      import('./registration.js'),
      import('./development-client.js'),
      import('../http/token-gate.js'),
    ]);
  const prepared = await prepareAuthorization({ ...parts, config, events: eventsIn(log, audit) });
  const registration = openRegistration(config, parts.maps, parts);
  await registerConfigured(config, registration, (text) => log.warn(text));
  await settleDevelopmentClient(config, registration.register, log);
  return (root, fhirPath = FHIR_PATH) => {
    const { verifier, access, routes, principalOf, rightsOf, sign } = prepared(root, fhirPath);
    const cors = config['cors.origins'].length > 0;
    const issuer = config['auth.external.mode'] === undefined ? undefined : config['auth.external.issuer'];
    const place = fhirPath === '' ? { base: root } : { port: Number(new URL(root).port || 80) };
    const hint = { tokenCommand: tokenCommand(config, place, 'everybody') };
    return {
      ...hint,
      gate: gates.createTokenGate({ verifier, access, refused: refusedIn(log), ...hint }),
      auth: routes,
      authorization: { cors, ...(issuer !== undefined && { issuer }) },
      principalOf,
      rightsOf,
      ...(sign !== undefined && { sign }),
    };
  };
}

/** Tokens that are not taken in the log, which alone says why. That one has run out is no news. */
function refusedIn(log: Log): (why: RefusedToken, requestId: string) => void {
  return ({ failure, detail = 'no reason given' }, requestId) => {
    if (failure === 'expired') return;
    const what = failure === 'unavailable' ? 'cannot be verified' : 'is not taken';
    log.info(`a token ${what}: ${detail}, request ${requestId}`);
  };
}

/** Refusals and troubles of the authorization server in the log, which alone says exactly what was wrong. */
function eventsIn(log: Log, audit: Pick<RunningAudit, 'token'> | undefined): AuthEvents {
  return {
    happened(event) {
      const { endpoint, outcome, refusal, detail, clientId, isVerified, address, requestId } = event;
      audit?.token(event);
      // Of those that are turned away for their number there may be any number.
      if (outcome === 'success' || refusal === 'rate') return;
      const who =
        clientId === undefined
          ? 'an unknown client'
          : `client "${clientId}"${isVerified ? '' : ' (not authenticated)'}`;
      const why = detail === undefined ? '' : ` (${detail})`;
      const id = requestId === undefined ? '' : `, request ${requestId}`;
      log.info(`${endpoint} endpoint: ${who} at ${address}: ${refusal ?? outcome}${why}${id}`);
    },
    defect: (error) => log.defect('none', error),
  };
}
