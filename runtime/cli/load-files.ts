import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { FhirError } from '../fhir/errors.js';
import { isObject, type Resource } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { decodeUtf8 } from '../format/utf8.js';

/** A file that is to be loaded. */
export interface SourceFile {
  readonly path: string;
  /** Named on the command line, so that it has to be a resource; files met in a folder may be something else. */
  readonly named: boolean;
}

/**
 * The files behind paths: each file itself, and all below each folder, in the order of their names. Links to folders
 * are not followed.
 *
 * @throws Error of Node where a path does not exist or cannot be read
 */
export async function* findFiles(paths: readonly string[]): AsyncGenerator<SourceFile> {
  for (const path of paths) {
    if ((await stat(path)).isDirectory()) yield* walk(path);
    else yield { path, named: true };
  }
}

async function* walk(folder: string): AsyncGenerator<SourceFile> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else yield { path, named: false };
  }
}

/** The resource of a file, and the size of the file in bytes. */
export interface SourceResource {
  readonly resource: Resource;
  readonly size: number;
}

/**
 * The resource in a file, or undefined where a file of a folder holds something else.
 *
 * @throws FhirError or an error of Node, for the reader of the report
 */
export async function readResourceFile({ path, named }: SourceFile): Promise<SourceResource | undefined> {
  if (!path.toLowerCase().endsWith('.json')) {
    if (named) throw new FhirError('unsupported-media-type', 'only JSON files (.json) can be loaded for now');
    return undefined;
  }
  const bytes = await readFile(path);
  const value = readJson(decodeUtf8(bytes));
  if (isObject(value) && typeof value['resourceType'] === 'string') {
    return { resource: value as Resource, size: bytes.length };
  }
  if (named) throw new FhirError('not-a-resource', 'not a resource: there is no resourceType');
  return undefined;
}
