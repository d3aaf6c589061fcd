import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';

import { Router } from 'express';

import { FhirError } from '../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';
import { yieldToEventLoop } from '../fhir/yield-to-event-loop.js';
import { writeJson } from '../format/write-json.js';
import type { DocumentServices, DocumentUrls } from '../openapi/documents.js';
import type { PrimitiveForm } from '../openapi/schemas.js';

/** Where the documents are. */
export const OPENAPI_PATH = '/openapi';

/** Name of the document with all others in it. */
const WHOLE = 'all';
const INDEX = 'index';

/** A document takes longer to make than to send, and is the same until definitions change. It is kept compressed. */
type Made = Map<string, Promise<Buffer>>;

const pack = promisify(gzip);

/**
 * `/openapi/index.json`, `/openapi/[type].json`, `system.json`, `datatypes.json`, and `all.json` with everything; all of them with
 * `?primitives=plain`, too, for generators of clients. They say what `/metadata` says, so everybody may read them.
 *
 * @param servicesNow those in effect
 */
export function openApiRoutes(servicesNow: () => DocumentServices, urls: DocumentUrls): Router {
  const made = new WeakMap<DocumentServices['tables'], Made>();
  const router = Router();
  router.get('/:file', (req, res, next) => {
    const name = /^([A-Za-z]+)\.json$/.exec(req.params.file)?.[1];
    const form = formOf(req.query['primitives']);
    if (form === undefined) {
      const text = `There is no such form; primitives is ${FORMS.join(' or ')}, and without it the document is ${FORMS[0]}`;
      next(new FhirError('unknown-path', text));
      return;
    }
    const services = servicesNow();
    const documents = made.get(services.tables) ?? (new Map() as Made);
    made.set(services.tables, documents);
    const send = async (): Promise<void> => {
      const packed = name === undefined ? undefined : await find({ name, form }, documents, services, urls);
      if (packed === undefined) {
        next(new FhirError('unknown-path', `There is no such document; ${OPENAPI_PATH}/${INDEX}.json lists them`));
        return;
      }
      res.set({ 'Content-Type': 'application/json; charset=utf-8', 'X-Content-Type-Options': 'nosniff' });
      res.set({ 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' });
      if (req.acceptsEncodings('gzip') === 'gzip') res.set('Content-Encoding', 'gzip').end(packed);
      else await pipeline(Readable.from([packed]), createGunzip(), res);
    };
    // A client that leaves before the end is no defect.
    send().catch((error: unknown) => {
      if (!res.destroyed) next(error);
    });
  });
  return router;
}

const FORMS = ['full', 'plain'] as const;

/** The form that a query asks for; undefined: there is no such form. */
function formOf(asked: unknown): PrimitiveForm | undefined {
  return asked === undefined ? FORMS[0] : FORMS.find((each) => each === asked);
}

/** Undefined: there is no such document. */
async function find(
  { name, form }: { readonly name: string; readonly form: PrimitiveForm },
  made: Made,
  services: DocumentServices,
  urls: DocumentUrls,
): Promise<Buffer | undefined> {
  const { documentNames, makeDocument, makeIndex, makePlain, makeWhole } = await import('../openapi/documents.js');
  const key = `${name} ${form}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  if (name !== INDEX && name !== WHOLE && !documentNames(services).includes(name)) return undefined;
  const make = (): JsonObject | Promise<JsonObject> => {
    if (name === INDEX) return makeIndex(services);
    if (name === WHOLE) return makeWhole(services, urls, form);
    return form === 'plain' ? makePlain(name, services, urls) : makeDocument(name, services, urls);
  };
  const packed = Promise.resolve(make()).then(writeInTurns).then(pack);
  made.set(key, packed);
  return packed;
}

/** Objects within each other that are written member by member. */
const PIECES = 3;

/** The JSON text of a document. Others have turns meanwhile. */
async function writeInTurns(document: JsonObject): Promise<string> {
  const yieldIfDue = yieldToEventLoop();
  const write = async (value: JsonValue, depth: number): Promise<string> => {
    await yieldIfDue();
    if (depth === 0 || !isObject(value)) return writeJson(value);
    const members: string[] = [];
    for (const [name, each] of Object.entries(value)) {
      if (each !== undefined) members.push(`${JSON.stringify(name)}:${await write(each, depth - 1)}`);
    }
    return `{${members.join(',')}}`;
  };
  return write(document, PIECES);
}
