import type { RequestHandler } from 'express';

import { wantsPage } from '../format/negotiate.js';
import type { Log } from '../observe/log.js';
import type { Pages } from './pages.js';
import { requestId } from './request/request-id.js';
import { sendPage } from './send-page.js';

/** Facts about a server that the landing page shows, and the paths of the page. */
export interface LandingFacts {
  /** URL of the FHIR base, or its path. */
  readonly base: string;
  /** Of the root and the base. */
  readonly paths: readonly string[];
}

/**
 * The page that a browser gets at the root of the server and at the FHIR base. A client that does not ask for HTML gets nothing at
 * the root, and a search at the base.
 */
export function createLanding({ base, paths }: LandingFacts, pages: Pages, log: Log): RequestHandler {
  return (req, res, next) => {
    const { method, url } = req;
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead || !paths.includes(url) || !wantsPage(req.headers.accept)) return next();
    const start = performance.now();
    const id = requestId(req);
    pages
      .landing(base)
      .then((page) => {
        sendPage(res, id, page, ['Cache-Control', 'no-cache', 'Vary', 'Accept']);
        log.request({ requestId: id, method, route: '/', status: 200, duration: performance.now() - start });
      })
      .catch(next);
  };
}
