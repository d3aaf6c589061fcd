import type { Limits } from '../fhir/limits.js';
import type { SearchSettings } from '../core/search/search-settings.js';
import type { Config } from './settings.js';

/** The limits of a configuration; `queryTime` is for the store too. */
export function limitsOf(config: Config): Limits & { readonly queryTime: number } {
  return {
    body: config['limits.body'],
    resource: config['limits.resource'],
    entries: config['limits.bundle.entries'],
    url: config['limits.url'],
    headers: config['limits.headers'],
    nesting: config['limits.nesting'],
    historyPage: config['limits.history.page'],
    queryTime: config['limits.query.time'],
    headersTime: config['limits.headersTime'],
    requestTime: config['limits.requestTime'],
    bodyIdleTime: config['limits.bodyIdleTime'],
    connectionIdleTime: config['limits.connectionIdleTime'],
    keepAliveTime: config['limits.keepAliveTime'],
  };
}

/** What a configuration says of searches. */
export function searchSettingsOf(config: Config): SearchSettings {
  return {
    handling: config['search.handling'],
    count: config['search.count'],
    maxCount: config['search.maxCount'],
    values: config['limits.search.values'],
    postValues: config['limits.search.postValues'],
    links: config['limits.search.chain'],
    includes: config['limits.search.includes'],
    includeRounds: config['limits.search.iterate'],
  };
}
