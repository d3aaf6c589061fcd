import type { Store, StoredVersion } from '../../store/store.js';

/** Characters of stored resources that a transaction keeps in memory until it needs them. */
const ROOM = 32 * 1024 * 1024;

/** In the place of a body that is there, and not in memory. */
const LEFT_OUT = '';

/** Which stored resources are kept whole while a transaction is decided; the others are read again when they are needed. */
export interface BodyRoom {
  /** As it is, or, where there is no room any more, its head. */
  keep(version: StoredVersion): StoredVersion;
  /** Without the body. */
  head(version: StoredVersion): StoredVersion;
  /** With the body. */
  whole(version: StoredVersion): Promise<StoredVersion>;
}

/** @param room in characters */
export function openBodyRoom(store: Pick<Store, 'readVersion'>, room = ROOM): BodyRoom {
  let left = room;
  const head = (version: StoredVersion): StoredVersion =>
    version.json === undefined ? version : { ...version, json: LEFT_OUT };
  return {
    head,
    keep(version) {
      const size = version.json?.length ?? 0;
      if (size > left) return head(version);
      left -= size;
      return version;
    },
    async whole(version) {
      if (version.json !== LEFT_OUT) return version;
      const { type, id, version: number } = version;
      // What an entry of the Bundle makes of a resource is in no store yet, and its body is not needed.
      return (await store.readVersion(type, id, number)) ?? version;
    },
  };
}
