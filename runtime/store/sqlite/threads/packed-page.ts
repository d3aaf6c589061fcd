import { isContainedType } from '../../contained-resources.js';
import type { FindPage, StoredVersion } from '../../store.js';

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
  /**
   * Id, version, time and text of each, one after the other, and, where they have none in common, its type. Instead of a text that
   * another before has, too, it is said which: what is within a resource comes with all of it, and a clone would have it each time.
   */
  readonly fields: readonly (string | number)[];
  /** Places of those that were amended, and how often. */
  readonly amended?: ReadonlyMap<number, number>;
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
  const shared = new Map<string, number>();
  const changed = new Map<number, number>();
  for (const [i, { id, version, lastUpdated, json = '', type: own, amended }] of versions.entries()) {
    const first = isContainedType(own) ? shared.get(json) : undefined;
    if (isContainedType(own) && first === undefined) shared.set(json, i);
    fields.push(id, version, lastUpdated, first ?? json);
    if (type === undefined) fields.push(own);
    if (amended !== undefined) changed.set(i, amended);
  }
  return { fields, ...(type !== undefined && { type }), ...(changed.size > 0 && { amended: changed }) };
}

/** The page again, on the other side. */
export function unpackPage({ versions, included, ...page }: PackedPage): FindPage {
  return { ...page, versions: unpack(versions), ...(included !== undefined && { included: unpack(included) }) };
}

function unpack({ type: common, fields, amended: changed }: PackedVersions): readonly StoredVersion[] {
  const versions: StoredVersion[] = [];
  for (let i = 0; i < fields.length; i += common === undefined ? 5 : 4) {
    const [id, version, lastUpdated, text] = fields.slice(i, i + 4) as [string, number, number, string | number];
    const json = typeof text === 'number' ? versions[text]!.json! : text;
    const stored = { type: common ?? (fields[i + 4] as string), id, version, lastUpdated, json };
    const amended = changed?.get(versions.length);
    versions.push(amended === undefined ? stored : { ...stored, amended });
  }
  return versions;
}
