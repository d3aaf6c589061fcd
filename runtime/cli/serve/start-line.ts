import { tokenCommand } from '../../config/development.js';
import type { Config } from '../../config/settings.js';
import { printable } from '../terminal.js';

/**
 * Returns the text that is printed once a server serves. It names the address where the server listens, the URL under which
 * clients know it where that is another, and the command that gets a token for trying it out.
 *
 * @param url FHIR base where it listens
 * @param newFile of a store that was not there before: it may be there under another path
 */
export function startLine(
  url: string,
  config: Pick<Config, 'workers'> & Parameters<typeof tokenCommand>[0],
  newFile?: string,
): string {
  const { 'base-url': root, workers } = config;
  const known = root === undefined ? url : root + new URL(url).pathname;
  const clients = known === url ? '' : ` (for clients: ${known})`;
  const processes = workers > 1 ? ` with ${workers} processes` : '';
  const store = newFile === undefined ? '' : ` from a new store, ${printable(newFile)}`;
  const command = tokenCommand(config, { port: Number(new URL(url).port || 80) }, 'operator');
  const token = command === undefined ? '' : ` (for a token: ${printable(command)})`;
  return `Kiln serves FHIR R5 at ${url}${clients}${processes}${store}${token}`;
}
