import type { JsonObject, JsonValue, Resource } from '../../fhir/resource.js';
import type { FormatName } from '../../format/negotiate.js';
import { readJson } from '../../format/read-json.js';
import { decodeUtf8 } from '../../format/utf8.js';
import { writeJsonBundle } from '../../format/write-bundle.js';
import { writeJson } from '../../format/write-json.js';

/** Writes answers of one form. */
export interface Writer {
  write(resource: Resource | JsonObject, pretty: boolean): string | Promise<string>;
  /** A Bundle that is given without its entries, which come one by one. Absent: it is written as any other resource. */
  writeBundle?(bundle: JsonObject, entries: Iterable<JsonObject>, pretty: boolean): Promise<Iterable<string>>;
}

/** Reads and writes one format. */
export interface Codec extends Writer {
  /** @throws FhirError for what is no resource of that format */
  read(bytes: Buffer): JsonValue | Promise<JsonValue>;
}

/** The formats that a server has; the first is the one for clients that do not care. */
export type Codecs = ReadonlyMap<FormatName, Codec>;

/** JSON, and what else is handed in. `nesting`: greatest depth of a JSON body. */
export function createCodecs(nesting: number, others: Readonly<Partial<Record<FormatName, Codec>>> = {}): Codecs {
  const json: Codec = {
    read: (bytes) => readJson(decodeUtf8(bytes), nesting),
    write: (resource, pretty) => writeJson(resource, pretty ? 2 : 0),
    writeBundle: (bundle, entries) => Promise.resolve(writeJsonBundle(bundle, entries)),
  };
  const codecs = new Map<FormatName, Codec>([['json', json]]);
  if (others.xml !== undefined) codecs.set('xml', others.xml);
  return codecs;
}
