import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import express, { type ErrorRequestHandler, type Express } from 'express';

import type { Services } from '../core/services.js';
import { DEFAULT_LIMITS } from '../fhir/limits.js';
import { FhirError } from '../fhir/errors.js';
import { wantsPage } from '../format/negotiate.js';
import { SILENT } from '../observe/log.js';
import { ASSETS_FOLDER } from '../pages/assets.js';
import { GRAPHQL, SQL_RUN, UI_PATH, type Site } from '../pages/site.js';
import { authRouter, type AuthRoutes } from './auth-routes.js';
import { createLanding } from './landing.js';
import { createFhirServer, peerAddress, servingOf, type KilnOptions } from './kiln.js';
import { OPENAPI_PATH, openApiRoutes } from './openapi-routes.js';
import { createPages } from './pages.js';
import { requestId, returnCorrelationId } from './request/request-id.js';
import { HTML_FORM, PLAIN, sendError } from './response/respond.js';
import { takeAbsolute } from './transport/base-path.js';
import type { Proxies } from './transport/client-address.js';
import { createCors } from './transport/cors.js';
import { uiRoutes, type UiNeeds } from './ui-routes.js';

/** Where FHIR is, under the root of the server. */
export const FHIR_PATH = '/fhir';

/** Options of the whole application: those of the FHIR handler, and those of everything beside FHIR. */
export interface AppOptions extends KilnOptions {
  /** Those that may connect; absent: everybody. */
  readonly proxies?: Pick<Proxies, 'isPeer'> | undefined;
  /** Origins whose pages may call: `https://app.example`. */
  readonly corsOrigins?: readonly string[];
  /** What there is beside FHIR for authorization; absent: nothing. */
  readonly auth?: AuthRoutes;
  /** The command that prints a token, where every client is on this machine. */
  readonly tokenCommand?: string | undefined;
  /** Whether pages may keep the token for as long as their tab is open, where they are opened on this machine. */
  readonly keepsToken?: boolean;
  /** Folder of the reference pages; absent: they are not served. */
  readonly docsFolder?: string | undefined;
  /**
   * The path in another application that this one is mounted on, as clients see it. Its requests come without that path: FHIR is at
   * their root, and everything else below it. Absent: FHIR is at `/fhir`.
   */
  readonly mountPath?: string | undefined;
}

/**
 * Everything that the server answers. Requests for FHIR data go past Express, which costs more than most reads do; the checks that
 * hold for all requests come before both. Express has the rest: the authorization server, discovery, OpenAPI, the landing and
 * reference pages. docs/decisions/0007-express-beside-fhir.md
 */
export function createApp(options: AppOptions): RequestListener {
  const { proxies, corsOrigins = [], mountPath } = options;
  const path = mountPath === undefined ? FHIR_PATH : '';
  const serving = servingOf(options);
  const servicesNow = (): Services => serving().services;
  const site = siteOf(options, path, servicesNow);
  const pages = createPages(site);
  const serve = createFhirServer(options, pages, serving);
  const serveFhir = (req: IncomingMessage, res: ServerResponse, url: string): void => {
    const below = url.slice(path.length);
    void serve(req, res, below.startsWith('/') ? below : `/${below}`, mountPath ?? FHIR_PATH);
  };
  const rest = createRest(options, path, { site, pages, servicesNow }, serveFhir);
  const cors = createCors(corsOrigins, path);
  const isData = dataPath(path);
  return (req, res) => {
    const url = takeAbsolute(req);
    returnCorrelationId(req, res);
    if (proxies?.isPeer(req) === false) return refusePeer(req, res, options);
    if (cors(req, res, url)) return;
    if (isData(url, req.method)) serveFhir(req, res, url);
    else rest(req, res);
  };
}

/** What came over plain http from elsewhere has been seen on the way: nothing else of it counts. */
function refusePeer(req: IncomingMessage, res: ServerResponse, { log }: AppOptions): void {
  const id = requestId(req);
  res.shouldKeepAlive = false;
  void sendError(res, new FhirError('proxy-untrusted'), { ...PLAIN, pretty: false, requestId: id });
  log?.request({ requestId: id, method: req.method ?? 'GET', status: 403, duration: 0, failure: 'proxy-untrusted' });
}

/** Where there is something else below the FHIR base: nothing else of FHIR begins so. */
const BESIDE = /^\/(?:auth|docs|openapi|ui|\.well-known)(?:[/?]|$)/;
const BESIDE_FHIR = new RegExp(`^${FHIR_PATH}/\\.well-known/`);

/** Makes the look whether a request is for FHIR and nothing else. A browser may mean the landing page when it opens the base. */
function dataPath(path: string): (url: string, method: string | undefined) => boolean {
  const beside = path === '' ? BESIDE : BESIDE_FHIR;
  return (url, method) => {
    if (!isBelow(url, path) || beside.test(url)) return false;
    return url.length > path.length + 1 || (method !== 'GET' && method !== 'HEAD');
  };
}

/** Whether a URL is that of a path, or below it. */
function isBelow(url: string, path: string): boolean {
  if (!url.startsWith(path)) return false;
  const next = url.charAt(path.length);
  return next === '/' || next === '?' || next === '';
}

/** Where the reference pages are, under the root of the server. */
const DOCS_PATH = '/docs';

/** Where tokens are given. */
const TOKEN_PATH = '/auth/token';

/** What all pages have in common; their tables are those in effect. @param fhirPath of FHIR, under the root */
function siteOf(options: AppOptions, fhirPath: string, servicesNow: () => Services): Site {
  const { docsFolder, gate, codecs, keepsToken = false, tokenCommand } = options;
  const xml = codecs?.xml;
  return {
    get tables() {
      return servicesNow().tables;
    },
    fhirPath,
    isGuarded: gate !== undefined,
    keepsToken,
    tokenCommand,
    hasDocs: docsFolder !== undefined,
    get hasGraphql() {
      return servicesNow().operations.has(GRAPHQL);
    },
    get hasViews() {
      return servicesNow().operations.has(SQL_RUN);
    },
    writeXml: xml === undefined ? undefined : (resource) => xml.write(resource, true),
  };
}

/** What the reference pages need: their style sheet. They have no scripts. */
const DOCS_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** @param serveFhir answers what turns out to be for FHIR after all */
function createRest(
  options: AppOptions,
  path: string,
  parts: Pick<UiNeeds, 'site' | 'pages' | 'servicesNow'>,
  serveFhir: (req: IncomingMessage, res: ServerResponse, url: string) => void,
): Express {
  const { auth, log = SILENT, docsFolder, ownBase = FHIR_PATH, gate, rate, limits = {} } = options;
  const { clientAddress: addressOf = peerAddress } = options;
  const { bodyIdleTime = DEFAULT_LIMITS.bodyIdleTime } = limits;
  const root = ownBase.slice(0, ownBase.length - path.length);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  if (auth !== undefined) app.use(authRouter(auth, { log, bodyIdleTime, addressOf }));
  const paths = path === '' ? ['/'] : ['/', path, `${path}/`];
  app.use(createLanding({ base: ownBase, paths }, parts.pages, log));
  if (docsFolder !== undefined) {
    const setDocsHeaders = (res: ServerResponse): void => {
      res.setHeader('Content-Security-Policy', DOCS_POLICY);
      res.setHeader('X-Content-Type-Options', 'nosniff');
    };
    // A relative redirect of our own: that of static files would not know the path of the base URL.
    app.get(DOCS_PATH, (req, res, next) => (req.path === DOCS_PATH ? res.redirect(301, 'docs/') : next()));
    app.use(DOCS_PATH, express.static(docsFolder, { redirect: false, setHeaders: setDocsHeaders }));
  }
  const urls = { base: ownBase, ...(gate !== undefined && { token: `${root}${TOKEN_PATH}` }) };
  app.use(OPENAPI_PATH, openApiRoutes(parts.servicesNow, urls));
  const setHeaders = (res: ServerResponse): void => void res.setHeader('X-Content-Type-Options', 'nosniff');
  // The address of an asset changes with its content.
  const lasting = { immutable: true, maxAge: '1y', index: false, redirect: false, setHeaders } as const;
  app.use(`${UI_PATH}/assets`, express.static(ASSETS_FOLDER, lasting));
  app.use(UI_PATH, uiRoutes({ ...parts, base: ownBase, gate, rate, addressOf, urls, log }));
  app.use((req, res, next) => {
    if (isBelow(req.url, path)) return serveFhir(req, res, req.url);
    const error = new FhirError('unknown-path', `There is nothing here; FHIR is served under ${FHIR_PATH}`);
    const look = { ...PLAIN, pretty: false, requestId: requestId(req) };
    if (!wantsPage(req.headers.accept)) {
      void sendError(res, error, look);
      return;
    }
    const { method, url } = req;
    parts.pages
      .open({ base: ownBase, method, url, view: 'json' })
      .then((page) => sendError(res, error, { ...look, ...HTML_FORM, page }))
      .catch(next);
  });
  const onError: ErrorRequestHandler = (error: unknown, req, res, _next) => {
    const look = { ...PLAIN, pretty: false, requestId: requestId(req) };
    // Thrown for a part of the path that cannot be decoded.
    if (error instanceof URIError) {
      void sendError(res, new FhirError('url-invalid', 'The URL has a wrong percent-encoding'), look);
      return;
    }
    if (error instanceof FhirError) {
      void sendError(res, error, look);
      return;
    }
    log.defect(look.requestId, error);
    void sendError(res, new FhirError('internal'), look);
  };
  app.use(onError);
  return app;
}
