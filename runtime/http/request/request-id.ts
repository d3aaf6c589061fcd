import type { IncomingMessage, ServerResponse } from 'node:http';

import { newId } from '../../fhir/id.js';

/** What a client may give a request as its id: visible ASCII. */
const ACCEPTED = /^[\x21-\x7e]{1,200}$/;
const LONGEST = 200;

/**
 * Id of a request, for the header `X-Request-Id` and the log: the client's, if it has an accepted form.
 * https://hl7.org/fhir/R5/http.html#custom
 */
export function requestId(req: IncomingMessage): string {
  const sent = req.headers['x-request-id'];
  return isAccepted(sent) ? sent : newId();
}

/**
 * Adds `X-Correlation-Id` to the response where the client sent one, or sent an `X-Request-Id` that `requestId` replaces: its
 * visible ASCII, up to 200 characters. https://hl7.org/fhir/R5/http.html#custom
 */
export function returnCorrelationId({ headers }: IncomingMessage, res: ServerResponse): void {
  const { 'x-correlation-id': correlation, 'x-request-id': request } = headers;
  if (correlation === undefined && (request === undefined || isAccepted(request))) return;
  const cleaned = String(correlation ?? request)
    .replace(/[^\x21-\x7e]/g, '')
    .slice(0, LONGEST);
  if (cleaned !== '') res.setHeader('X-Correlation-Id', cleaned);
}

function isAccepted(id: string | string[] | undefined): id is string {
  return typeof id === 'string' && ACCEPTED.test(id);
}
