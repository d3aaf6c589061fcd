import type { IncomingMessage, ServerResponse } from 'node:http';

import { Router } from 'express';

import { answerOpen, type OpenDocument } from '../auth/discovery/documents.js';
import { ExchangeError } from '../auth/jwks/exchange.js';
import { MAX_FORM, type OAuthEndpoint, type OAuthReply } from '../auth/server/messages.js';
import { jsonReply } from '../auth/server/refusals.js';
import { FhirError } from '../fhir/errors.js';
import type { Log } from '../observe/log.js';
import { headerValues } from './request/header-values.js';
import { drain, hasBody, openBody } from './request/read-body.js';
import { requestId } from './request/request-id.js';

/** Endpoints and documents beside FHIR, by path from the root of the server. */
export interface AuthRoutes {
  /** Of the authorization server. */
  readonly endpoints: ReadonlyMap<string, OAuthEndpoint>;
  /** Documents that everybody may read, as they are now. */
  readonly documents: ReadonlyMap<string, () => OpenDocument | Promise<OpenDocument>>;
}

/** Parts that requests to `AuthRoutes` are answered with. */
export interface AuthRouteNeeds {
  readonly log: Log;
  /** Time between two pieces of a body, in milliseconds. */
  readonly bodyIdleTime: number;
  /** Address of the client. */
  readonly addressOf: (req: IncomingMessage) => string;
}

/** Puts HTTP around the authorization server and its documents. Every answer is JSON, or empty. */
export function authRouter({ endpoints, documents }: AuthRoutes, needs: AuthRouteNeeds): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, endpoint] of endpoints) {
    router.all(literal(path), (req, res) => {
      const mark = req.url.indexOf('?');
      const query = mark < 0 ? '' : req.url.slice(mark + 1);
      void answer(req, res, path, needs, (id) => ask(endpoint, req, res, { query, requestId: id }, needs));
    });
  }
  for (const [path, document] of documents) {
    router.all(literal(path), (req, res) => {
      void answer(req, res, path, needs, async () => {
        // What needs no document is not to fail for want of it.
        const isRead = req.method === 'GET' || req.method === 'HEAD';
        // An answer to HEAD loses its body in Node, and keeps its length.
        return isRead ? answerOpen('GET', await document()) : answerOpen(req.method, NOTHING);
      });
    });
  }
  return router;
}

/** A path as a pattern of Express: an issuer may have characters in it that mean something there. */
function literal(path: string): string {
  return path.replace(/[(){}[\]?+!*:\\]/g, '\\$&');
}

const NOTHING: OpenDocument = { status: 200, headers: {}, body: '' };

/** Bytes of a body that is not wanted which are let pass, so that its client gets to see why. */
const LET_PASS = 1024 * 1024;

async function answer(
  req: IncomingMessage,
  res: ServerResponse,
  route: string,
  { log }: AuthRouteNeeds,
  make: (id: string) => Promise<OAuthReply>,
): Promise<void> {
  const start = performance.now();
  const id = requestId(req);
  const { status, headers, body } = await make(id).catch((error: unknown) => failure(error, id, log));
  if (!res.destroyed) {
    const length = status === 204 ? {} : { 'Content-Length': Buffer.byteLength(body) };
    res.writeHead(status, { ...headers, ...length, 'X-Request-Id': id, 'X-Content-Type-Options': 'nosniff' });
    res.end(body);
  }
  log.request({ requestId: id, method: req.method ?? 'GET', route, status, duration: performance.now() - start });
  if (!req.complete && hasBody(req)) drain(req, LET_PASS);
}

async function ask(
  endpoint: OAuthEndpoint,
  req: IncomingMessage,
  res: ServerResponse,
  own: { readonly query: string; readonly requestId: string },
  needs: AuthRouteNeeds,
): Promise<OAuthReply> {
  const { method = 'GET', headers } = req;
  if (method === 'OPTIONS') return { status: 204, headers: { Allow: 'OPTIONS, POST' }, body: '' };
  // Node keeps but the first of several.
  const sent = headerValues(req, 'authorization');
  return await endpoint({
    method,
    contentType: headers['content-type'],
    ...own,
    headers: { authorization: sent.length > 1 ? sent : sent[0] },
    body: method === 'POST' ? await readText(req, res, needs) : '',
    address: needs.addressOf(req),
  });
}

/** @throws FhirError for a body that does not come, or not as one */
async function readText(req: IncomingMessage, res: ServerResponse, { bodyIdleTime }: AuthRouteNeeds): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of openBody(req, res, { body: MAX_FORM, bodyIdleTime })) chunks.push(chunk);
  } catch (error) {
    // The endpoint refuses that, in its order.
    if (error instanceof FhirError && error.code === 'body-too-large') return ' '.repeat(MAX_FORM + 1);
    throw error;
  }
  return Buffer.concat(chunks).toString('utf8');
}

const RETRY = { 'Retry-After': '2' };

function failure(error: unknown, id: string, log: Log): OAuthReply {
  if (error instanceof ExchangeError) {
    log.info(`the external authorization server ${error.message}`);
    return tell(503, 'temporarily_unavailable', 'The authorization server cannot be asked now', RETRY);
  }
  if (error instanceof FhirError && error.status < 500) {
    return tell(error.status, 'invalid_request', 'The body cannot be read', error.headers);
  }
  if (error instanceof FhirError) {
    return tell(503, 'temporarily_unavailable', 'The server cannot answer now; try again later', RETRY);
  }
  log.defect(id, error);
  return tell(500, 'server_error', 'An internal error', {});
}

function tell(status: number, error: string, text: string, headers: Readonly<Record<string, string>>): OAuthReply {
  return jsonReply(status, { error, error_description: text }, headers);
}
