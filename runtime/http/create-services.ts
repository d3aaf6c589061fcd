import { indexScopeRows } from '../auth/access/scope-rows.js';
import type { Limits } from '../fhir/limits.js';
import { pick } from '../fhir/pick.js';
import type { FormatName } from '../format/negotiate.js';
import { DEFAULT_SERVICES, type DefaultServices } from '../core/default-services.js';
import { createPageLinks, FEED_KEYS } from '../core/search-services/page-links/page-link.js';
import { NO_GUIDES, type GuideClaims } from '../core/definitions/guide-claims.js';
import type { SearchSettings } from '../core/search-services/search-settings.js';
import type { DefinitionServices, Services } from '../core/services.js';
import { INTERACTIONS, isWired, isWrite } from '../interactions/registry.js';
import { knownSystems } from '../terminology/operations/known-systems.js';
import { findCodes } from '../terminology/operations/search-codes.js';
import { OPERATIONS, SWITCHES, WEBSOCKET } from '../operations/registry.js';
import { validateByProfiles } from '../operations/validation/validate-by-profiles.js';
import { createCodecs, type Codec, type Codecs } from './response/codecs.js';
import { createEntryHandling } from './entry-handling.js';
import { createRouter, type Router } from './router.js';

/** Services that a server chooses. Absent ones are those of `DEFAULT_SERVICES`. */
export interface ServiceOptions
  extends Pick<Services, 'tables' | 'store' | 'extract'>, Partial<Omit<DefaultServices, 'limits' | 'search'>> {
  readonly limits?: Partial<Limits>;
  readonly search?: Partial<SearchSettings>;
  /** Whether versions may be removed for good; absent: not. */
  readonly allowsExpunge?: boolean;
  /** Whether web sockets are offered; absent: not. */
  readonly hasWebsocket?: boolean;
  /** Formats beside JSON. */
  readonly codecs?: Readonly<Partial<Record<FormatName, Codec>>>;
}

/** Services, codecs and router that requests are answered with. */
export interface Serving {
  readonly services: Services;
  readonly codecs: Codecs;
  readonly router: Router;
}

/**
 * Returns what requests are answered with now. Where stored SearchParameters change the definitions, each request works with one
 * set of them.
 *
 * @param live the definitions in effect now; absent: always those of the options
 */
export function createServing(options: ServiceOptions, live?: () => Partial<DefinitionServices>): () => Serving {
  const serving = createServices(options, () => live?.().guides ?? options.guides ?? NO_GUIDES);
  if (live === undefined) return () => serving;
  let last: { readonly set: Partial<DefinitionServices>; readonly serving: Serving } | undefined;
  return () => {
    const set = live();
    if (last?.set !== set) {
      last = { set, serving: { ...serving, services: { ...serving.services, ...definitionsOf(set) } } };
    }
    return last.serving;
  };
}

/** The members of the group that a set has; whatever else the object holds stays out of the services. */
function definitionsOf(set: Partial<DefinitionServices>): Partial<DefinitionServices> {
  return pick(set, ['tables', 'extract', 'refit', 'validate', 'takesEffect', 'indexStatus', 'notInEffect', 'guides']);
}

/** Puts together what the interactions work with, whether requests come over HTTP or from elsewhere. */
export function createServices(
  options: ServiceOptions,
  guides: () => GuideClaims = () => options.guides ?? NO_GUIDES,
): Serving {
  const { tables, store, extract } = options;
  const limits = { ...DEFAULT_SERVICES.limits, ...options.limits };
  const codecs = createCodecs(limits.nesting, options.codecs);
  const { documents } = options.exchange ?? DEFAULT_SERVICES.exchange;
  const settings = {
    'admin.expunge': options.allowsExpunge === true,
    'exchange.documents': documents,
    'publish.types': options.publish !== undefined,
  };
  const isOn = (name: string): boolean => {
    if (options.isReadOnly === true && isWrite(name, tables)) return false;
    const setting = SWITCHES.get(name);
    return setting === undefined || settings[setting];
  };
  const wired = new Set([...INTERACTIONS.keys()].filter(isOn));
  const offered = new Map([...OPERATIONS].filter(([id]) => options.hasWebsocket === true || !WEBSOCKET.has(id)));
  const operations = new Map([...offered].filter(([id]) => isOn(id)));
  const router = createRouter(
    tables.routes,
    tables.resourceTypes,
    (row) => isWired(row, offered),
    (row) => !isOn(row.operation ?? row.interaction),
    guides,
  );
  const services: Services = {
    ...DEFAULT_SERVICES,
    ...{ findCodes, validateByProfiles, knownSystems },
    ...pick(options, Object.keys(DEFAULT_SERVICES) as (keyof DefaultServices)[]),
    ...{ tables, store, extract, limits, switches: SWITCHES },
    search: { ...DEFAULT_SERVICES.search, ...options.search },
    scopeRows: indexScopeRows(tables.scopes),
    pages: createPageLinks(store.maps),
    feeds: createPageLinks(store.maps, Date.now, FEED_KEYS),
    entries: createEntryHandling(router),
    wired,
    operations,
    formats: [...codecs.keys()],
  };
  return { services, codecs, router };
}
