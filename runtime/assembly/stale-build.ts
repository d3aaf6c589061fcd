import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where this file is: in `dist/` where it was built, in the checkout where it runs from the sources. */
const ROOT = new URL('../../', import.meta.url);

/**
 * Whether a build has other generated tables than the checkout around it, so that a rule that was generated anew would silently
 * not apply. The manifests are compared: they hold a hash of every generated file.
 *
 * @param built folder of the build; sources are no build
 * @returns false also where there is no checkout around it, as in an installed package
 */
export function isStaleBuild(built: URL = ROOT): boolean {
  if (!built.pathname.endsWith('/dist/')) return false;
  const current = new URL('../generated/manifest.json', built);
  if (!existsSync(fileURLToPath(current))) return false;
  const own = new URL('generated/manifest.json', built);
  return !existsSync(fileURLToPath(own)) || !readFileSync(own).equals(readFileSync(current));
}
