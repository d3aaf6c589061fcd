import type { FindPage, StoredVersion } from '../store.js';

/**
 * A page on its way between threads: what versions have in common once, and the rest in one list. A list is cloned in half
 * the time that as many objects take.
 */
export interface PackedPage extends Omit<FindPage, 'versions' | 'included'> {
  readonly versions: PackedVersions;
  readonly included?: PackedVersions;
}

/** Versions that have a content. */
interface PackedVersions {
  /** Type of all of them; absent: each names its own. */
  readonly type?: string;
  /** Id, version, time and text of each, one after the other, and, where they have none in common, its type. */
  readonly fields: readonly (string | number)[];
}

/** @param type of all resources on the page; absent: they may have several */
export function packPage({ versions, included, ...page }: FindPage, type?: string): PackedPage {
  return {
    ...page,
    versions: pack(versions, type),
    ...(included !== undefined && { included: pack(included, undefined) }),
  };
}

function pack(versions: readonly StoredVersion[], type: string | undefined): PackedVersions {
  const fields: (string | number)[] = [];
  for (const { id, version, lastUpdated, json = '', type: own } of versions) {
    fields.push(id, version, lastUpdated, json);
    if (type === undefined) fields.push(own);
  }
  return { fields, ...(type !== undefined && { type }) };
}

/** The page again, on the other side. */
export function unpackPage({ versions, included, ...page }: PackedPage): FindPage {
  return { ...page, versions: unpack(versions), ...(included !== undefined && { included: unpack(included) }) };
}

function unpack({ type: common, fields }: PackedVersions): readonly StoredVersion[] {
  const versions: StoredVersion[] = [];
  for (let i = 0; i < fields.length; i += common === undefined ? 5 : 4) {
    const [id, version, lastUpdated, json] = fields.slice(i, i + 4) as [string, number, number, string];
    versions.push({ type: common ?? (fields[i + 4] as string), id, version, lastUpdated, json });
  }
  return versions;
}
