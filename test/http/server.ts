import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll } from 'vitest';

import { addOwn, OWN } from '../toy/own.js';
import { createApp, FHIR_PATH, type AppOptions } from '../../runtime/http/app.js';
import { listen, type Listening } from '../../runtime/http/listen.js';
import { SILENT, type Log } from '../../runtime/observe/log.js';
import { toyExtract } from '../toy/extract.js';
import { createToyStore, type ToyStore } from '../toy/store.js';
import { toyTables } from '../toy/tables.js';

/** An answer, whole. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
  /** The body as JSON; throws where it is none. */
  json(): any; // eslint-disable-line @typescript-eslint/no-explicit-any
}

export interface ToyServer {
  /** Root URL. */
  readonly url: string;
  /** What was logged as a defect since the start. */
  readonly defects: unknown[];
  readonly store: ToyStore;
  readonly port: number;
  /** Sends a request to a path below `/fhir`; a body that is no string or Buffer goes as JSON. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a request to any path of the server. */
  raw(method: string, path: string, body?: string | Buffer, headers?: Record<string, string>): Promise<Answer>;
}

export const FHIR_JSON = 'application/fhir+json';

/** A toy server for the tests of one file, started before and stopped after them. */
export function useToyServer(options: Partial<AppOptions> = {}): ToyServer {
  let listening: Listening;
  const defects: unknown[] = [];
  const log: Log = { ...SILENT, defect: (_id, error) => defects.push(error) };
  const store = createToyStore();
  beforeAll(async () => {
    const app = createApp({ tables: toyTables, store, extract: toyExtract, log, own: OWN, ...options });
    listening = await listen(app, '127.0.0.1', 0, options.limits);
    addOwn(`${listening.url}${options.mountPath ?? FHIR_PATH}`);
  });
  afterAll(() => listening.close(1000));
  return {
    get url() {
      return listening.url;
    },
    get port() {
      return listening.port;
    },
    store,
    defects,
    raw: (method, path, body, headers) => exchange(listening.port, method, path, body, headers),
    send(method, path, body, headers = {}) {
      const payload =
        body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      const type: Record<string, string> = payload === undefined ? {} : { 'content-type': FHIR_JSON };
      return exchange(listening.port, method, `/fhir${path}`, payload, { ...type, ...headers });
    },
  };
}

/** Node's own client, because fetch hides what is needed here: raw paths, Host headers, bodies of any method. */
function exchange(
  port: number,
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const isSized = body !== undefined && headers['transfer-encoding'] === undefined;
    const length = isSized ? { 'content-length': Buffer.byteLength(body) } : {};
    const req = httpRequest({ host: '127.0.0.1', port, method, path, headers: { ...length, ...headers } }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const text = bytes.toString();
        resolve({ bytes, status: res.statusCode ?? 0, headers: res.headers, text, json: () => JSON.parse(text) });
      });
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** Our stable code in an OperationOutcome. */
export function codeOf(answer: Answer): string {
  const outcome = answer.json();
  if (outcome.resourceType !== 'OperationOutcome') throw new Error(`no OperationOutcome: ${answer.text}`);
  return outcome.issue[0].details.coding[0].code;
}
