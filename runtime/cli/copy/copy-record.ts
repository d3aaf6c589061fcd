import { isSystemMap, SYSTEM_MAPS } from '../../store/system-maps.js';
import type { Store, StoredVersion } from '../../store/store.js';

const COPY_MAP = SYSTEM_MAPS.copy;

const KEY = 'record';

/** How far a copy is. */
export interface CopyRecord {
  /** `VersionScan.next` of the last piece that was restored; absent: none was. */
  readonly cursor: string | undefined;
  /** Remembers a piece. @throws Error where another copy into this target is running */
  advance(cursor: string, last: StoredVersion): Promise<void>;
  /** Forgets the copy, which is whole: the target is a store of its own from then on, and takes no other. */
  end(): Promise<void>;
}

interface Content {
  /** Name of the source. */
  readonly from: string;
  readonly cursor?: string;
  /** The version before the cursor, by which the source is known again. */
  readonly last?: Omit<StoredVersion, 'json'>;
}

/**
 * Begins a copy into an empty target, or goes on with one that was begun from the same source.
 *
 * @param from name of the source, which no other store has
 * @throws Error telling what the target holds where it can be neither
 */
export async function openCopyRecord(source: Store, target: Store, from: string): Promise<CopyRecord> {
  let text = await target.maps.get(COPY_MAP, KEY);
  const put = async (content: Content): Promise<void> => {
    const next = JSON.stringify(content);
    const isSet = await target.maps.swap(COPY_MAP, KEY, text, next);
    // It may have been set by an earlier try whose answer was lost.
    if (!isSet && (await target.maps.get(COPY_MAP, KEY)) !== next)
      throw new Error('another copy into the same target is running');
    text = next;
  };
  const advance = (cursor: string, { type, id, version, lastUpdated }: StoredVersion): Promise<void> =>
    put({ from, cursor, last: { type, id, version, lastUpdated } });
  const end = (): Promise<void> => target.maps.delete(COPY_MAP, KEY);

  if (text === undefined) {
    const present = await describeContent(target);
    if (present !== '')
      throw new Error(
        `the target is not empty: it has ${present}; copy into an empty one, before clients are registered there: those of the ` +
          'source come along',
      );
    await put({ from });
    return { cursor: undefined, advance, end };
  }
  const begun = JSON.parse(text) as Content;
  if (begun.from !== from) {
    throw new Error(
      `the target holds a copy of ${begun.from}; go on with that one as --from, or copy into an empty target`,
    );
  }
  if (begun.last !== undefined) {
    await expectVersion(source, begun.last, `the source is not the one that this copy was begun from`);
    await expectVersion(target, begun.last, `the target is not as this copy left it`);
  }
  return { cursor: begun.cursor, advance, end };
}

async function expectVersion(store: Store, last: Omit<StoredVersion, 'json'>, otherwise: string): Promise<void> {
  const { type, id, version, lastUpdated } = last;
  const found = await store.readVersion(type, id, version);
  if (found?.lastUpdated === lastUpdated) return;
  throw new Error(`${otherwise}: ${type}/${id}/_history/${version} is missing or another; copy into an empty target`);
}

/** What a store holds, in words; empty: nothing. */
async function describeContent(store: Store): Promise<string> {
  const parts: string[] = [];
  const { total } = await store.history({ count: 0 });
  const living = [...(await store.counts())].map(([type, count]) => `${count} ${type}`);
  if (total > 0) parts.push(`${total} versions of resources (living: ${some(living) || 'none'})`);
  const stored = (await store.blobs.list('')).length;
  if (stored > 0) parts.push(`${stored} blobs`);
  const names = new Set<string>();
  let after: string | undefined;
  do {
    const page = await store.maps.scan(after, 1000);
    for (const { map } of page.entries) if (!isSystemMap(map)) names.add(map);
    after = page.next;
  } while (after !== undefined);
  if (names.size > 0) parts.push(`maps (${some([...names])})`);
  return parts.join(', ');
}

function some(words: readonly string[]): string {
  const shown = words.slice(0, 5).join(', ');
  return words.length > 5 ? `${shown}, …` : shown;
}
