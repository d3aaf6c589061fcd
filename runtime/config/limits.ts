import { DEFAULT_LIMITS, type Limits } from '../fhir/limits.js';
import { DEFAULT_SEARCH, type SearchSettings } from '../core/search-services/search-settings.js';
import type { Config } from './settings.js';

/** The limits of a configuration; `queryTime` is for the store too. */
export function limitsOf(config: Config): Limits & { readonly queryTime: number } {
  return {
    ...DEFAULT_LIMITS,
    body: config['limits.body'],
    resource: config['limits.resource'],
    entries: config['limits.bundle.entries'],
    url: config['limits.url'],
    queryTime: config['limits.query.time'],
    keepAliveTime: config['limits.keepAliveTime'],
  };
}

/** Returns the search settings of a configuration. */
export function searchSettingsOf(config: Config): SearchSettings {
  return {
    ...DEFAULT_SEARCH,
    handling: config['search.handling'],
    count: config['search.count'],
    maxCount: config['search.maxCount'],
  };
}
