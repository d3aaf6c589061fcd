import type { IncomingMessage, ServerResponse } from 'node:http';

import { varyByOrigin } from './vary.js';

/**
 * Sets the headers that tell browsers which pages of other origins may call. They never allow credentials of the browser:
 * tokens come in headers.
 *
 * @param url of the request: its path, and the query
 * @returns whether the request was a preflight, and is answered
 */
export type Cors = (req: IncomingMessage, res: ServerResponse, url: string) => boolean;

/** Documents that everybody may read, and that are answered with these headers where they are made. */
const SELF_SAID = /^\/(?:fhir\/)?\.well-known\/|^\/auth\/jwks\.json(?:\?|$)/;

/** Headers of answers that say something to clients. Pages see the other ones only where browsers show them unasked. */
const EXPOSED = [
  'Accept-Encoding',
  'Accept-Patch',
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Location',
  'Content-Range',
  'Date',
  'ETag',
  'Expires',
  'Last-Modified',
  'Link',
  'Location',
  'Preference-Applied',
  'Retry-After',
  'Warning',
  'WWW-Authenticate',
  'X-Correlation-Id',
  'X-Progress',
  'X-Request-Id',
  'X-Security-Context',
].join(', ');
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const HEADERS = [
  'Accept',
  'Authorization',
  'Content-Encoding',
  'Content-Type',
  'If-Match',
  'If-Modified-Since',
  'If-None-Exist',
  'If-None-Match',
  'If-Unmodified-Since',
  'Prefer',
  'Range',
  'X-Correlation-Id',
  'X-Provenance',
  'X-Request-Id',
  'X-Security-Context',
].join(', ');

/** How long a browser may keep the answer to a preflight, in seconds. */
const MAX_AGE = '600';

/**
 * CORS: `/metadata` for every page, all else for those of some origins. https://fetch.spec.whatwg.org/#http-cors-protocol
 *
 * @param origins as browsers send them: `https://app.example`
 * @param fhirPath where FHIR is in the URLs of requests
 */
export function createCors(origins: readonly string[], fhirPath: string): Cors {
  const allowed = new Set(origins);
  const open = new RegExp(`^${fhirPath}/metadata/?(?:\\?|$)`);
  return (req, res, url) => {
    const isOpen = open.test(url);
    if (!isOpen && (allowed.size === 0 || SELF_SAID.test(url))) return false;
    const { origin, 'access-control-request-method': wanted } = req.headers;
    if (!isOpen) varyByOrigin(res);
    if (!isOpen && (origin === undefined || !allowed.has(origin))) return false;
    res.setHeader('Access-Control-Allow-Origin', isOpen ? '*' : origin!);
    if (req.method !== 'OPTIONS' || origin === undefined || wanted === undefined) {
      res.setHeader('Access-Control-Expose-Headers', EXPOSED);
      return false;
    }
    res.setHeader('Access-Control-Allow-Methods', isOpen ? 'GET, HEAD' : METHODS);
    res.setHeader('Access-Control-Allow-Headers', HEADERS);
    res.setHeader('Access-Control-Max-Age', MAX_AGE);
    res.writeHead(204).end();
    return true;
  };
}
