import { indexScopeRows } from '../auth/access/scope-rows.js';
import { DEFAULT_LIMITS, type Limits } from '../fhir/limits.js';
import type { FormatName } from '../format/negotiate.js';
import { createPageLinks } from '../core/search/page-link.js';
import { JSON_PATCHER } from '../core/patch/patchers.js';
import { INTERACTIONS, isWired } from '../interactions/registry.js';
import type { Services } from '../core/services.js';
import { OPERATIONS } from '../operations/registry.js';
import { createCodecs, type Codec, type Codecs } from './response/codecs.js';
import { createEntryHandling } from './entry-handling.js';
import { createRouter, type Router } from './router.js';

/** What interactions are to work with. */
export interface ServiceOptions extends Pick<
  Services,
  | 'tables'
  | 'store'
  | 'extract'
  | 'validate'
  | 'largeTexts'
  | 'subset'
  | 'zone'
  | 'indexStatus'
  | 'search'
  | 'deletesMultiple'
  | 'patchers'
  | 'authorization'
  | 'audit'
> {
  /** Absolute URL of the FHIR base; absent: taken from each request's `Host`. */
  readonly baseUrl?: string;
  /** Limits that are not as `DEFAULT_LIMITS` has them. */
  readonly limits?: Partial<Limits>;
  /** Formats beside JSON. */
  readonly codecs?: Readonly<Partial<Record<FormatName, Codec>>>;
}

/** Definitions that come and go: what of the services follows them. */
export type LiveServices = Pick<
  Services,
  'tables' | 'extract' | 'refit' | 'validate' | 'takesEffect' | 'indexStatus' | 'notInEffect'
>;

/** What requests are answered with. */
export interface Serving {
  readonly services: Services;
  readonly codecs: Codecs;
  readonly router: Router;
}

/**
 * What requests are answered with at the moment, where definitions come and go: services of one set of definitions for whoever
 * takes them.
 *
 * @param live the set that holds now; absent: it is always that of the options
 */
export function createServing(options: ServiceOptions, live?: () => LiveServices): () => Serving {
  const serving = createServices(options);
  if (live === undefined) return () => serving;
  let last: { readonly set: LiveServices; readonly serving: Serving } | undefined;
  return () => {
    const set = live();
    if (last?.set !== set) {
      const { tables, extract, refit, validate, takesEffect, indexStatus: currency, notInEffect } = set;
      const services: Services = {
        ...serving.services,
        ...{ tables, extract },
        ...(refit !== undefined && { refit }),
        ...(validate !== undefined && { validate }),
        ...(takesEffect !== undefined && { takesEffect }),
        ...(currency !== undefined && { indexStatus: currency }),
        ...(notInEffect !== undefined && { notInEffect }),
      };
      last = { set, serving: { ...serving, services } };
    }
    return last.serving;
  };
}

/** Puts together what the interactions work with, whether requests come over HTTP or from elsewhere. */
export function createServices(options: ServiceOptions): Serving {
  const {
    tables,
    store,
    extract,
    validate,
    largeTexts,
    subset,
    zone,
    indexStatus: currency,
    search,
    deletesMultiple,
    baseUrl,
  } = options;
  const { patchers = JSON_PATCHER, authorization, audit } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const codecs = createCodecs(limits.nesting, options.codecs);
  const router = createRouter(tables.routes, tables.resourceTypes, (row) => isWired(row, OPERATIONS));
  const services: Services = {
    tables,
    scopeRows: indexScopeRows(tables.scopes),
    store,
    extract,
    ...(validate === undefined ? {} : { validate }),
    ...(largeTexts === undefined ? {} : { largeTexts }),
    ...(subset === undefined ? {} : { subset }),
    ...(zone === undefined ? {} : { zone }),
    ...(currency === undefined ? {} : { indexStatus: currency }),
    ...(search === undefined ? {} : { search }),
    ...(deletesMultiple === undefined ? {} : { deletesMultiple }),
    patchers,
    pages: createPageLinks(store.maps),
    entries: createEntryHandling(router),
    limits,
    wired: new Set(INTERACTIONS.keys()),
    operations: OPERATIONS,
    formats: [...codecs.keys()],
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(authorization === undefined ? {} : { authorization }),
    ...(audit === undefined ? {} : { audit }),
  };
  return { services, codecs, router };
}
