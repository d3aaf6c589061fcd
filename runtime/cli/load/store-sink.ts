import { OPERATOR } from '../../auth/scopes/principal.js';
import { FhirError } from '../../fhir/errors.js';
import { newId } from '../../fhir/id.js';
import type { Limits } from '../../fhir/limits.js';
import type { JsonValue, Resource } from '../../fhir/resource.js';
import { BINARY } from '../../core/binary/binary-content.js';
import { takeBinary, writeBinary } from '../../core/binary/binary-store.js';
import { composePut } from '../../core/write/compose-change.js';
import type { Services } from '../../core/services.js';
import { validateWritten, type WriteValidation } from '../../core/write/validate-written.js';
import { writeCurrent } from '../../core/write/write-current.js';
import { SEARCH_PARAMETER } from '../../indexing/parameters/stored-parameter.js';
import { VersionConflict, type Put, type StoredVersion } from '../../store/store.js';
import { countContained, cutByMembers } from '../../store/write-contained.js';
import { formatSize } from '../../config/setting.js';
import type { LoadItem } from './items.js';
import { goesUnderOtherId, refuseOther, underOtherId, type Present } from './packages.js';
import { executed } from './executed.js';
import type { LoadChecks } from './refuse-live-subscriptions.js';
import { LoadStopped, type Outcome, type Sink } from './sink.js';

/** Services and limits that a store is loaded with. */
export interface LoadCore
  extends WriteValidation, Pick<Services, 'extract' | 'refit'>, Partial<Pick<Services, 'integrity'>> {
  readonly limits: Limits;
  /** Executes a batch or transaction; the JSON text of the answer. Absent: they are refused. */
  readonly execute?: (bundle: Resource) => Promise<string>;
  /** Checks topics and Subscriptions; absent: they are stored unchecked. */
  readonly checkSubscriptions?: LoadChecks['check'];
  /** Takes the ids of SearchParameters of packages, which are stored whether they can be in effect or not. */
  readonly storedAnyway?: Set<string>;
}

/** The operator loads, so that references and codes are checked by all that the store has. */
const OWN_CALL = { principal: OPERATOR };

type Done = (item: LoadItem, outcome: Outcome) => void;

interface Named {
  readonly item: LoadItem;
  readonly id: string;
}

interface Step extends Named {
  readonly change: Put;
  readonly outcome: 'created' | 'updated';
}

/**
 * Straight into a store, as PUT does it: a new id where there is none, nothing where the content is there already.
 * Other processes may write meanwhile. While one batch is written the next is made
 * ready. Binaries are written one by one, because their content goes before them.
 */
export function storeSink(core: LoadCore): Sink {
  let writing: Promise<void> = Promise.resolve();
  let writingKeys: ReadonlySet<string> = new Set();

  return {
    keepsOthers: true,
    async take(items, done) {
      const named = items.map((item) => ({ item, id: item.id ?? newId() }));
      const keys = named.map(({ item, id }) => `${item.resource.resourceType}/${id}`);
      // What is being written is what the next change of the same resource has to build on.
      if (keys.some((key) => writingKeys.has(key))) await writing;
      const isBinary = ({ item }: Named): boolean => item.resource.resourceType === BINARY;
      const steps = await compose(
        named.filter((each) => !isBinary(each)),
        core,
        done,
      );
      await Promise.all(named.filter(isBinary).map(({ item, id }) => storeBinary(item, id, core, done)));
      await writing;
      writingKeys = new Set(keys);
      writing = commitAll(steps, core, done);
      writing.catch(() => {}); // thrown by the next take, or by end
    },
    async execute(item, done) {
      await writing;
      await executeItem(item, core, done);
    },
    end: () => writing,
  };
}

async function compose(named: readonly Named[], core: LoadCore, done: Done): Promise<Step[]> {
  const steps: Step[] = [];
  for (const { item, id, before } of await settle(named, core)) {
    if (item.from !== undefined && item.resource.resourceType === SEARCH_PARAMETER) core.storedAnyway?.add(id);
    try {
      const change = await composeChecked(item, id, before, core);
      const outcome = before?.json === undefined ? 'created' : 'updated';
      if (change === undefined) done(item, 'unchanged');
      else steps.push({ item, id, change, outcome });
    } catch (error) {
      done(item, { error });
    }
  }
  return steps;
}

interface Settled extends Named {
  readonly before: StoredVersion | undefined;
}

/** Reads what is there, and gives what a package has under the id of another canonical an id of its own. */
async function settle(all: readonly Named[], { store }: Pick<LoadCore, 'store'>): Promise<readonly Settled[]> {
  const read = async (which: readonly Named[]): Promise<readonly Settled[]> => {
    const current = await store.readMany(which.map(({ item, id }) => ({ type: item.resource.resourceType, id })));
    return which.map((each, i) => ({ ...each, before: current[i] }));
  };
  const own = await read(all);
  const isMovable = ({ item, before }: Settled): boolean => item.from !== undefined && !isSame(item, before);
  const moved = own.filter(isMovable).map(({ item }) => underOtherId(item));
  const others = (await read(moved.map((item) => ({ item, id: item.id ?? '' })))).values();
  return own.map((each) => {
    const other = isMovable(each) ? others.next().value : undefined;
    if (other === undefined) return each;
    return goesUnderOtherId(each.item, presentIn(each.before), presentIn(other.before)) ? other : each;
  });
}

function isSame({ resource }: LoadItem, before: StoredVersion | undefined): boolean {
  return resource['url'] === undefined || resource['url'] === presentIn(before).canonical;
}

/** In as many writes as what is within the resources needs. */
async function commitAll(steps: readonly Step[], core: LoadCore, done: Done): Promise<void> {
  for (const piece of cutByMembers(steps, ({ change }) => countContained([change]))) await commit(piece, core, done);
}

async function commit(steps: readonly Step[], core: LoadCore, done: Done): Promise<void> {
  try {
    await core.store.write(steps.map(({ change }) => change));
  } catch (error) {
    stopIfUnavailable(error);
    if (!(error instanceof FhirError) && !(error instanceof VersionConflict)) throw error;
    if (error instanceof FhirError && error.code === 'transaction-too-large' && steps.length > 1) {
      const half = Math.ceil(steps.length / 2);
      await commit(steps.slice(0, half), core, done);
      return commit(steps.slice(half), core, done);
    }
    // Another process wrote one of them, or one is at fault: each on its own.
    for (const { item, id } of steps) await writeOne(item, id, core, done);
    return;
  }
  for (const { item, outcome } of steps) done(item, outcome);
}

async function writeOne(item: LoadItem, id: string, core: LoadCore, done: Done): Promise<void> {
  try {
    const compose = (current: StoredVersion | undefined): Promise<Put | undefined> =>
      composeChecked(item, id, current, core);
    const { answerTime } = core.limits;
    const { before, after } = await writeCurrent(core.store, item.resource.resourceType, id, compose, { answerTime });
    done(item, after === undefined ? 'unchanged' : before?.json === undefined ? 'created' : 'updated');
  } catch (error) {
    stopIfUnavailable(error);
    done(item, { error });
  }
}

/** A Binary: its content goes into a blob, as over HTTP. */
async function storeBinary(item: LoadItem, id: string, core: LoadCore, done: Done): Promise<void> {
  try {
    const taken = await takeBinary({ ...item.resource, id }, id, OWN_CALL, core);
    const { before, after } = await writeBinary(taken, id, core);
    done(item, after === undefined ? 'unchanged' : before?.json === undefined ? 'created' : 'updated');
  } catch (error) {
    stopIfUnavailable(error);
    done(item, { error });
  }
}

async function executeItem(
  item: LoadItem,
  { execute }: LoadCore,
  done: (item: Pick<LoadItem, 'place'>, outcome: Outcome) => void,
): Promise<void> {
  const began = Date.now();
  try {
    if (execute === undefined) throw new FhirError('not-wired', 'batches and transactions are not executed here');
    for (const { index, outcome } of executed(item, await execute(item.resource), began)) {
      done({ place: `${item.place} entry[${index}]` }, outcome);
    }
  } catch (error) {
    stopIfUnavailable(error);
    done(item, { error });
  }
}

function stopIfUnavailable(error: unknown): void {
  if (!(error instanceof FhirError) || error.code !== 'store-unavailable') return;
  throw new LoadStopped(`the store does not work: ${error.issues[0].diagnostics ?? error.message}`, { cause: error });
}

async function composeChecked(item: LoadItem, id: string, current: StoredVersion | undefined, core: LoadCore) {
  try {
    await validateWritten({ ...item.resource, id }, OWN_CALL, core);
    // Another writer may have put it there meanwhile.
    if (item.from !== undefined) refuseOther(item, id, presentIn(current));
    const change = await composePut(item.resource, id, current, core);
    if (change !== undefined) await core.checkSubscriptions?.(item.resource, id, current, item.from !== undefined);
    if (change !== undefined && change.body.head.length + change.body.tail.length > core.limits.resource) {
      throw new FhirError('resource-too-large');
    }
    return change;
  } catch (error) {
    if (!(error instanceof FhirError) || error.code !== 'resource-too-large') throw error;
    throw new FhirError('resource-too-large', tooLarge(item, core.limits.resource));
  }
}

function presentIn(current: StoredVersion | undefined): Present {
  return { canonical: current?.json === undefined ? undefined : (JSON.parse(current.json) as { url?: JsonValue }).url };
}

/** Says what to do about it, which depends on what it is. */
function tooLarge({ resource, size }: LoadItem, limit: number): string {
  const isCollection = resource.resourceType === 'Bundle' && resource['type'] === 'collection';
  return (
    `too large (file: ${formatSize(size)}): a resource with its index entries may have ${formatSize(limit)}; ` +
    `${isCollection ? 'take this Bundle apart with --bundles apply, or ' : ''}raise the limit with --limits-resource`
  );
}
