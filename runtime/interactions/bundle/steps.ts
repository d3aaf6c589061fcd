import { FhirError } from '../../fhir/errors.js';
import type { JsonValue } from '../../fhir/resource.js';
import { countFindable } from '../../indexing/contained.js';
import type { Call } from '../../core/call.js';
import { missingScopes } from '../../search-execution/authorize/authorize.js';
import { resourceToWrite, sendsResource } from '../../core/write/before-write.js';
import { checkContained } from '../../core/write/check-contained.js';
import { splitQuery } from '../../search-execution/criteria.js';
import { planWrite } from '../write/plan-write.js';
import type { WritePlan } from '../../core/write/write-plan.js';
import type { Services } from '../../core/services.js';
import { inEntry, throwFaults } from './entry-error.js';
import { Phase, readEntry, type Entry } from './entry.js';
import { judgeEntries } from './authorize-entries.js';
import type { Link } from './links/links.js';
import { entriesInQuery } from './links/match-url.js';
import { inParallel } from './in-parallel.js';
import { yieldUntil } from '../../fhir/yield-until.js';
import { readDraft, type Draft } from './drafts/step-draft.js';
import { collectPlaceholders, type Placeholders } from './links/placeholders.js';

/** An entry of a transaction that writes. */
export interface Step {
  readonly entry: Entry;
  readonly call: Call;
  readonly links: readonly Link[];
  /** Entries whose placeholders are in the criteria of this one. */
  readonly needs: ReadonlySet<number>;
  /** Absent if placeholders in the criteria have to be replaced first. */
  readonly plan?: WritePlan;
}

/** A transaction, analyzed as far as possible without the store. */
export interface Steps {
  readonly placeholders: Placeholders;
  /** In the order of execution. */
  readonly writes: readonly Step[];
  readonly reads: readonly Entry[];
}

/** Number of plans made concurrently; few of them wait for I/O. */
const WIDTH = 8;

/**
 * Reads all entries of a transaction and checks them as far as possible without the store.
 *
 * @throws FhirError with the faults of all entries
 */
export async function readSteps(values: readonly JsonValue[], bundle: Call, services: Services): Promise<Steps> {
  const yieldIfDue = yieldUntil(bundle.signal);
  const faults = new Map<number, FhirError>();
  const attempt = async <T>(index: number, work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      await yieldIfDue();
      return await work();
    } catch (error) {
      if (!(error instanceof FhirError) || error.status >= 500) throw error;
      faults.set(index, inEntry(index, error));
      return undefined;
    }
  };
  const entries: Entry[] = [];
  for (const [index, value] of values.entries()) {
    const entry = await attempt(index, () => {
      const read = refuseLasting(readEntry(value, index, services), services);
      return services.beforeWrite === undefined ? read : entryToWrite(read, bundle, services);
    });
    if (entry !== undefined) entries.push(entry);
  }
  throwFaults(faults);
  checkContained(
    entries.reduce((sum, { resource }) => sum + (resource === undefined ? 0 : countFindable(resource)), 0),
  );

  const placeholders = collectPlaceholders(entries, services.own);
  const together = togetherWith(entries, placeholders);
  const writing = entries.filter(({ phase }) => phase !== Phase.Read);
  const drafts: Draft[] = [];
  for (const entry of writing) {
    await yieldIfDue();
    drafts.push(await readDraft(entry, { ...bundle, together: together(entry) }, placeholders, services));
  }
  judgeEntries(entries, drafts, bundle, services);
  const steps: Step[] = [];
  try {
    await inParallel(drafts, WIDTH, (draft) =>
      attempt(draft.entry.index, async () => {
        steps.push(await readStep(draft, placeholders, services));
      }),
    );
    throwFaults(faults);
  } catch (error) {
    for (const { plan } of steps) await plan?.drop?.();
    throw error;
  }
  return { placeholders, writes: steps.sort(compareSteps), reads: entries.filter(({ phase }) => phase === Phase.Read) };
}

/** Finds, for each entry, the resource that a reference means among those that the transaction writes. */
function togetherWith(
  entries: readonly Entry[],
  placeholders: Placeholders,
): (from: Entry) => NonNullable<Call['together']> {
  const byIndex = new Map(entries.map((entry) => [entry.index, entry]));
  return (from) => (reference) => {
    try {
      const index = placeholders.find(reference, from) ?? placeholders.findStored(reference, from)?.entry;
      const entry = index === undefined ? undefined : byIndex.get(index);
      return entry !== undefined && sendsResource(entry.route.interaction) ? entry.resource : undefined;
    } catch (error) {
      // An ambiguous name is reported where the links are found.
      if (error instanceof FhirError) return undefined;
      throw error;
    }
  };
}

/**
 * An entry with the resource that the hooks make of its own. They see what clients may write: another entry is refused with all that
 * are, after this.
 *
 * @throws FhirError where a hook refuses
 */
async function entryToWrite(entry: Entry, { principal, trace }: Call, services: Services): Promise<Entry> {
  const { route, resource, conditions } = entry;
  const { interaction, id, type } = route;
  if (resource === undefined || resource.resourceType !== type || !sendsResource(interaction)) return entry;
  if (missingScopes({ ...route, conditions }, principal.access, services) !== undefined) return entry;
  const call = { interaction, id, principal, trace };
  return { ...entry, resource: await resourceToWrite(resource, call, services) };
}

/**
 * Refuses what a transaction could not undo: operations that write, or may, and the removal of history.
 *
 * @throws FhirError `bundle-entry`
 */
function refuseLasting(entry: Entry, { tables }: Services): Entry {
  const { operation, interaction } = entry.route;
  const row = operation === undefined ? undefined : tables.operations.find(({ id }) => id === operation);
  const writes = row?.affectsState === true || row?.parameters.some(({ name }) => name === 'persist') === true;
  if (!writes && !interaction.startsWith('delete-history')) return entry;
  const name = row === undefined ? 'The removal of history' : `$${row.name}`;
  const text = `${name} is not undone when a transaction fails; send it by itself, or in a batch`;
  throw new FhirError('bundle-entry', text);
}

/**
 * Order of execution. Within a phase, conditional entries come after those that they could match, whatever their index;
 * those whose criteria refer to other entries come last.
 */
function compareSteps(a: Step, b: Step): number {
  return (
    a.entry.phase - b.entry.phase ||
    Number(isConditional(a)) - Number(isConditional(b)) ||
    Math.min(a.needs.size, 1) - Math.min(b.needs.size, 1) ||
    a.entry.index - b.entry.index
  );
}

async function readStep({ entry, call, links }: Draft, placeholders: Placeholders, services: Services): Promise<Step> {
  if (call instanceof FhirError) throw call;
  if (links instanceof FhirError) throw links;
  const needs = entriesInQuery(
    call.type,
    paramsOf(call, services),
    (text) => placeholders.find(text, entry),
    services.tables,
  );
  const plan = needs.size > 0 ? undefined : await planOf(call, services);
  return { entry, call, links, needs, ...(plan === undefined ? {} : { plan }) };
}

/** Whether criteria determine the target of a step. */
export function isConditional({ call }: Pick<Step, 'call'>): boolean {
  return call.interaction.startsWith('conditional-') || call.conditions.ifNoneExist !== undefined;
}

/** The search parameters of the criteria that determine the target of a call. */
export function paramsOf(
  { params, conditions: { ifNoneExist } }: Call,
  { own }: Pick<Services, 'own'>,
): URLSearchParams {
  return ifNoneExist === undefined ? params : splitQuery(ifNoneExist, own).params;
}

/** Plans the write of an entry. @throws FhirError for faults of the call that do not depend on the store */
export function planOf(call: Call, services: Services): Promise<WritePlan> {
  const plan = planWrite(call, services);
  if (plan === undefined) throw new Error(`no plan for ${call.interaction}`);
  return plan;
}
