import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import express, { type ErrorRequestHandler, type Express } from 'express';

import type { Services } from '../core/services.js';
import { DEFAULT_LIMITS } from '../fhir/limits.js';
import { FhirError } from '../fhir/errors.js';
import { SILENT } from '../observe/log.js';
import { createAuthHandler, type AuthRoutes } from './auth-routes.js';
import { createLanding, type LandingFacts } from './landing.js';
import { createFhirServer, peerAddress, servingOf, type KilnOptions } from './kiln.js';
import { openApiRoutes } from './openapi-routes.js';
import { requestId, returnCorrelationId } from './request/request-id.js';
import { PLAIN, sendError } from './response/respond.js';
import { takeAbsolute } from './transport/base-path.js';
import type { Proxies } from './transport/client-address.js';
import { createCors } from './transport/cors.js';

/** Where FHIR is, under the root of the server. */
export const FHIR_PATH = '/fhir';

/** What the whole is made of, beside what FHIR is. */
export interface AppOptions extends KilnOptions {
  /** Those that may connect; absent: everybody. */
  readonly proxies?: Pick<Proxies, 'isPeer'> | undefined;
  /** Origins whose pages may call: `https://app.example`. */
  readonly corsOrigins?: readonly string[];
  /** What there is beside FHIR for authorization; absent: nothing. */
  readonly auth?: AuthRoutes;
  /** The command that prints a token, where every client is on this machine. */
  readonly tokenCommand?: string | undefined;
  /** Folder of the reference pages; absent: they are not served. */
  readonly docsFolder?: string | undefined;
}

/**
 * Everything that the server answers: FHIR under `/fhir`, which never passes through Express (it costs more than most
 * reads), and Express for the rest: the reference pages, and that there is nothing else, which it says as FHIR does.
 */
export function createApp(options: AppOptions): RequestListener {
  const { proxies, corsOrigins = [] } = options;
  const serving = servingOf(options);
  const serveFhir = createFhirServer(options, serving);
  const rest = createRest(options, () => serving().services);
  const cors = createCors(corsOrigins);
  const auth = authOf(options);
  const landing = createLanding(landingFacts(options), ['/', FHIR_PATH, `${FHIR_PATH}/`], options.log ?? SILENT);
  return (req, res) => {
    const url = takeAbsolute(req);
    returnCorrelationId(req, res);
    if (proxies?.isPeer(req) === false) return refusePeer(req, res, options);
    if (cors(req, res, url)) return;
    if (auth !== undefined && !isData(url) && auth(req, res, url)) return;
    if (landing(req, res, url)) return;
    if (isFhir(url)) {
      const path = url.slice(FHIR_PATH.length);
      void serveFhir(req, res, path.startsWith('/') ? path : `/${path}`, FHIR_PATH);
    } else rest(req, res);
  };
}

function authOf({ auth, log = SILENT, limits = {}, clientAddress }: AppOptions) {
  const { bodyIdleTime = DEFAULT_LIMITS.bodyIdleTime } = limits;
  const addressOf = clientAddress ?? peerAddress;
  return auth === undefined ? undefined : createAuthHandler(auth, { log, bodyIdleTime, addressOf });
}

/** What came over plain http from elsewhere has been seen on the way: nothing else of it counts. */
function refusePeer(req: IncomingMessage, res: ServerResponse, { log }: AppOptions): void {
  const id = requestId(req);
  res.shouldKeepAlive = false;
  void sendError(res, new FhirError('proxy-untrusted'), { ...PLAIN, pretty: false, requestId: id });
  log?.request({ requestId: id, method: req.method ?? 'GET', status: 403, duration: 0, failure: 'proxy-untrusted' });
}

const WELL_KNOWN = `${FHIR_PATH}/.well-known/`;

/** Whether a URL is of FHIR and of no document about the server: most are, so that is seen at once. */
function isData(url: string): boolean {
  return url.startsWith(`${FHIR_PATH}/`) && !url.startsWith(WELL_KNOWN);
}

/** Whether a URL is `/fhir`, or below it. */
function isFhir(url: string): boolean {
  if (!url.startsWith(FHIR_PATH)) return false;
  const next = url.charAt(FHIR_PATH.length);
  return next === '/' || next === '?' || next === '';
}

/** Where the reference pages are, under the root of the server. */
const DOCS_PATH = '/docs';

function landingFacts({ ownBase = FHIR_PATH, docsFolder, gate, tokenCommand }: AppOptions): LandingFacts {
  const root = ownBase.slice(0, -FHIR_PATH.length);
  const docs = docsFolder === undefined ? undefined : `${root}${DOCS_PATH}/index.html`;
  return { base: ownBase, docs, isGuarded: gate !== undefined, tokenCommand };
}

/** Where the OpenAPI documents are, and where tokens are given. */
const OPENAPI_PATH = '/openapi';
const TOKEN_PATH = '/auth/token';

/** What the reference pages need: their style sheet. They have no scripts. */
const DOCS_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function createRest({ log, docsFolder, ownBase = FHIR_PATH, gate }: AppOptions, servicesNow: () => Services): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  if (docsFolder !== undefined) {
    const setHeaders = (res: ServerResponse): void => {
      res.setHeader('Content-Security-Policy', DOCS_POLICY);
      res.setHeader('X-Content-Type-Options', 'nosniff');
    };
    // A redirect would not know the path of the base URL.
    app.use(DOCS_PATH, express.static(docsFolder, { redirect: false, setHeaders }));
  }
  const root = ownBase.slice(0, -FHIR_PATH.length);
  const urls = { base: ownBase, ...(gate !== undefined && { token: `${root}${TOKEN_PATH}` }) };
  app.use(OPENAPI_PATH, openApiRoutes(servicesNow, urls));
  app.use((req, res) => {
    const error = new FhirError('unknown-path', `There is nothing here; FHIR is served under ${FHIR_PATH}`);
    void sendError(res, error, { ...PLAIN, pretty: false, requestId: requestId(req) });
  });
  const onError: ErrorRequestHandler = (error: unknown, req, res, _next) => {
    const id = requestId(req);
    log?.defect(id, error);
    void sendError(res, new FhirError('internal'), { ...PLAIN, pretty: false, requestId: id });
  };
  app.use(onError);
  return app;
}
