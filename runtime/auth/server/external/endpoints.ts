import type { ExternalDiscovery } from '../../discovery/documents.js';
import { ExchangeError } from '../../jwks/exchange.js';
import type { Fetching } from '../../jwks/fetch-document.js';
import { fetchMetadata, type EndpointName, type ServerMetadata } from './metadata.js';
import type { ExternalSettings } from './settings.js';

/** Where the external server is asked. */
export interface ExternalEndpoints {
  /** A URL: as configured, else from the metadata. @throws ExchangeError where it is nowhere */
  find(name: EndpointName): Promise<string>;
  /**
   * What our `smart-configuration` says of it. Where its metadata cannot be had, what is configured.
   *
   * @throws ExchangeError where its token endpoint is not known
   */
  discovery(): Promise<ExternalDiscovery>;
}

/** How long metadata is used, and how long a failure to fetch it is remembered. In milliseconds. */
const FRESH = 3600_000;
const PAUSE = 5000;

/** @param now the clock, in milliseconds */
export function createExternalEndpoints(
  settings: ExternalSettings,
  fetching: Fetching,
  now: () => number,
): ExternalEndpoints {
  let kept: { readonly until: number; readonly metadata: Promise<ServerMetadata> } | undefined;

  async function metadata(): Promise<ServerMetadata> {
    if (kept === undefined || now() >= kept.until) {
      const entry = { until: now() + FRESH, metadata: fetchMetadata(settings.issuer, fetching) };
      kept = entry;
      entry.metadata.catch(() => {
        if (kept === entry) kept = { ...entry, until: now() + PAUSE };
      });
    }
    return await kept.metadata;
  }

  async function find(name: EndpointName): Promise<string> {
    const url = (name === 'revocationEndpoint' ? undefined : settings[name]) ?? (await metadata())[name];
    if (url === undefined) throw new ExchangeError(`does not say its ${name}`);
    return url;
  }

  return {
    find,
    async discovery() {
      const told: ServerMetadata = await metadata().catch(() => ({ claims: {} }));
      const jwksUri = settings.jwksUri ?? told.jwksUri;
      const { revocationEndpoint } = told;
      const introspectionEndpoint = settings.introspectionEndpoint ?? told.introspectionEndpoint;
      return {
        issuer: settings.issuer,
        tokenEndpoint: await find('tokenEndpoint'),
        claims: told.claims,
        ...(jwksUri === undefined ? {} : { jwksUri }),
        ...(introspectionEndpoint === undefined ? {} : { introspectionEndpoint }),
        ...(revocationEndpoint === undefined ? {} : { revocationEndpoint }),
      };
    },
  };
}
