import { yieldToEventLoop } from '../../../fhir/yield-to-event-loop.js';
import type { StoredVersion } from '../../store.js';
import { fieldsOf, readValue, type Field, type Raw } from './bson.js';
import type { NumberText } from './documents.js';
import { printJson } from './print-json.js';

/** Asks for a version without its index entries. */
export const VERSION_ONLY = {
  token: 0,
  string: 0,
  date: 0,
  number: 0,
  reference: 0,
  uri: 0,
  words: 0,
  covered: 0,
} as const;

const { reference: _reference, ...withoutReferences } = VERSION_ONLY;

/** Projection of a version with its reference entries, which are read where references are to be followed. */
export const VERSION_AND_REFERENCES = withoutReferences;

/** The head of a version, read from its bytes. */
export interface Head {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly updated: number;
  readonly n: number;
}

type Fields = ReadonlyMap<string, Field>;

/** Reads what a document says of its version, and where its fields are. */
export function readHead(bytes: Raw): Head & { readonly fields: Fields } {
  const fields = fieldsOf(bytes);
  const read = (name: string): unknown => {
    const field = fields.get(name);
    if (field === undefined) throw new Error(`a document has no "${name}"; was it edited by hand?`);
    return readValue(bytes, field);
  };
  return {
    fields,
    type: read('type') as string,
    id: read('id') as string,
    version: Number(read('version')),
    updated: (read('updated') as Date).getTime(),
    n: Number(read('n')),
  };
}

/** The versions that many documents hold; others have their turn meanwhile. */
export async function toStoredVersions(documents: readonly Raw[]): Promise<StoredVersion[]> {
  const pace = yieldToEventLoop();
  const versions: StoredVersion[] = [];
  for (const bytes of documents) {
    versions.push(toStoredVersion(bytes));
    await pace();
  }
  return versions;
}

/** The version that a document holds. */
export function toStoredVersion(bytes: Raw): StoredVersion {
  const { fields, type, id, version, updated: lastUpdated } = readHead(bytes);
  const amended = amendmentsOf(bytes, fields);
  const stored = { type, id, version, lastUpdated, ...(amended > 0 && { amended }) };
  const resource = fields.get('resource');
  if (resource === undefined) return stored;
  const numbers = fields.get('numbers');
  const notes = numbers === undefined ? [] : (readValue(bytes, numbers) as NumberText[]);
  return { ...stored, json: printJson(bytes, resource.at, notes) };
}

/** How often the content of a document was replaced in place. */
export function amendmentsOf(bytes: Raw, fields: Fields): number {
  const amended = fields.get('amended');
  return amended === undefined ? 0 : Number(readValue(bytes, amended));
}
