import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where the build puts the reference pages: beside its tables, which are in `dist/` for a server that runs from the sources. */
const PLACES = ['../../generated/docs', '../../dist/generated/docs'];

/** Folder of the reference pages in HTML; undefined: they are not installed. */
export function docsFolder(): string | undefined {
  return PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((folder) =>
    existsSync(`${folder}/index.html`),
  );
}
