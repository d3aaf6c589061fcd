import { ExchangeError, type Exchange, type IncomingAnswer } from '../../jwks/exchange.js';
import { FETCH_LIMITS } from '../../jwks/fetch-document.js';
import { tokenForm } from '../client-assertion.js';
import type { ExternalEndpoints } from './endpoints.js';
import type { ExternalClient } from './settings.js';

/** Our own token for the external server. */
export interface Bearer {
  /** Kept until shortly before it ends. @throws ExchangeError where there is none to be had */
  get(): Promise<string>;
  /** It was refused: the next one is new. */
  drop(): void;
}

/** So long before its end it is not used any more, in milliseconds; shorter ones for half their life. */
const MARGIN = 30_000;
/** Life of a token that says nothing of it, in seconds. */
const SILENT = 60;
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** Posts a form. @throws ExchangeError */
export async function postForm(
  exchange: Exchange,
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<IncomingAnswer> {
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') throw new ExchangeError('is no https URL');
  const type = { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' };
  return await exchange({ method: 'POST', url: new URL(url), headers: { ...type, ...headers }, body }, FETCH_LIMITS);
}

/** An answer that has to be an object of JSON. @throws ExchangeError */
export function readObject({ body }: IncomingAnswer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new ExchangeError('answered with something else than an object of JSON');
}

/** @param now the clock, in milliseconds */
export function createBearer(
  client: ExternalClient,
  endpoints: ExternalEndpoints,
  exchange: Exchange,
  now: () => number,
): Bearer {
  let kept: { readonly text: string; readonly until: number } | undefined;
  let running: Promise<string> | undefined;

  async function fetchToken(): Promise<string> {
    const url = await endpoints.find('tokenEndpoint');
    const asked = now();
    const { id, key, scope } = client;
    const form = await tokenForm(
      { clientId: id, key, audience: url, ...(scope === undefined ? {} : { scope }) },
      asked,
    );
    const answer = await postForm(exchange, url, form);
    if (answer.status !== 200 && answer.status !== 201) {
      throw new ExchangeError(`answered ${answer.status} at its token endpoint`);
    }
    const { access_token: text, expires_in: seconds } = readObject(answer);
    if (typeof text !== 'string' || !TOKEN.test(text)) throw new ExchangeError('answered without an access_token');
    const life = (typeof seconds === 'number' && seconds > 0 ? seconds : SILENT) * 1000;
    kept = { text, until: asked + Math.max(life - MARGIN, life / 2) };
    return text;
  }

  return {
    async get() {
      if (kept !== undefined && now() < kept.until) return kept.text;
      running ??= fetchToken().finally(() => (running = undefined));
      return await running;
    },
    drop: () => (kept = undefined),
  };
}
