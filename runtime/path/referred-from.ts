import type { OwnBases } from './own-bases.js';

/** A resource that another refers to; with a version where the reference names one. */
export interface ReferredKey {
  readonly type: string;
  readonly id: string;
  readonly version?: number;
}

/**
 * The resources that the JSON texts refer to: references anywhere, extensions included, and the URLs of attachments that are
 * Binaries here. Within a JSON string a quotation mark is escaped, so no text that a resource holds is taken for a reference.
 *
 * @param isWanted whether resources of a type may come
 */
export function referredFrom(
  texts: readonly string[],
  own: OwnBases,
  isWanted: (type: string) => boolean,
): ReadonlyMap<string, ReferredKey> {
  const found = new Map<string, ReferredKey>();
  for (const [begin, only] of PATTERNS) {
    for (const url of valuesOf(texts, begin)) {
      const relative = own.below(url) ?? url;
      const [, type = '', id = '', version] = TARGET.exec(relative) ?? [];
      if (type === '' || !isWanted(type) || (only !== undefined && type !== only)) continue;
      const key = { type, id, ...(version !== undefined && { version: Number(version) }) };
      found.set(nameOf(key), key);
    }
  }
  return found;
}

/** The name of a resource, or of a version of it. */
export function nameOf({ type, id, version }: ReferredKey): string {
  return version === undefined ? `${type}/${id}` : `${type}/${id}/${version}`;
}

/** Reads the key of a resource, or of a version of it, from its name: the inverse of `nameOf`. */
export function keyOf(name: string): ReferredKey {
  const [type = '', id = '', version] = name.split('/');
  return { type, id, ...(version !== undefined && { version: Number(version) }) };
}

/** How members begin that references are in, each with the only type that counts there. */
const PATTERNS: readonly (readonly [string, string?])[] = [['"reference":"'], ['"url":"', 'Binary']];

/** Longest reference that is followed, in characters. */
const LONGEST = 1024;

/** The distinct values of a member: the same few references come again and again. */
function valuesOf(texts: readonly string[], begin: string): ReadonlySet<string> {
  const values = new Set<string>();
  for (const text of texts) {
    for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at)) {
      at += begin.length;
      const end = text.indexOf('"', at);
      // A backslash, as before a quotation mark within the value, is in no reference that is followed.
      if (end - at <= LONGEST) values.add(text.slice(at, end));
    }
  }
  return values;
}

const TARGET = /^([A-Z][A-Za-z]+)\/([A-Za-z0-9.-]{1,64})(?:\/_history\/([1-9][0-9]{0,9}))?$/;
