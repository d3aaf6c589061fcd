import type {
  CountQuery,
  CountRow,
  Explanation,
  FindMultiTypeQuery,
  FindQuery,
  HistoryPage,
  HistoryQuery,
  LinePage,
  ListedBlob,
  MapScan,
  ResourceKey,
  StoredVersion,
  VersionScan,
} from '../../store.js';
import type { PackedPage } from './packed-page.js';

/** What reader threads do, each on one snapshot. */
export interface ReaderOperations {
  history(query: HistoryQuery): HistoryPage;
  find(query: FindQuery): PackedPage;
  findMultiType(query: FindMultiTypeQuery): PackedPage;
  findLines(query: FindQuery, until: number): LinePage;
  countBy(query: CountQuery): readonly CountRow[] | undefined;
  explain(query: FindQuery): Explanation;
  scan(after: string | undefined, limit: number): VersionScan;
  counts(): Map<string, number>;
  readMany(keys: readonly ResourceKey[]): (StoredVersion | undefined)[];
  readVersion(type: string, id: string, version: number): StoredVersion | undefined;
  mapEntry(map: string, key: string, now: number): string | undefined;
  mapEntries(map: string, now: number): Map<string, string>;
  scanMaps(after: string | undefined, limit: number, now: number): MapScan;
  findBlob(key: string): { readonly id: number; readonly size: number } | undefined;
  listBlobs(prefix: string): ListedBlob[];
  piece(blob: number, n: number): Uint8Array | undefined;
  /** Reads something. */
  look(): void;
  /** Writes the log back into the file, beside the writer. */
  checkpoint(): void;
  /** Forgets old statistics. */
  reopen(): void;
}
