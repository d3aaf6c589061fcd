import { ConfigError } from '../../config/config-error.js';
import type { Flags } from '../../config/read-config.js';
import type { Terminal } from '../terminal.js';
import type { BundleMode } from './items.js';

/** Options of `kiln load` besides the settings. */
export interface LoadFlags {
  readonly bundles?: string;
  readonly url?: string;
  readonly token?: string;
  /** Asks for tokens, with its private key in a file. */
  readonly client?: string;
  readonly key?: string;
  /** Uploads NDJSON and has the server import it. */
  readonly bulk?: boolean;
  /** Loads into the server that runs with the same settings, as its development client. */
  readonly running?: boolean;
}

/** Where a server is looked for that no option names. */
export const DEFAULT_URL = 'http://localhost:8080/fhir';

/** How Bundles are taken. @throws ConfigError */
export function readBundleMode(mode = 'store'): BundleMode {
  if (mode === 'store' || mode === 'apply') return mode;
  throw new ConfigError(`--bundles ${JSON.stringify(mode)}: has to be store or apply`);
}

/** The server to load into; undefined: a store. Where there are both, what was typed decides. @throws ConfigError */
export function readUrl(option: string | undefined, flags: Flags, terminal: Terminal): string | undefined {
  if (option !== undefined && flags['store'] !== undefined)
    throw new ConfigError('--url and --store exclude each other');
  const name = option === undefined ? 'KILN_URL' : '--url';
  const url = option ?? (flags['store'] === undefined ? terminal.env['KILN_URL'] || undefined : undefined);
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.search !== '' || parsed.username !== '') {
    throw new ConfigError(
      `${name} ${JSON.stringify(url)}: has to be the URL of a FHIR base, http://localhost:8080/fhir`,
    );
  }
  return url;
}

/** Settings from which `--running` computes the address of the server. */
export const ADDRESS_SETTINGS = ['host', 'port', 'base-url'] as const;

/** @throws ConfigError where `--running` does not go together with other options, or these do not without it */
export function checkRunning(options: LoadFlags, flags: Flags): void {
  if (options.running !== true) {
    const name = ADDRESS_SETTINGS.find((each) => flags[each] !== undefined);
    if (name !== undefined) throw new ConfigError(`--${name} goes with --running`);
    return;
  }
  const other = (['url', 'token', 'client', 'key', 'bulk'] as const).find((each) => options[each] !== undefined);
  if (other !== undefined) throw new ConfigError(`--running and --${other} exclude each other`);
}

/** @throws ConfigError where options do not go together */
export function checkClient({ client, key, token }: LoadFlags, url: string | undefined): void {
  if ((client === undefined) !== (key === undefined)) throw new ConfigError('--client and --key go together');
  if (client === undefined) return;
  if (url === undefined) throw new ConfigError('--client goes with --url');
  if (token !== undefined) throw new ConfigError('--token and --client exclude each other');
}
