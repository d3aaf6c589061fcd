import type { Limits } from '../fhir/limits.js';
import type { Config } from './settings.js';

/** The limits of a configuration; `queryTime` is for the store. */
export function limitsOf(config: Config): Limits & { readonly queryTime: number } {
  return {
    body: config['limits.body'],
    resource: config['limits.resource'],
    url: config['limits.url'],
    headers: config['limits.headers'],
    nesting: config['limits.nesting'],
    historyPage: config['limits.history.page'],
    queryTime: config['limits.query.time'],
    headersTime: config['limits.headersTime'],
    requestTime: config['limits.requestTime'],
    bodyIdleTime: config['limits.bodyIdleTime'],
    connectionIdleTime: config['limits.connectionIdleTime'],
  };
}
