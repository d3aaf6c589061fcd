import type { JsonObject } from '../fhir/resource.js';
import type { AuditedClient } from './audit.js';
import { SERVER_TYPE } from './codings.js';

/** The client, but for the part that it takes (`type`). Its token is named by its `jti` alone. BALP, "OAUTHaccessTokenUse" */
export function clientPart({ clientId, tokenId, address }: AuditedClient): JsonObject {
  return {
    who: clientId === undefined ? { display: 'unknown' } : { identifier: { value: clientId } },
    requestor: true,
    ...(tokenId !== undefined && { policy: [`urn:ietf:params:oauth:jti:${tokenId}`] }),
    ...(address !== undefined && { networkString: address }),
  };
}

/** This server, in the part that it takes. @param base URL that it is known by */
export function serverAgent(base: string, type: JsonObject): JsonObject {
  return { type, who: { identifier: { value: base } }, requestor: false, networkUri: base };
}

/** Who tells of the event: this server. */
export function sourceOf(base: string): JsonObject {
  return { observer: { identifier: { value: base } }, type: [SERVER_TYPE] };
}
