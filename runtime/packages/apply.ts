import { PACKAGE_TAG } from '../core/definitions/guide-claims.js';
import { STORED_DEPTH } from '../core/read-stored.js';
import { composePut, type ComposingServices } from '../core/write/compose-change.js';
import { isObject, type JsonObject, type Resource } from '../fhir/resource.js';
import { yieldToEventLoop } from '../fhir/yield-to-event-loop.js';
import { readJson } from '../format/read-json.js';
import { SEARCH_PARAMETER } from '../indexing/parameters/stored-parameter.js';
import { expecting, VersionConflict, type Change, type Store, type StoredVersion } from '../store/store.js';
import { countContained, cutByMembers } from '../store/write-contained.js';
import type { Plan, PlannedWrite } from './plan.js';
import { readContents, type PackageContents, type PackageReader } from './read-package.js';
import { pieces } from './stored-definitions.js';

/** Parts that a plan is carried out with. */
export interface ApplyParts extends Pick<ComposingServices, 'extract' | 'refit' | 'limits'> {
  readonly store: Pick<Store, 'readMany' | 'write'>;
  readonly reader: Pick<PackageReader, 'limits' | 'nesting'>;
  readonly signal: AbortSignal;
  /** Called when the SearchParameters are in effect here, before anything else is written. */
  readonly afterParameters: () => Promise<void>;
}

/** Resources of one write, and bytes of their contents. */
const BATCH = { resources: 100, bytes: 2 * 1024 * 1024 };

/**
 * Writes a plan, in batches. SearchParameters come first, in one write with the deletions of others, so that one takes the place of the
 * other, and what follows is indexed by them.
 *
 * @throws VersionConflict where a client wrote meanwhile; what was done stays, and a new plan is made of it
 */
export async function applyPlan(plan: Plan, packages: readonly PackageContents[], parts: ApplyParts): Promise<void> {
  const isParameter = ({ type }: { readonly type: string }): boolean => type === SEARCH_PARAMETER;
  const parameters: Ready[] = [];
  const own = plan.writes.filter(isParameter);
  for (const contents of packages)
    for await (const { ready } of contentsOf(own, contents, parts)) parameters.push(ready);
  const retired = plan.deletions.filter(isParameter);
  await writeBatch(parameters, retired, parts);
  if (parameters.length + retired.length > 0) await parts.afterParameters();
  const others = plan.writes.filter((write) => !isParameter(write));
  for (const contents of packages) {
    let batch: Ready[] = [];
    let bytes = 0;
    for await (const { ready, size } of contentsOf(others, contents, parts)) {
      batch.push(ready);
      bytes += size;
      if (batch.length < BATCH.resources && bytes < BATCH.bytes) continue;
      await writeBatch(batch, [], parts);
      [batch, bytes] = [[], 0];
    }
    await writeBatch(batch, [], parts);
  }
  const tagged = plan.writes.filter(({ from }) => from === undefined);
  for (const some of pieces(tagged))
    await writeBatch(
      some.map((write) => ({ write })),
      [],
      parts,
    );
  for (const some of pieces(plan.deletions.filter((each) => !isParameter(each)))) await writeBatch([], some, parts);
}

/** The writes that a package has the contents of. */
async function* contentsOf(
  writes: readonly PlannedWrite[],
  { name, source }: PackageContents,
  { reader }: ApplyParts,
): AsyncGenerator<{ readonly ready: Ready; readonly size: number }> {
  const byPath = new Map(
    writes.flatMap((write) => (write.from?.package === name ? [[write.from.resource.path, write] as const] : [])),
  );
  if (byPath.size === 0) return;
  for await (const { path, resource, size } of readContents(source, reader, (each) => byPath.has(each)))
    yield { ready: { write: byPath.get(path)!, content: resource }, size };
}

/** A write with its content; without it that of the store. */
interface Ready {
  readonly write: PlannedWrite;
  readonly content?: Resource;
}

async function writeBatch(
  batch: readonly Ready[],
  deletions: Plan['deletions'],
  { store, signal, ...composing }: Omit<ApplyParts, 'afterParameters'>,
): Promise<void> {
  if (batch.length + deletions.length === 0) return;
  signal.throwIfAborted();
  const pace = yieldToEventLoop();
  const current = await store.readMany([...batch.map(({ write }) => write), ...deletions]);
  const changes: Change[] = [];
  for (const [i, { write, content }] of batch.entries()) {
    const before = current[i];
    refuseChanged(write, write.before?.number ?? 0, before);
    const stored = before?.json === undefined ? undefined : (readJson(before.json, STORED_DEPTH) as Resource);
    const sent = withTags(content ?? stored!, stored, write.owners);
    const change = await composePut(sent, write.id, before, composing, { tags: 'as-sent', before: stored });
    if (change !== undefined) changes.push(change);
    await pace();
  }
  for (const [i, each] of deletions.entries()) {
    const before = current[batch.length + i];
    refuseChanged(each, each.number, before);
    changes.push({ type: each.type, id: each.id, ...expecting(before) });
  }
  for (const piece of cutByMembers(changes, (change) => countContained([change]))) await store.write(piece);
}

/** @param number version that lives, as the plan has it; 0: none does */
function refuseChanged(
  key: { readonly type: string; readonly id: string },
  number: number,
  now: StoredVersion | undefined,
): void {
  const lives = now?.json === undefined ? 0 : now.version;
  if (lives !== number) throw new VersionConflict(key.type, key.id, number, lives);
}

/** The resource with the tags that it comes with, those that others gave it, and one for each package that it is of. */
function withTags(resource: Resource, stored: Resource | undefined, owners: readonly string[]): Resource {
  const kept = [...codingsOf(resource, 'tag'), ...codingsOf(stored, 'tag')].filter(
    ({ system }) => system !== PACKAGE_TAG,
  );
  const tag = [...unique(kept), ...owners.map((code) => ({ system: PACKAGE_TAG, code }))];
  const security = unique([...codingsOf(resource, 'security'), ...codingsOf(stored, 'security')]);
  const meta = isObject(resource['meta']) ? resource['meta'] : {};
  return { ...resource, meta: { ...meta, ...(security.length > 0 && { security }), tag } } as Resource;
}

function codingsOf(resource: Resource | undefined, list: string): readonly JsonObject[] {
  const meta = resource?.['meta'];
  const found = isObject(meta) ? meta[list] : undefined;
  return Array.isArray(found) ? found.filter(isObject) : [];
}

function unique(codings: readonly JsonObject[]): JsonObject[] {
  return [...new Map(codings.map((each) => [JSON.stringify([each['system'], each['code']]), each])).values()];
}

/** Counts what a plan writes. */
export function countPlan({ writes, deletions }: Plan): {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
} {
  const added = writes.filter(({ before }) => before === undefined).length;
  const changed = writes.filter(({ before, from }) => before !== undefined && from !== undefined).length;
  return { added, changed, removed: deletions.length };
}
