import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, objectsOf, type JsonValue } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import type { ImportFile } from '../import/import-input.js';
import { quote } from '../../fhir/quote.js';

/** Greatest size of a manifest, in bytes. */
const MAX_SIZE = 16 * 1024 * 1024;

/** Greatest depth of a manifest. */
const MAX_DEPTH = 32;

/** Characters of an address, at most: the job keeps those of all files. */
const MAX_URL = 8192;

/** Parts of a manifest that a submission uses. */
export interface ReadManifest {
  readonly files: readonly ImportFile[];
  /** Address of the one that follows. */
  readonly next?: string;
  /** What of it is not taken in, and why. */
  readonly faults: readonly string[];
}

/**
 * Fetches a manifest, and reads it. https://build.fhir.org/ig/HL7/bulk-data/submit.html#manifest
 *
 * @param types the types that may be taken in
 * @throws FhirError where it is none, or not on a server that the configuration allows
 */
export async function readManifest(
  url: string,
  types: readonly string[],
  { fetchFile }: Pick<Services, 'fetchFile'>,
  signal: AbortSignal,
): Promise<ReadManifest> {
  if (fetchFile === undefined) throw wrong('The configuration allows no server any more');
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of await fetchFile(url, signal)) {
    size += piece.length;
    if (size > MAX_SIZE) throw wrong(`The manifest has more than ${MAX_SIZE} bytes`);
    pieces.push(Uint8Array.from(piece));
  }
  const manifest = parse(Buffer.concat(pieces).toString('utf8'));
  if (!isObject(manifest)) throw wrong('The manifest is no JSON object');
  if (manifest['outputOrganizedBy'] !== undefined) {
    throw wrong('Files that are organized by instances (outputOrganizedBy) are not taken in; send files by type');
  }
  const files: ImportFile[] = [];
  const faults: string[] = [];
  for (const { type, url: file } of objectsOf(manifest['output'])) {
    const fault = typeof file !== 'string' ? 'has no url' : (faultOfType(type, types) ?? faultOfLength(file) ?? fetchFile.fault(file)); // prettier-ignore
    if (fault === undefined) files.push({ url: String(file), type: String(type) });
    else faults.push(`The file ${quote(String(file).slice(0, 200))} ${fault}`);
  }
  if (objectsOf(manifest['deleted']).length > 0) {
    faults.push('What the manifest lists as deleted is not deleted here; delete it by requests');
  }
  const next = objectsOf(manifest['link']).find(({ relation }) => relation === 'next')?.['url'];
  if (typeof next === 'string' && next.length > MAX_URL)
    throw wrong(`The address of the next manifest ${faultOfLength(next)}`);
  return { files, faults, ...(typeof next === 'string' && !next.startsWith('#') && { next }) };
}

function parse(text: string): JsonValue {
  try {
    return readJson(text, MAX_DEPTH);
  } catch {
    throw wrong('The manifest is no JSON');
  }
}

function faultOfLength(url: string): string | undefined {
  return url.length > MAX_URL ? `has more than ${MAX_URL} characters` : undefined;
}

function faultOfType(type: JsonValue | undefined, types: readonly string[]): string | undefined {
  if (typeof type !== 'string') return 'has no type';
  return types.includes(type)
    ? undefined
    : `is of ${quote(type)}, which is no type or none that the token covers whole`;
}

function wrong(text: string): FhirError {
  return new FhirError('parameter-invalid', text);
}
