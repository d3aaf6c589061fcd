import { isIP, type LookupFunction } from 'node:net';

import { hostOf, readAllowList } from '../auth/jwks/allow-list.js';
import { resolveHost } from '../auth/jwks/fetch-document.js';
import { ConfigError } from '../config/config-error.js';
import type { FetchFile } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';

/** Time without a byte after which a server is given up, in milliseconds. */
const IDLE = 60_000;

/**
 * Opens files of the servers that the configuration names, and of no others: over https, without redirects, and at the address that
 * was checked. As for the JWKS of clients, an address that is not public is reached only where the entry names the host.
 *
 * @param entries `host` or `host:port`
 * @returns undefined where there are none
 * @throws ConfigError naming an entry that cannot be read
 */
export function createFetchFile(entries: readonly string[]): FetchFile | undefined {
  if (entries.length === 0) return undefined;
  const allow = readEntries(entries);
  const names = new Set(entries.map((entry) => entry.toLowerCase()));
  const faultOf = (text: string): string | undefined => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url?.protocol !== 'https:') return 'is no https URL';
    const fault = allow.urlFault(url);
    if (fault !== undefined) return fault;
    const isNamed = names.has(hostOf(url)) || names.has(`${hostOf(url)}:${url.port === '' ? '443' : url.port}`);
    return isNamed ? undefined : 'is on no server that the configuration allows (import.allow)';
  };
  const fetchFile = async (...[text, signal, headers = {}]: Parameters<FetchFile>): ReturnType<FetchFile> => {
    const fault = faultOf(text);
    if (fault !== undefined) throw new FhirError('parameter-invalid', `${text} ${fault}`);
    const url = new URL(text);
    const host = hostOf(url);
    const addresses = isIP(host) === 0 ? await resolveHost(host) : [host];
    if (addresses.length === 0 || !addresses.every((each) => allow.admits(url, each))) {
      throw new FhirError('parameter-invalid', `${text} has an address that is not allowed`);
    }
    return open(url, addresses[0]!, signal, headers);
  };
  return Object.assign(fetchFile, { fault: faultOf });
}

function readEntries(entries: readonly string[]) {
  const range = entries.find((entry) => entry.includes('/'));
  if (range !== undefined)
    throw new ConfigError(`import.allow: ${JSON.stringify(range)} is neither a host nor host:port`);
  try {
    return readAllowList(entries, 'import.allow');
  } catch (error) {
    throw new ConfigError(`import.allow: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function open(
  url: URL,
  address: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>>,
): Promise<AsyncIterable<Uint8Array>> {
  const { get } = await import('node:https');
  const lookup: LookupFunction = (_host, options, done) => {
    const family = isIP(address);
    if (options.all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
  return new Promise((resolve, reject) => {
    const call = get(
      url,
      {
        signal,
        lookup,
        timeout: IDLE,
        headers: { accept: 'application/fhir+ndjson, application/json;q=0.9', ...headers },
      },
      (answer) => {
        if (answer.statusCode === 200) return resolve(answer);
        answer.resume();
        const text = `${url.host} answered ${answer.statusCode} to the request for a file`;
        reject(isRefusal(answer.statusCode) ? new FhirError('parameter-invalid', text) : new Error(text));
      },
    );
    call.on('timeout', () => call.destroy(new Error(`${url.host} sent nothing for too long`)));
    call.on('error', reject);
  });
}

/** Whether another try has the same answer: https://www.rfc-editor.org/rfc/rfc9110#name-client-error-4xx */
function isRefusal(status = 0): boolean {
  return status >= 400 && status < 500 && ![408, 425, 429].includes(status);
}
