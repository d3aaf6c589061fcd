import { PAGE_ROOM } from '../../core/answer-room.js';
import type { Services } from '../../core/services.js';
import type { StoredVersion } from '../../store/store.js';
import type { ExportInput, ExportPart } from './export-input.js';
import { Selection } from './selection.js';

/** Versions that are read at a time: at first, and at most. */
const [FIRST, MOST] = [20, 500];

/**
 * Pages of the versions of one type that were current at an instant, each once, whatever is written meanwhile: those that were replaced
 * or deleted before they were reached come last, by the history since then. For work that ends with its request; an export does the
 * same in chunks.
 */
export async function* versionsAt(
  part: ExportPart,
  input: ExportInput,
  services: Services,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly StoredVersion[]> {
  const { store } = services;
  const { transactionTime } = input;
  const selection = new Selection(part, input, services);
  const seen = new Set<string>();
  let count = FIRST;
  for (let block = 0; block < selection.blocks; block++) {
    const query = { type: part.type, where: selection.where(block), sort: [], total: 'none' } as const;
    for (let after: string | undefined; ;) {
      signal?.throwIfAborted();
      const page = await store.find({ ...query, count, ...(after !== undefined && { after }) }, signal);
      count = countAfter(page.versions);
      const versions: StoredVersion[] = [];
      for (const version of page.versions) {
        if (version.lastUpdated > transactionTime || !(await selection.takes(version, block))) continue;
        seen.add(version.id);
        versions.push(version);
      }
      yield versions;
      after = page.next;
      if (after === undefined) break;
    }
  }
  const wanted = signal ?? new AbortController().signal;
  for await (const late of replacedSince(part.type, transactionTime, services, wanted)) {
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
