import type { AtomicMaps } from '../../store/store.js';
import { GRANT, type Client } from '../clients/client.js';
import type { ServerKeys } from '../keys/server-keys.js';
import { authenticate, type Authentication } from './assertion.js';
import { readCredentials } from './credentials.js';
import { createEndpoint, type EndpointNeeds } from './endpoint.js';
import type { OAuthEndpoint } from './messages.js';
import { issueToken } from './issue.js';
import { jsonReply, mismatch, Refused } from './refusals.js';

/** The scopes of a token; undefined: nothing could be granted. */
export type GrantScopes = (
  requested: string,
  registered: Pick<Client, 'scope' | 'dialect'>,
) => { readonly canonical: string; readonly spelled: string } | undefined;

/** Parts that the token endpoint works with. */
export interface TokenEndpointNeeds extends EndpointNeeds, Authentication {
  readonly keys: ServerKeys;
  readonly maps: AtomicMaps;
  readonly grant: GrantScopes;
}

/** RFC 8693 §3, and as IUA writes it. */
const TOKEN_TYPES = [
  'urn:ietf:params:oauth:token-type:jwt',
  'urn:ietf:params:oauth:token-type:access_token',
  'urn:ietf:params:oauth:token-type:access-token',
];

/**
 * The token endpoint: client credentials by assertion. authorization.md §2; the order is that of §2.6.
 * https://hl7.org/fhir/smart-app-launch/backend-services.html
 */
export function createTokenEndpoint(needs: TokenEndpointNeeds): OAuthEndpoint {
  const { settings, keys, maps, now } = needs;
  return createEndpoint('token', needs, async (form, request, trace) => {
    const grantType = form.get('grant_type');
    if (grantType === null) throw new Refused('grant-missing');
    if (grantType !== GRANT) throw new Refused('grant-unknown', mismatch(GRANT, grantType));
    const client = await authenticate(readCredentials(request, form), needs);
    trace.clientId = client.id;
    trace.isVerified = true;
    if (client.grants?.includes(GRANT) === false) throw new Refused('grant-forbidden');
    const granted = grantTo(client, form, needs);
    const lifetime = Math.min(client.lifetime ?? settings.lifetime, settings.lifetime);
    const { text, jti } = await issueToken(
      {
        clientId: client.id,
        registration: client.registration,
        scope: granted.canonical,
        spelled: granted.spelled,
        lifetime,
      },
      settings.addresses,
      keys,
      maps,
      now(),
    );
    trace.scope = granted.canonical;
    trace.jti = jti;
    return jsonReply(200, { access_token: text, token_type: 'bearer', expires_in: lifetime, scope: granted.spelled });
  });
}

/** @throws Refused */
function grantTo(client: Client, form: URLSearchParams, { grant, settings }: TokenEndpointNeeds) {
  const requested = form.get('scope')?.trim() ?? '';
  if (requested === '') throw new Refused('scope-missing');
  const granted = grant(requested, client);
  if (granted === undefined) throw new Refused('scope-empty', mismatch(`some of ${client.scope}`, requested));
  const resource = form.get('resource');
  if (resource !== null && resource !== settings.addresses.audience)
    throw new Refused('resource', mismatch(settings.addresses.audience, resource));
  const type = form.get('requested_token_type');
  if (type !== null && !TOKEN_TYPES.includes(type))
    throw new Refused('token-type', mismatch(TOKEN_TYPES.join(' or '), type));
  return granted;
}
