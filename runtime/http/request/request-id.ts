import type { IncomingMessage } from 'node:http';

import { newId } from '../../fhir/id.js';

/** What a client may give a request as its id: nothing that could break a line of the log. */
const ACCEPTED = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Id of a request, for the header `X-Request-Id` and the log: the client's, if it sent a decent one.
 * https://hl7.org/fhir/R5/http.html#custom
 */
export function requestId(req: IncomingMessage): string {
  const sent = req.headers['x-request-id'];
  return typeof sent === 'string' && ACCEPTED.test(sent) ? sent : newId();
}
