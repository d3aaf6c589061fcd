import { isObject } from '../../fhir/resource.js';
import type { StoredVersion } from '../../store/store.js';
import { shippedId, shippedJson } from './shipped-pack.js';

/**
 * The definitions of the FHIR package, as if they were stored with version 0. They are in no count, export or history, and no write
 * changes them; a stored resource with the same id replaces one.
 */
export interface ShippedResources {
  readonly byId: (type: string, id: string) => StoredVersion | undefined;
  readonly byUrl: (type: string, url: string) => StoredVersion | undefined;
}

/** Those that a build has packed. */
export const SHIPPED: ShippedResources = {
  byId: versionOf,
  byUrl(type, url) {
    const id = shippedId(type, url);
    return id === undefined ? undefined : versionOf(type, id);
  },
};

function versionOf(type: string, id: string): StoredVersion | undefined {
  const json = shippedJson(type, id);
  if (json === undefined) return undefined;
  const { meta } = JSON.parse(json) as { readonly meta?: unknown };
  const changed = isObject(meta as never) ? Date.parse(String((meta as { lastUpdated?: unknown }).lastUpdated)) : 0;
  return { type, id, version: 0, lastUpdated: Number.isNaN(changed) ? 0 : changed, json };
}
