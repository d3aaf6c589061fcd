import type { ServerResponse } from 'node:http';

import type { FhirError } from '../fhir/errors.js';
import { formatHttpDate } from '../fhir/instant.js';
import { errorOutcome } from '../fhir/operation-outcome.js';
import { JSON_TYPE } from '../format/negotiate.js';
import { readJson } from '../format/read-json.js';
import { writeJson } from '../format/write-json.js';
import type { Reply } from '../interactions/call.js';

const CONTENT_TYPE = `${JSON_TYPE}; charset=utf-8`;

/** How an answer is to look. */
export interface Presentation {
  /** `_pretty`: indented. */
  readonly pretty: boolean;
  /** Absolute URL of the FHIR base, without a trailing slash. */
  readonly base: string;
}

/** Sends the reply of an interaction. An answer to HEAD loses its body in Node. */
export function sendReply(res: ServerResponse, reply: Reply, { pretty, base }: Presentation): void {
  if (reply.versionId !== undefined) res.setHeader('ETag', `W/"${reply.versionId}"`);
  if (reply.lastUpdated !== undefined) res.setHeader('Last-Modified', formatHttpDate(reply.lastUpdated));
  if (reply.location !== undefined) res.setHeader('Location', `${base}/${reply.location}`);
  res.statusCode = reply.status;
  if (reply.json !== undefined) sendJson(res, pretty ? writeJson(readJson(reply.json), 2) : reply.json);
  else if (reply.resource !== undefined) sendJson(res, writeJson(reply.resource, pretty ? 2 : 0));
  else {
    if (reply.status !== 304) res.setHeader('Content-Length', 0);
    res.end();
  }
}

/** Sends an expected failure as an OperationOutcome, unless the client has gone or an answer has begun. */
export function sendError(res: ServerResponse, error: FhirError, pretty = false): void {
  if (res.headersSent || res.destroyed) return;
  res.statusCode = error.status;
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  sendJson(res, writeJson(errorOutcome(error), pretty ? 2 : 0));
}

function sendJson(res: ServerResponse, text: string): void {
  const bytes = Buffer.from(text);
  res.setHeader('Content-Type', CONTENT_TYPE);
  res.setHeader('Content-Length', bytes.length);
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.end(bytes);
}
