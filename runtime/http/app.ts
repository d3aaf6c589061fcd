import type { IncomingMessage, RequestListener } from 'node:http';

import express, { type ErrorRequestHandler, type Express } from 'express';

import { FhirError } from '../fhir/errors.js';
import { createFhirServer, type KilnOptions } from './kiln.js';
import { requestId } from './request-id.js';
import { PLAIN, sendError } from './respond.js';

/** Where FHIR is, under the root of the server. */
export const FHIR_PATH = '/fhir';

/**
 * Everything that the server answers: FHIR under `/fhir`, which never passes through Express (it costs more than most
 * reads), and Express for the rest, where there is nothing yet, which it says as FHIR does.
 */
export function createApp(options: KilnOptions): RequestListener {
  const serveFhir = createFhirServer(options);
  const rest = createRest(options);
  return (req, res) => {
    const url = takeAbsolute(req);
    if (isFhir(url)) {
      const path = url.slice(FHIR_PATH.length);
      void serveFhir(req, res, path.startsWith('/') ? path : `/${path}`, FHIR_PATH);
    } else rest(req, res);
  };
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** The path of a request, which may come with scheme and host; these then count, not `Host`. RFC 9112, 3.2.2 */
function takeAbsolute(req: IncomingMessage): string {
  const { url = '/' } = req;
  const [start, host] = ABSOLUTE.exec(url) ?? [];
  if (start === undefined || host === undefined) return url;
  req.headers.host = host;
  const path = url.slice(start.length);
  req.url = path.startsWith('/') ? path : `/${path}`;
  return req.url;
}

/** Whether a URL is `/fhir`, or below it. */
function isFhir(url: string): boolean {
  if (!url.startsWith(FHIR_PATH)) return false;
  const next = url.charAt(FHIR_PATH.length);
  return next === '/' || next === '?' || next === '';
}

function createRest({ log }: KilnOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
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
