import express, { type ErrorRequestHandler, type Express } from 'express';

import { FhirError } from '../fhir/errors.js';
import { kiln, type KilnOptions } from './kiln.js';
import { requestId } from './request-id.js';
import { sendError } from './respond.js';

/** Where FHIR is, under the root of the server. */
export const FHIR_PATH = '/fhir';

/** The Express application: FHIR under `/fhir`; everything else does not exist, and says so as FHIR does. */
export function createApp(options: KilnOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(FHIR_PATH, kiln(options));
  app.use((req, res) => {
    res.setHeader('X-Request-Id', requestId(req));
    sendError(res, new FhirError('unknown-path', `There is nothing here; FHIR is served under ${FHIR_PATH}`));
  });
  const onError: ErrorRequestHandler = (error: unknown, req, res, _next) => {
    const id = requestId(req);
    res.setHeader('X-Request-Id', id);
    options.log?.defect(id, error);
    sendError(res, new FhirError('internal'));
  };
  app.use(onError);
  return app;
}
