import type { IncomingMessage } from 'node:http';

import { newId } from '../../fhir/id.js';

/** What a client may give a request as its id: visible ASCII that needs no escape in a line of the log. */
const ACCEPTED = /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/;

/**
 * Id of a request, for the header `X-Request-Id` and the log: the client's, if it has an accepted form.
 * https://hl7.org/fhir/R5/http.html#custom
 */
export function requestId(req: IncomingMessage): string {
  const sent = req.headers['x-request-id'];
  return typeof sent === 'string' && ACCEPTED.test(sent) ? sent : newId();
}
