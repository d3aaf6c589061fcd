import type { Store, StoredVersion } from '../../store/store.js';

/** Characters of stored resources that a transaction keeps in memory. */
const ROOM = 32 * 1024 * 1024;

/** Replaces a body that exists but is not kept in memory. */
const LEFT_OUT = '';

/** Memory budget for stored bodies while a transaction is decided. Bodies beyond it are read again when they are needed. */
export interface BodyRoom {
  /** The version with its body; without the body if the budget is used up. */
  keep(version: StoredVersion): StoredVersion;
  /** Without the body. */
  head(version: StoredVersion): StoredVersion;
  /** With the body. */
  whole(version: StoredVersion): Promise<StoredVersion>;
}

/** Opens a budget. @param room in characters */
export function openBodyRoom(store: Pick<Store, 'readVersion'>, room = ROOM): BodyRoom {
  let remaining = room;
  const head = (version: StoredVersion): StoredVersion =>
    version.json === undefined ? version : { ...version, json: LEFT_OUT };
  return {
    head,
    keep(version) {
      const size = version.json?.length ?? 0;
      if (size > remaining) return head(version);
      remaining -= size;
      return version;
    },
    async whole(version) {
      if (version.json !== LEFT_OUT) return version;
      const { type, id, version: number } = version;
      // A version that an entry of this Bundle makes is not stored yet; its body is not needed.
      return (await store.readVersion(type, id, number)) ?? version;
    },
  };
}
