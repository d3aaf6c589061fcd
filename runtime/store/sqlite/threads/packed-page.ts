import { isContainedType } from '../../contained-resources.js';
import type { FindPage, StoredVersion } from '../../store.js';

/**
 * A page on its way between threads. What is within a resource comes with the text of all of it, and a clone would have that text once for
 * each: instead of one that a version before has, too, there is the place of that version.
 */
export interface PackedPage extends Omit<FindPage, 'versions'> {
  readonly versions: readonly PackedVersion[];
}

type PackedVersion = Omit<StoredVersion, 'json'> & { readonly json?: string | number };

/** Returns the page as it is sent. */
export function packPage({ versions, ...page }: FindPage): PackedPage {
  const firsts = new Map<string, number>();
  return { ...page, versions: versions.map((version, i) => packVersion(version, i, firsts)) };
}

function packVersion(version: StoredVersion, at: number, firsts: Map<string, number>): PackedVersion {
  const { type, json } = version;
  if (json === undefined || !isContainedType(type)) return version;
  const first = firsts.get(json);
  if (first !== undefined) return { ...version, json: first };
  firsts.set(json, at);
  return version;
}

/** Returns the page as it was, on the other side. */
export function unpackPage({ versions: packed, ...page }: PackedPage): FindPage {
  const textOf = (json: string | number | undefined): string | undefined =>
    typeof json === 'number' ? textOf(packed[json]!.json) : json;
  const versions = packed.map((version): StoredVersion => {
    const { json, ...rest } = version;
    return typeof json === 'number' ? { ...rest, json: textOf(json)! } : (version as StoredVersion);
  });
  return { ...page, versions };
}
