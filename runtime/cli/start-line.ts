import type { Config } from '../config/settings.js';
import { printable } from './terminal.js';

/**
 * What is printed once a server serves: where it listens, and under which URL clients know it where that is another.
 *
 * @param url FHIR base where it listens
 * @param newFile of a store that was not there before: it may be there under another path
 */
export function startLine(
  url: string,
  { 'base-url': root, workers }: Pick<Config, 'base-url' | 'workers'>,
  newFile?: string,
): string {
  const known = root === undefined ? url : root + new URL(url).pathname;
  const clients = known === url ? '' : ` (for clients: ${known})`;
  const processes = workers > 1 ? ` with ${workers} processes` : '';
  const store = newFile === undefined ? '' : ` from a new store, ${printable(newFile)}`;
  return `Kiln serves FHIR R5 at ${url}${clients}${processes}${store}`;
}
