import { isContainedType } from '../../contained-resources.js';
import type { StoredVersion } from '../../store.js';
import type { QueryInterrupt } from '../file/query-interrupt.js';
import { MAX_PAGE } from '../read/history.js';
import type { ContentReader } from './contents.js';
import type { Hit } from './hit.js';
import type { Trace } from './run.js';

/** A resource that was found, and of which type it is. */
export interface TypedHit {
  readonly type: string;
  readonly hit: Hit;
}

/** The contents of what was found. */
export interface ReadPage {
  readonly versions: readonly StoredVersion[];
  /** All contents together, in characters; what is within a resource shares its content, which counts once. */
  readonly size: number;
  /** The last one that is on the page, where there are more after it. */
  readonly last?: TypedHit;
}

/** Reads what was found: as many as are asked for, fewer where they are large. */
export type PageReader = (found: readonly TypedHit[], count: number, trace: Trace | undefined) => ReadPage;

/** @param contents of the connection */
export function openPageReader(contents: ContentReader, interrupt: QueryInterrupt): PageReader {
  return (found, count, trace) => {
    const versions: StoredVersion[] = [];
    let size = 0;
    const shown = found.slice(0, count);
    const keys = shown.map(({ hit }) => hit.key);
    const hasMembers = shown.some(({ type }) => isContainedType(type));
    const shared = new Set<string>();
    for (const [id, version, updated, json, amended] of hasMembers
      ? contents.byKeysOfMembers(keys)
      : contents.byKeys(keys)) {
      trace?.read(2);
      const { type } = shown[versions.length]!;
      versions.push({ type, id, version, lastUpdated: updated, json, ...(amended !== null && { amended }) });
      // To look a text up it is gone through: only where several may share it.
      if (!hasMembers || !shared.has(json)) size += json.length;
      if (hasMembers) shared.add(json);
      interrupt.step();
      if (size >= MAX_PAGE) break;
    }
    const isCut = count > 0 && versions.length < found.length;
    return { versions, size, ...(isCut && { last: found[versions.length - 1]! }) };
  };
}
