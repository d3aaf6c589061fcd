import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folder of the style sheets, the scripts and the icon. */
export const ASSETS_FOLDER = fileURLToPath(new URL('assets', import.meta.url));

const NAMES = [
  'kiln.css',
  'kiln.js',
  'edit.js',
  'results.js',
  'tools.js',
  'views.js',
  'narrative.css',
  'kiln.svg',
] as const;

let version: string | undefined;

/** Changes with the content of the assets, so that browsers may keep each of them for good. */
export function assetsVersion(): string {
  if (version === undefined) {
    const digest = createHash('sha256');
    for (const name of NAMES) digest.update(readFileSync(`${ASSETS_FOLDER}/${name}`));
    version = digest.digest('base64url').slice(0, 12);
  }
  return version;
}
