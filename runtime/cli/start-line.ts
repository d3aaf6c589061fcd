import type { Config } from '../config/settings.js';

/**
 * What is printed once a server serves: where it listens, and under which URL clients know it where that is another.
 *
 * @param url FHIR base where it listens
 */
export function startLine(url: string, { 'base-url': root, workers }: Pick<Config, 'base-url' | 'workers'>): string {
  const known = root === undefined ? url : root + new URL(url).pathname;
  const clients = known === url ? '' : ` (for clients: ${known})`;
  const processes = workers > 1 ? ` with ${workers} processes` : '';
  return `Kiln serves FHIR R5 at ${url}${clients}${processes}`;
}
