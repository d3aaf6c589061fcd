import { least } from '../../fhir/lists.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { Store } from '../../store/store.js';
import type { GuideOperation } from './guide-operation.js';

/** The map of installed packages: a row each by its name, and beside them what all processes have to know. */
export const PACKAGE_MAP = 'package';

/** Names of packages have a dot in them. */
const CLAIMS = 'claims';

/** The system of the tag that the resources of a package have; its code is the name of the package. */
export const PACKAGE_TAG = 'urn:kiln:package';

/** Claims of a server that follow from one installed package. */
export interface GuideClaim {
  /** Of the package. */
  readonly name: string;
  /** Canonical with version of its guide; absent: it is there for others only. */
  readonly guide?: string;
  /** Type and canonical of its profiles; absent: it is there for others only. */
  readonly profiles?: readonly (readonly [string, string])[];
  /** Operations that it defines; absent: none. */
  readonly operations?: readonly GuideOperation[];
}

/** Claims of all installed packages, in the order of their installation. */
export type GuideClaims = readonly GuideClaim[];

/** No package is installed. */
export const NO_GUIDES: GuideClaims = [];

/** Reads the claims of a store, as text too, by which they can be replaced. */
export async function readClaims({
  maps,
}: Pick<Store, 'maps'>): Promise<{ readonly text: string | undefined; readonly claims: GuideClaims }> {
  const text = await maps.get(PACKAGE_MAP, CLAIMS);
  return { text, claims: text === undefined ? NO_GUIDES : (JSON.parse(text) as GuideClaims) };
}

/** @param text the present one @returns whether it was that still */
export function swapClaims(
  { maps }: Pick<Store, 'maps'>,
  text: string | undefined,
  claims: GuideClaims,
): Promise<boolean> {
  return maps.swap(PACKAGE_MAP, CLAIMS, text, JSON.stringify(claims));
}

/** The names of the packages that a resource is tagged with. */
export function packagesOf({ meta }: Resource): readonly string[] {
  const tags: JsonValue | undefined = isObject(meta) ? meta['tag'] : undefined;
  return (Array.isArray(tags) ? tags : []).flatMap((tag) =>
    isObject(tag) && tag['system'] === PACKAGE_TAG && typeof tag['code'] === 'string' ? [tag['code']] : [],
  );
}

/**
 * The place of a resource among those that collide: what no package brought comes first, then what came with the package that was there
 * first.
 */
export function rankOf(resource: Resource, claims: GuideClaims): number {
  const names = packagesOf(resource);
  if (names.length === 0) return 0;
  const places = names.map((name) => claims.findIndex((claim) => claim.name === name));
  return 1 + least(places.map((place) => (place < 0 ? claims.length : place)));
}
