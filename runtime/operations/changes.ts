import { neededOn } from '../auth/access/needed-scopes.js';
import { scopeMissing } from '../auth/access/refuse.js';
import { visibleTypes } from '../auth/access/visible.js';
import { isJudged, visibleVersions } from '../core/access/visibility.js';
import type { Call, Reply } from '../core/call.js';
import type { PageBinding, PageState } from '../core/search-services/page-links/page-link.js';
import { writeLink } from '../search-execution/pages/page-walk.js';
import { renderPage } from '../search-execution/present/render-page.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import { writeHistoryBundle } from '../interactions/history/history-bundle.js';
import { dateInterval } from '../indexing/values/date-interval.js';
import type { StoredVersion } from '../store/store.js';
import type { LoggedVersion } from '../store/version-log.js';
import { readArguments, valueOf, valuesOf, type Arguments } from './common/arguments.js';

/** Versions in an answer, where the client does not say, and at most. */
const COUNT = { usual: 100, most: 1000 };

/** Greatest `wait`, in seconds. */
const MOST_WAIT = 30;

/** Versions of the log that one answer goes through at most: where most are hidden it comes earlier. */
const LOOKED = 10_000;

/** Versions of the log that are read together, contents that are, and characters of these in one answer. */
const PIECE = 100;
const TOGETHER = 4;
const MOST_TEXT = 16 * 1024 * 1024;

/** What a feed is asked for. */
interface Feed {
  /** The types that it shows, by their names; undefined: all that the token covers. */
  readonly named: readonly string[] | undefined;
  readonly count: number;
  /** The number in the log after which it goes on. */
  readonly after: number;
}

/** A piece of the feed. */
interface FeedPage {
  readonly versions: readonly StoredVersion[];
  /** Where the next one begins. */
  readonly next: number;
  /** Whether there may be more already. */
  readonly isCut: boolean;
}

/**
 * `[base]/$changes` and `[base]/[type]/$changes`: versions in the order of their commits, oldest first, each once. What a history cannot
 * promise: a client that follows `next` misses nothing, also while others write. definitions/operations/changes.json
 *
 * @throws FhirError `feed-expired` where the log does not go back so far, `page-invalid` for a cursor that is none
 */
export async function changes(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const feed = await readFeed(found, call, services);
  const types = typesOf(feed.named, call, services);
  const wait = call.isEntry === true ? 0 : Math.min(MOST_WAIT, Number(valueOf(found, 'wait') ?? 0)) * 1000;
  const page = await pageWithin(wait, { ...feed, types }, call, services);
  const query = new URLSearchParams({ _count: String(feed.count) });
  for (const type of feed.named ?? []) query.append('_type', type);
  const state: PageState = { query: query.toString(), after: page.next.toString(36) };
  const token = await services.feeds.seal(bindingOf(call), state);
  const path = call.type === undefined ? '$changes' : `${call.type}/$changes`;
  const json = writeHistoryBundle({
    page: { versions: page.versions, complete: 0 },
    base: call.base,
    self: writeLink(call, path, [...call.params].filter(([name]) => PARAMETERS.has(name))), // prettier-ignore
    next: writeLink(call, path, [['_cursor', token]]),
    isTotalOnly: false,
    texts: await renderPage(page.versions, () => undefined, services),
  });
  return { status: 200, json };
}

const PARAMETERS: ReadonlySet<string> = new Set(['_cursor', '_since', '_type', '_count', 'wait']);

/** A cursor is valid for its feed alone; it belongs to no client. */
function bindingOf({ interaction, type }: Call): PageBinding {
  return { interaction, member: '$changes', ...(type !== undefined && { type }) };
}

async function readFeed(found: Arguments, call: Call, { feeds, zone, store: { log } }: Services): Promise<Feed> {
  const [cursor, since] = [valueOf(found, '_cursor'), valueOf(found, '_since')];
  const named = valuesOf(found, '_type').flatMap((text) => String(text).split(','));
  const count = valueOf(found, '_count');
  const asked = count === undefined ? undefined : Math.min(Number(count), COUNT.most);
  if (cursor !== undefined) {
    if (since !== undefined || named.length > 0) {
      throw new FhirError('parameter-invalid', 'A cursor is complete: it takes neither _since nor _type');
    }
    const { query, after } = await feeds.open(bindingOf(call), String(cursor));
    const kept = new URLSearchParams(query);
    const types = kept.getAll('_type');
    const number = Number.parseInt(after, 36);
    return {
      named: types.length === 0 ? undefined : types,
      count: asked ?? Number(kept.get('_count')),
      after: number,
    };
  }
  const instant = since === undefined ? undefined : dateInterval(String(since), zone)?.low;
  const after = instant === undefined ? await log.end() : await log.placeAt(instant);
  if (after === undefined) throw new FhirError('feed-expired');
  return { named: named.length === 0 ? undefined : named, count: asked ?? COUNT.usual, after };
}

/** The types that are shown. @throws FhirError where one is named that the token does not show, or that is unknown */
function typesOf(named: readonly string[] | undefined, { type, principal }: Call, { tables }: Services): Set<string> {
  const { access } = principal;
  const wanted = type === undefined ? named : [type];
  for (const each of wanted ?? []) {
    if (!tables.resourceTypes.includes(each)) {
      throw new FhirError('parameter-invalid', `The parameter "_type" names no resource type: ${each.slice(0, 64)}`);
    }
    if (access.on(each, 'rs') === 'nothing') throw scopeMissing(neededOn(each, 'rs'), access);
  }
  return new Set(visibleTypes(wanted ?? tables.resourceTypes, (each) => access.on(each, 'rs')));
}

type FeedQuery = Feed & { readonly types: ReadonlySet<string> };

/** A page as soon as it has something, or an empty one after so many milliseconds, or when the server is about to end. */
async function pageWithin(wait: number, query: FeedQuery, call: Call, services: Services): Promise<FeedPage> {
  const deadline = performance.now() + wait;
  let after = query.after;
  let wake: (() => void) | undefined;
  let isNews: boolean;
  const stop = services.store.log.watch(() => {
    isNews = true;
    wake?.();
  });
  const onAbort = (): void => wake?.();
  const signals = [call.signal, services.draining];
  for (const signal of signals) signal?.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      isNews = false;
      const page = await readPage({ ...query, after }, call, services);
      const left = deadline - performance.now();
      if (page.versions.length > 0 || left <= 0 || services.draining.aborted) return page;
      call.signal?.throwIfAborted();
      after = page.next;
      if (page.isCut || isNews) continue;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
        timer = setTimeout(resolve, left);
      });
      clearTimeout(timer);
    }
  } finally {
    stop();
    for (const signal of signals) signal?.removeEventListener('abort', onAbort);
  }
}

/** Versions that the client may see, as far as they are there. */
async function readPage({ after, count, types }: FeedQuery, call: Call, services: Services): Promise<FeedPage> {
  const { store } = services;
  const versions: StoredVersion[] = [];
  let next = after;
  let size = 0;
  for (let looked = 0; looked < LOOKED;) {
    call.signal?.throwIfAborted();
    const some = await store.log.read(next, Math.min(PIECE, Math.max(count, 20)));
    if (some === undefined) throw new FhirError('feed-expired');
    if (some.length === 0) return { versions, next, isCut: false };
    const wanted = some.filter(({ type }) => types.has(type));
    const read = await readContents(wanted.slice(0, count - versions.length + 1), MOST_TEXT - size, services);
    // The next round begins with the first that was not read.
    const rest = wanted[read.length];
    const shown = await visible(read, call, services);
    for (const logged of some) {
      if (logged === rest) break;
      looked++;
      const version = shown.get(logged);
      if (version !== undefined) {
        if (versions.length === count || size > MOST_TEXT) return { versions, next, isCut: true };
        versions.push(version);
        size += version.json?.length ?? 0;
      }
      next = logged.seq;
    }
  }
  return { versions, next, isCut: true };
}

/** A version of the log with its content; undefined: it was expunged meanwhile. */
type ReadVersion = readonly [LoggedVersion, StoredVersion | undefined];

/** The contents of the first of some versions: of one at least, and of so many that they have about so many characters. */
async function readContents(
  logged: readonly LoggedVersion[],
  most: number,
  { store }: Services,
): Promise<readonly ReadVersion[]> {
  const read: ReadVersion[] = [];
  for (let size = 0; read.length < logged.length && (size <= most || read.length === 0);) {
    const some = logged.slice(read.length, read.length + TOGETHER);
    const versions = await Promise.all(some.map((each) => store.readVersion(each.type, each.id, each.version)));
    for (const [i, each] of some.entries()) read.push([each, versions[i]]);
    size += versions.reduce((sum, version) => sum + (version?.json?.length ?? 0), 0);
  }
  return read;
}

/** Versions of the log with their contents, as far as the token shows them. */
async function visible(
  read: readonly ReadVersion[],
  call: Call,
  services: Services,
): Promise<ReadonlyMap<LoggedVersion, StoredVersion>> {
  const { access } = call.principal;
  const there = read.flatMap(([each, version]) => (version === undefined ? [] : [[each, version] as const]));
  const reach = (type: string) => access.on(type, 'rs');
  const isPlain = there.every(([{ type }]) => !isJudged(type, reach(type)));
  if (isPlain) return new Map(there);
  const seen = new Set(await visibleVersions(there.map(([, version]) => version), reach, call, services)); // prettier-ignore
  return new Map(there.filter(([, version]) => seen.has(version)));
}
