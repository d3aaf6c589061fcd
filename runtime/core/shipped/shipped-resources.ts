import { isObject } from '../../fhir/resource.js';
import type { StoredVersion } from '../../store/store.js';
import { shippedId, shippedJson } from './shipped-pack.js';

/**
 * The definitions of the FHIR package and of our own operations, as if they were stored with version 0. They are in no count, export or history, and no write
 * changes them; a stored resource with the same id replaces one.
 */
export interface ShippedResources {
  /** @param base of the server, below which the canonicals of our own definitions are */
  readonly byId: (type: string, id: string, base: string) => StoredVersion | undefined;
  readonly byUrl: (type: string, url: string, base: string) => StoredVersion | undefined;
}

/** Shipped resources that the build has packed. */
export const SHIPPED: ShippedResources = {
  byId: versionOf,
  byUrl(type, url, base) {
    const isBelow = url.startsWith(`${base}/`);
    const id = shippedId(type, isBelow ? url.slice(base.length + 1) : url);
    return id === undefined ? undefined : versionOf(type, id, base);
  },
};

function versionOf(type: string, id: string, base: string): StoredVersion | undefined {
  const packed = shippedJson(type, id);
  if (packed === undefined) return undefined;
  const { meta, url, ...rest } = JSON.parse(packed) as { readonly meta?: unknown; readonly url?: string };
  const json = url === `${type}/${id}` ? JSON.stringify({ ...rest, url: `${base}/${url}` }) : packed;
  const changed = isObject(meta as never) ? Date.parse(String((meta as { lastUpdated?: unknown }).lastUpdated)) : 0;
  return { type, id, version: 0, lastUpdated: Number.isNaN(changed) ? 0 : changed, json };
}
