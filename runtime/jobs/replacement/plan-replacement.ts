import { neededOn, uniteNeeded, type NeededScopes } from '../../auth/access/needed-scopes.js';
import { constraintsMissed, scopeMissing } from '../../auth/access/refuse.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { neededFor } from '../../search-execution/authorize/authorize.js';
import { checkContent } from '../../core/access/checked-view.js';
import { isVisible } from '../../core/access/visibility.js';
import type { Call } from '../../core/call.js';
import { readStored } from '../../core/read-stored.js';
import { hideTargets } from '../../core/references/hidden-targets.js';
import type { Services } from '../../core/services.js';
import { contentToStore } from '../../core/write/content-to-store.js';
import { composePut } from '../../core/write/compose-change.js';
import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import type { ReferenceWalk } from '../../path/reference-walk.js';
import type { Put, StoredVersion } from '../../store/store.js';
import { checkReferenceIndexes, findReferrers, typesStored } from '../../core/references/find-referrers.js';
import { renameReferences, type Renaming } from './rename-references.js';

/** The letter that a token needs on what an operation changes. */
const UPDATE = 'u';

/** Limits of a replacement that a client waits for. */
export interface ReplacementBounds {
  /** Greatest number of resources that refer. */
  readonly resources: number;
  /** Characters that they may have together. */
  readonly size: number;
}

/**
 * Plans the replacement of references: a change for each resource that refers, however often it does. Neither of the two resources
 * is among them, nor what a token may change in no case unless it was given for just that: records of what happened.
 *
 * @throws FhirError `scope-missing` where the token may not update all of them, `precondition-failed` beyond the bounds,
 * `index-not-current`
 */
export async function planReplacement(
  renaming: Renaming,
  walk: ReferenceWalk,
  bounds: ReplacementBounds,
  call: Call,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<readonly Put[]> {
  const changes: Put[] = [];
  const pace = yieldToEventLoop();
  let size = 0;
  for (const type of await typesToSearch(renaming, walk, call, services, signal)) {
    for await (const version of findReferrers(type, renaming.from, services, signal)) {
      await pace();
      const content = await renamed(version, renaming, walk, services);
      if (content === undefined) continue;
      size += version.json?.length ?? 0;
      if (changes.length >= bounds.resources || size > bounds.size) throw tooMany(bounds);
      changes.push(await changeOf(version, content, call, services));
    }
  }
  return changes;
}

/**
 * The change that gives a stored resource another content. The token has to see what is there, and may write what comes.
 *
 * @throws FhirError `scope-missing`; it names no resource, for the token need not see this one
 */
export async function changeOf(
  version: StoredVersion,
  content: Resource,
  call: Call,
  services: Services,
): Promise<Put> {
  await checkReach(version, call, services);
  // Without its text the current version is not compared again: the content is known to be another.
  const { json: _json, ...current } = version;
  // What was dangling before may stay so.
  const before =
    services.integrity && version.json !== undefined ? await readStored(version.json, services) : undefined;
  const checked = await contentToStore(content, { id: version.id, current: version }, call, services);
  const put = await composePut(checked, version.id, current, services, { tags: 'as-sent', before });
  if (put === undefined) throw new Error('a change without a content');
  if (call.principal.access !== OPEN_ACCESS) checkContent(put, { ...call, interaction: 'update' });
  const [shown = put] = await hideTargets([put], call, services);
  return shown;
}

/** @throws FhirError `scope-missing` where a version lies outside of what the token may update */
export async function checkReach(version: StoredVersion, call: Call, services: Services): Promise<void> {
  if (await isVisible(version, UPDATE, call, services)) return;
  throw constraintsMissed('What is to be written', neededOn(version.type, UPDATE), call.principal.scope);
}

/** @throws FhirError `scope-missing` with all scopes that the changes of these types need */
export function checkTypes(types: Iterable<string>, call: Call, services: Services): void {
  const missing = missingFor(types, call, services);
  if (missing !== undefined) throw scopeMissing(missing, call.principal.access);
}

/**
 * The types that may refer, in the order of their names, and of which the token may update some resources.
 *
 * @throws FhirError `scope-missing` where a resource of another type refers, `index-not-current`
 */
export async function typesToSearch(
  renaming: Renaming,
  walk: ReferenceWalk,
  call: Call,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const types = (await typesStored(services)).filter((type) => !isRecord(type, services));
  await checkReferenceIndexes(types, services);
  const { access } = call.principal;
  const closed = types.filter((type) => access.on(type, UPDATE) === 'nothing');
  const referring: string[] = [];
  for (const type of closed) {
    for await (const version of findReferrers(type, renaming.from, services, signal)) {
      if ((await renamed(version, renaming, walk, services)) === undefined) continue;
      referring.push(type);
      break;
    }
  }
  if (referring.length > 0) checkTypes(referring, call, services);
  return types.filter((type) => !closed.includes(type));
}

/** Whether the token may update all resources of these types, so that none has to be looked at for that. */
export function updatesAll(types: readonly string[], { principal: { access } }: Call): boolean {
  return types.every((type) => access.on(type, UPDATE) === 'everything');
}

function missingFor(types: Iterable<string>, call: Call, services: Services): NeededScopes | undefined {
  const { access } = call.principal;
  if (access === OPEN_ACCESS) return undefined;
  const missing = neededFor(call, { touched: [...types] }, access, services.scopeRows);
  return missing && uniteNeeded([missing]);
}

/** The content with its references replaced; undefined: it has none, or is one of the two resources themselves. */
export async function renamed(
  version: StoredVersion,
  renaming: Renaming,
  walk: ReferenceWalk,
  services: Services,
): Promise<Resource | undefined> {
  const { type, id, json } = version;
  const { from, to } = renaming;
  if (json === undefined || (type === from.type && (id === from.id || id === to.id))) return undefined;
  const content = await readStored(json, services);
  return renameReferences(content, renaming, walk) === 0 ? undefined : content;
}

/** Whether resources of a type record what happened, so that no wide scope gives their update. definitions/policy/scopes.json, "withheld" */
function isRecord(type: string, { tables }: Services): boolean {
  return tables.scopes.withheld?.some((each) => each.type === type && each.letters.includes(UPDATE)) === true;
}

function tooMany({ resources, size }: ReplacementBounds): FhirError {
  const text =
    `More than ${resources} resources refer to the source, or they have more than ${size} characters together; ` +
    'nothing was changed. With the header Prefer: respond-async a job does it';
  return new FhirError('precondition-failed', text, { issue: 'too-costly' });
}
