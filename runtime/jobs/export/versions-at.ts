import { PAGE_ROOM } from '../../core/answer-room.js';
import type { Services } from '../../core/services.js';
import { EVERYTHING } from '../../search/query/query.js';
import type { StoredVersion } from '../../store/store.js';
import type { ExportInput, ExportPart } from './export-input.js';
import { Selection } from './selection.js';

/** Versions that are read at a time: at first, and at most. */
const [FIRST, MOST] = [20, 500];

/** A moment of the store, which several reads are of. */
export interface StoreMoment {
  /** Milliseconds since the epoch. What is stamped then or earlier is of the moment, and all that is written later is stamped later. */
  readonly instant: number;
  /** Name of its snapshot, where the store reads that again; `instant` may be earlier then. */
  readonly moment?: string;
}

/**
 * The present moment: all that is acknowledged is of it, and nothing that comes later. It asks no clock of this process: a write whose
 * time has come need not be there yet.
 */
export async function presentMoment(
  type: string,
  { store }: Pick<Services, 'store'>,
  signal: AbortSignal | undefined,
): Promise<StoreMoment> {
  const query = { type, where: EVERYTHING, sort: [], count: 0, total: 'none' } as const;
  const { complete, moment } = await store.find(query, signal);
  return { instant: complete - 1, ...(moment !== undefined && { moment }) };
}

/**
 * Pages of the versions of one type that were current at a moment, each once, whatever is written meanwhile. Where the store does not
 * read a snapshot again, those that were replaced or deleted before they were reached come last, by the history since then. For work
 * that ends with its request; an export does the same in chunks.
 */
export async function* versionsAt(
  { instant, moment }: StoreMoment,
  part: ExportPart,
  input: ExportInput,
  services: Services,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly StoredVersion[]> {
  const { store } = services;
  const selection = new Selection(part, input, services);
  const seen = new Set<string>();
  let count = FIRST;
  for (let block = 0; block < selection.blocks; block++) {
    const plain = { type: part.type, where: selection.where(block), sort: [], total: 'none' } as const;
    const query = moment === undefined ? plain : { ...plain, moment };
    for (let after: string | undefined; ;) {
      signal?.throwIfAborted();
      const page = await store.find({ ...query, count, ...(after !== undefined && { after }) }, signal);
      count = countAfter(page.versions);
      const versions: StoredVersion[] = [];
      for (const version of page.versions) {
        const isLater = moment === undefined && version.lastUpdated > instant;
        if (isLater || !(await selection.takes(version, block))) continue;
        seen.add(version.id);
        versions.push(version);
      }
      yield versions;
      after = page.next;
      if (after === undefined) break;
    }
  }
  if (moment !== undefined) return;
  const wanted = signal ?? new AbortController().signal;
  for await (const late of replacedSince(part.type, instant, services, wanted)) {
    const versions: StoredVersion[] = [];
    for (const version of late) {
      if (seen.has(version.id) || !(await selection.takesPast(version, wanted))) continue;
      seen.add(version.id);
      versions.push(version);
    }
    yield versions;
  }
}

/** Returns how many versions the next page may have, if they are as large as those of the last. */
function countAfter(versions: readonly StoredVersion[]): number {
  const size = versions.reduce((sum, { json = '' }) => sum + json.length, 1);
  return Math.max(1, Math.min(MOST, Math.floor((PAGE_ROOM * Math.max(1, versions.length)) / size)));
}

/** The versions that were current at an instant, of what was changed since. */
async function* replacedSince(
  type: string,
  instant: number,
  { store }: Services,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredVersion[]> {
  const query = { types: [type], since: instant + 1, count: FIRST };
  for (let after: string | undefined; ;) {
    signal.throwIfAborted();
    const page = await store.history(after === undefined ? query : { ...query, after }, signal);
    const found: StoredVersion[] = [];
    for (const { id, version } of page.versions) {
      const before = version === 1 ? undefined : await store.readVersion(type, id, version - 1);
      if (before?.json !== undefined && before.lastUpdated <= instant) found.push(before);
    }
    yield found;
    after = page.next;
    if (after === undefined) return;
  }
}
