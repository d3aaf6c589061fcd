import { isIP } from 'node:net';

import { hostOf, type AllowList } from './allow-list.js';
import { ExchangeError, type Exchange, type ExchangeLimits, type IncomingAnswer } from './exchange.js';

/** The addresses of a host. Rejects, or gives none, where there are none. */
export type Resolver = (host: string) => Promise<readonly string[]>;

/** How documents are fetched. */
export interface Fetching {
  readonly exchange: Exchange;
  readonly resolve: Resolver;
  /** Absent: every address may be reached, for URLs that the operator configured. */
  readonly allow?: AllowList;
}

/** Times of a fetch in milliseconds, size in bytes. */
export const FETCH_LIMITS: ExchangeLimits = { connect: 2000, total: 5000, size: 64 * 1024 };

/** The resolver of the system. */
export async function resolveHost(host: string): Promise<readonly string[]> {
  const { lookup } = await import('node:dns/promises');
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/**
 * Fetches a JSON document. Where there is an allow list, each address that the name has is checked, and the connection goes
 * to one of them: a name that also leads to a forbidden one is refused.
 *
 * @throws ExchangeError where the URL may not be fetched, or it fails, or the status is not 200; the text is for logs
 */
export async function fetchDocument(
  address: string,
  { exchange, resolve, allow }: Fetching,
  limits: ExchangeLimits = FETCH_LIMITS,
): Promise<IncomingAnswer> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'https:') throw new ExchangeError('is no https URL');
  const fault = allow?.urlFault(url);
  if (fault !== undefined) throw new ExchangeError(fault);
  const started = performance.now();
  const addresses = allow === undefined ? undefined : await within(limits.connect, admitted(url, resolve, allow));
  const answer = await exchange(
    {
      method: 'GET',
      url,
      headers: { Accept: 'application/json' },
      ...(addresses === undefined ? {} : { addresses }),
    },
    { ...limits, total: Math.max(limits.total - (performance.now() - started), 1) },
  );
  if (answer.status !== 200) throw new ExchangeError(`answered ${answer.status}`);
  return answer;
}

async function admitted(url: URL, resolve: Resolver, allow: AllowList): Promise<readonly string[]> {
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host];
  if (addresses.length === 0) throw new ExchangeError('has a name that does not resolve');
  if (!addresses.every((each) => allow.admits(url, each))) {
    throw new ExchangeError('has an address that is not public, and not allowed (auth.jwks.allow)');
  }
  return addresses;
}

async function within<T>(time: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ExchangeError('has a name that takes too long to resolve')), time);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
