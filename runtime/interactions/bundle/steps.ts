import { FhirError } from '../../fhir/errors.js';
import type { JsonValue } from '../../fhir/resource.js';
import type { Call } from '../call.js';
import { splitQuery } from '../criteria.js';
import { planWrite } from '../plan-write.js';
import type { WritePlan } from '../write-plan.js';
import type { BundleServices } from './bundle-services.js';
import { callOf } from './entry-call.js';
import { criteriaOfReference } from './conditional-reference.js';
import { entryPath, inEntry, throwFaults } from './entry-error.js';
import { Phase, readEntry, type Entry } from './entry.js';
import { linkPlans } from './link-plan.js';
import { findLinks, type Link, type LinkFinder } from './links.js';
import { locateLink } from './locate.js';
import { entriesInQuery } from './match-url.js';
import { inParallel } from './in-parallel.js';
import { paceUntil } from '../../fhir/pace-until.js';
import { findPatchLinks } from './patch-links.js';
import { collectPlaceholders, type Placeholders } from './placeholders.js';

/** An entry of a transaction that writes. */
export interface Step {
  readonly entry: Entry;
  readonly call: Call;
  readonly links: readonly Link[];
  /** Entries whose names stand in the search that decides which resource this one is about. */
  readonly needs: ReadonlySet<number>;
  /** Absent: the search has to be completed first. */
  readonly plan?: WritePlan;
}

/** A transaction, as far as it is known without the store. */
export interface Steps {
  readonly placeholders: Placeholders;
  /** In the order of work. */
  readonly writes: readonly Step[];
  readonly reads: readonly Entry[];
}

/** Plans that are made at a time: few of them wait for anything. */
const WIDTH = 8;

/**
 * Reads all entries of a transaction, and checks what can be checked of them.
 *
 * @throws FhirError with what is wrong with each of them
 */
export async function readSteps(values: readonly JsonValue[], bundle: Call, services: BundleServices): Promise<Steps> {
  const pace = paceUntil(bundle.signal);
  const faults = new Map<number, FhirError>();
  const attempt = async <T>(index: number, work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      await pace();
      return await work();
    } catch (error) {
      if (!(error instanceof FhirError) || error.status >= 500) throw error;
      faults.set(index, inEntry(index, error));
      return undefined;
    }
  };
  const entries: Entry[] = [];
  for (const [index, value] of values.entries()) {
    const entry = await attempt(index, () => readEntry(value, index, bundle.base, services));
    if (entry !== undefined) entries.push(entry);
  }
  throwFaults(faults);

  const placeholders = collectPlaceholders(entries, bundle.base);
  const writing = entries.filter(({ phase }) => phase !== Phase.Read);
  const steps: Step[] = [];
  try {
    await inParallel(writing, WIDTH, (entry) =>
      attempt(entry.index, async () => {
        steps.push(await readStep(entry, bundle, placeholders, services));
      }),
    );
    throwFaults(faults);
  } catch (error) {
    for (const { plan } of steps) await plan?.drop?.();
    throw error;
  }
  return { placeholders, writes: steps.sort(compareSteps), reads: entries.filter(({ phase }) => phase === Phase.Read) };
}

/**
 * Within a phase searches come after all that they could find, wherever that stands, and of these last those that name
 * other entries.
 */
function compareSteps(a: Step, b: Step): number {
  return (
    a.entry.phase - b.entry.phase ||
    Number(isConditional(a)) - Number(isConditional(b)) ||
    Math.min(a.needs.size, 1) - Math.min(b.needs.size, 1) ||
    a.entry.index - b.entry.index
  );
}

async function readStep(
  entry: Entry,
  bundle: Call,
  placeholders: Placeholders,
  services: BundleServices,
): Promise<Step> {
  const call = callOf(entry, bundle);
  const needs = entriesInQuery(call.type, paramsOf(call), (text) => placeholders.find(text, entry), services.tables);
  const plan = needs.size > 0 ? undefined : await planOf(call, services);
  try {
    const links = await linksOf(entry, call, placeholders, services);
    return { entry, call, links, needs, ...(plan === undefined ? {} : { plan }) };
  } catch (error) {
    await plan?.drop?.();
    throw error;
  }
}

/** Whether a search decides which resource a step is about. */
export function isConditional({ call }: Pick<Step, 'call'>): boolean {
  return call.interaction.startsWith('conditional-') || call.conditions.ifNoneExist !== undefined;
}

/** The parameters of the search that decides which resource a call is about. */
export function paramsOf({ params, conditions: { ifNoneExist }, base }: Call): URLSearchParams {
  return ifNoneExist === undefined ? params : splitQuery(ifNoneExist, base).params;
}

/** @throws FhirError for what is wrong with the call by itself */
export function planOf(call: Call, services: BundleServices): Promise<WritePlan> {
  const plan = planWrite(call, services);
  if (plan === undefined) throw new Error(`no plan for ${call.interaction}`);
  return plan;
}

async function linksOf(
  entry: Entry,
  { base, patch, type }: Call,
  placeholders: Placeholders,
  { tables }: BundleServices,
): Promise<readonly Link[]> {
  const { resource } = entry;
  if (resource === undefined || entry.phase === Phase.Delete) return [];
  const place = (holder: object, key: string | number): string =>
    `${entryPath(entry.index)}.resource${locateLink(resource, holder, key)}`;
  const finder: LinkFinder = {
    plans: linkPlans(tables),
    find: (text) => placeholders.find(text, entry),
    criteriaOf: (text, holder, key) => criteriaOfReference(text, base, tables.resourceTypes, () => place(holder, key)),
    onUnknown: (text, holder, key) => {
      throw unknownPlaceholder(text, place(holder, key));
    },
  };
  return patch === undefined ? findLinks(resource, finder) : findPatchLinks(patch, type ?? '', finder);
}

function unknownPlaceholder(text: string, expression: string): FhirError {
  const shown = JSON.stringify(text.length > 128 ? `${text.slice(0, 128)}…` : text);
  return new FhirError('bundle-placeholder', `No entry that writes has the fullUrl ${shown}`, { expression });
}
