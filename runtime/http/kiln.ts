import type { IncomingMessage, ServerResponse } from 'node:http';

import { FhirError } from '../fhir/errors.js';
import type { JsonValue } from '../fhir/resource.js';
import { checkAccept, checkContentType } from '../format/negotiate.js';
import { readJson } from '../format/read-json.js';
import { decodeUtf8 } from '../format/utf8.js';
import type { Call } from '../interactions/call.js';
import { INTERACTIONS } from '../interactions/registry.js';
import type { Services } from '../interactions/services.js';
import { SILENT, type Log } from '../observe/log.js';
import { readConditions, readPreferences } from './headers.js';
import { guardOpenMode } from './open-mode.js';
import { readBody } from './read-body.js';
import { requestId } from './request-id.js';
import { sendError, sendReply } from './respond.js';
import { checkUrlId, createRouter, type Destination, type Router } from './router.js';

/** What a FHIR handler is made of. */
export interface KilnOptions {
  readonly tables: Services['tables'];
  readonly store: Services['store'];
  readonly extract: Services['extract'];
  /** Absolute URL of the FHIR base; absent: taken from each request's `Host`. */
  readonly baseUrl?: string;
  readonly log?: Log;
}

/** A request handler for Node's http server, and for Express: `app.use('/fhir', kiln(options))`. */
export type FhirHandler = (req: IncomingMessage, res: ServerResponse) => void;

/** Greatest length of a URL, in characters. */
const MAX_URL = 8192;

/**
 * The FHIR interface as one handler: guard, one Map lookup, the interaction, the answer.
 * https://hl7.org/fhir/R5/http.html
 *
 * Until authorization exists it serves this machine only (`guardOpenMode`).
 */
export function kiln(options: KilnOptions): FhirHandler {
  const { tables, log = SILENT } = options;
  const services: Services = {
    tables,
    store: options.store,
    extract: options.extract,
    wired: new Set(INTERACTIONS.keys()),
    ...(options.baseUrl === undefined ? {} : { baseUrl: options.baseUrl }),
  };
  const router = createRouter(tables.routes, tables.resourceTypes, services.wired);
  return (req, res) => {
    void handle(req, res, { services, router, log });
  };
}

interface Context {
  readonly services: Services;
  readonly router: Router;
  readonly log: Log;
}

async function handle(req: IncomingMessage, res: ServerResponse, { services, router, log }: Context): Promise<void> {
  const start = performance.now();
  const id = requestId(req);
  const method = req.method ?? 'GET';
  res.setHeader('X-Request-Id', id);
  let destination: Destination | undefined;
  let params = new URLSearchParams();
  const isPretty = (): boolean => params.has('_pretty') && params.get('_pretty') !== 'false';
  try {
    guardOpenMode(req);
    const [path, query] = splitUrl(req);
    params = new URLSearchParams(query);
    if (method === 'OPTIONS') {
      const allow = router.allowed(path);
      if (allow.length > 0) res.setHeader('Allow', allow.join(', '));
      sendReply(res, { status: 204 }, { pretty: false, base: '' });
    } else {
      destination = router.find(method, path);
      const call = await readCall(req, destination, params);
      const run = INTERACTIONS.get(call.interaction);
      if (run === undefined) throw new Error(`no handler for ${call.interaction}`);
      const reply = await run(call, services);
      sendReply(res, reply, { pretty: isPretty(), base: services.baseUrl ?? requestBase(req) });
    }
  } catch (error) {
    if (!(error instanceof FhirError)) log.defect(id, error);
    else if (error.status >= 500) log.defect(id, error);
    sendError(res, error instanceof FhirError ? error : new FhirError('internal'), isPretty());
  }
  log.request({
    requestId: id,
    method,
    ...(destination === undefined ? {} : { route: destination.row.path, interaction: destination.row.interaction }),
    status: res.statusCode,
    duration: performance.now() - start,
    ...(params.size === 0 ? {} : { params: [...new Set(params.keys())] }),
  });
}

/** Path and query of the URL, relative to the base. */
function splitUrl(req: IncomingMessage): [path: string, query: string] {
  const url = req.url ?? '/';
  const whole = (req as { originalUrl?: string }).originalUrl ?? url;
  if (whole.length > MAX_URL) throw new FhirError('url-too-long', `A URL may have ${MAX_URL} characters`);
  if (!url.startsWith('/')) throw new FhirError('url-invalid');
  const mark = url.indexOf('?');
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}

/** Checked in this order: what the URL names, then the formats, then the body's content. */
async function readCall(req: IncomingMessage, { row, ...at }: Destination, params: URLSearchParams): Promise<Call> {
  const takesBody = row.method === 'POST' || row.method === 'PUT' || row.method === 'PATCH';
  checkAccept(req.headers.accept, params.get('_format') ?? undefined);
  if (takesBody && hasBody(req)) checkContentType(req.headers['content-type']);
  checkUrlId(row.interaction, at.id);
  const body = takesBody && hasBody(req) ? parseBody(await readBody(req)) : undefined;
  return {
    interaction: row.interaction,
    ...at,
    params,
    ...(body === undefined ? {} : { body }),
    conditions: readConditions(req.headers),
    prefer: readPreferences(req.headers),
  };
}

function parseBody(bytes: Buffer): JsonValue | undefined {
  return bytes.length === 0 ? undefined : readJson(decodeUtf8(bytes));
}

function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
}

/** URL of the base as the client sees it: its Host, and the path that Express mounted the handler on. */
function requestBase(req: IncomingMessage): string {
  const scheme = 'encrypted' in req.socket ? 'https' : 'http';
  return `${scheme}://${req.headers.host ?? ''}${(req as { baseUrl?: string }).baseUrl ?? ''}`;
}
