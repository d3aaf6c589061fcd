import { gunzip, gzip } from 'node:zlib';
import { promisify } from 'node:util';

import { Router } from 'express';

import type { JsonObject } from '../fhir/resource.js';
import { writeJson } from '../format/write-json.js';
import type { DocumentServices, DocumentUrls } from '../openapi/documents.js';

/** Name of the document with all others in it. */
const WHOLE = 'all';
const INDEX = 'index';

/** A document takes longer to make than to send, and is the same until definitions change. It is kept compressed. */
type Made = Map<string, Promise<Buffer>>;

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/**
 * `/openapi/index.json`, `/openapi/[type].json`, `system.json`, `datatypes.json`, and `all.json` with everything. They say what
 * `/metadata` says, so everybody may read them.
 *
 * @param servicesNow those in effect
 */
export function openApiRoutes(servicesNow: () => DocumentServices, urls: DocumentUrls): Router {
  const made = new WeakMap<DocumentServices['tables'], Made>();
  const router = Router();
  router.get('/:file', (req, res, next) => {
    const name = /^([A-Za-z]+)\.json$/.exec(req.params.file)?.[1];
    const services = servicesNow();
    const documents = made.get(services.tables) ?? (new Map() as Made);
    made.set(services.tables, documents);
    const send = async (): Promise<void> => {
      const packed = name === undefined ? undefined : await find(name, documents, services, urls);
      if (packed === undefined) {
        next();
        return;
      }
      res.set({ 'Content-Type': 'application/json; charset=utf-8', 'X-Content-Type-Options': 'nosniff' });
      res.set({ 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' });
      if (req.acceptsEncodings('gzip') === 'gzip') res.set('Content-Encoding', 'gzip').end(packed);
      else res.end(await unpack(packed));
    };
    send().catch(next);
  });
  return router;
}

/** Undefined: there is no such document. */
async function find(
  name: string,
  made: Made,
  services: DocumentServices,
  urls: DocumentUrls,
): Promise<Buffer | undefined> {
  const { documentNames, makeDocument, makeIndex, makeWhole } = await import('../openapi/documents.js');
  const known = made.get(name);
  if (known !== undefined) return known;
  if (name !== INDEX && name !== WHOLE && !documentNames(services).includes(name)) return undefined;
  const make = (): JsonObject => {
    if (name === INDEX) return makeIndex(services);
    return name === WHOLE ? makeWhole(services, urls) : makeDocument(name, services, urls);
  };
  const packed = pack(writeJson(make()));
  made.set(name, packed);
  return packed;
}
