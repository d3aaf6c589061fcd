import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where the generated reference pages may be: beside the tables of a build or of the sources, or in the checkout around a build. */
const PLACES = ['../../generated/docs', '../../../generated/docs'];

/** Folder of the generated reference pages; undefined: they are not installed. */
export function docsFolder(): string | undefined {
  return PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((folder) => existsSync(folder));
}
