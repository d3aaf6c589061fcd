import { FhirError } from '../../../fhir/errors.js';
import { matchCriteria, readCriteria, splitQuery, type CriteriaSource } from '../../../search-execution/criteria.js';
import type { WriteView } from '../../../core/write/write-plan.js';
import type { Services } from '../../../core/services.js';
import { typeOfCriteria } from './conditional-reference.js';
import { entryPath, inEntry, throwFaults } from '../entry-error.js';
import { locateLink } from './locate.js';
import { replaceInQuery } from './match-url.js';
import { inParallel } from '../in-parallel.js';
import type { Step } from '../steps.js';
import { quote } from '../../../fhir/quote.js';

/** Number of searches executed concurrently. */
const WIDTH = 16;

/** The first occurrence of a conditional reference. */
interface Place {
  readonly step: Step;
  readonly holder: object;
  readonly key: string | number;
  /** The reference that was sent. */
  readonly text: string;
}

/** The resource that a conditional reference refers to. */
export interface Referred {
  /** `Type/id`. */
  readonly name: string;
  /** Before the transaction, or as the transaction will make it. */
  readonly version: number;
}

/** Conditional references of a transaction, each once. https://hl7.org/fhir/R5/http.html#trules */
export function collectCriteria(steps: readonly Step[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const step of steps) {
    for (const { to, holder, key, text } of step.links) {
      if ('criteria' in to && !places.has(to.criteria)) places.set(to.criteria, { step, holder, key, text });
    }
  }
  return places;
}

/**
 * The one resource that matches each of the criteria, in the store with the changes of the Bundle.
 *
 * @param nameOf the name of the resource that a placeholder stands for
 * @throws FhirError with an issue at the first reference of each of the criteria that fail: `not-found` if no resource
 * matches, `precondition-failed` if several do
 */
export async function resolveReferences(
  criteria: ReadonlyMap<string, Place>,
  nameOf: (text: string, step: Step) => string | undefined,
  view: WriteView,
  source: CriteriaSource,
  services: Services,
): Promise<ReadonlyMap<string, Referred>> {
  const names = new Map<string, Referred>();
  const faults = new Map<Place, FhirError>();
  await inParallel([...criteria], WIDTH, async ([text, place]) => {
    try {
      names.set(text, await resolve(text, place.text, (part) => nameOf(part, place.step), view, source, services));
    } catch (error) {
      if (!(error instanceof FhirError)) throw error;
      const fault = atPlace(error, place);
      if (error.status >= 500) throw fault;
      faults.set(place, fault);
    }
  });
  throwFaults(
    new Map(
      [...criteria.values()].sort(byEntry).flatMap((place, i) => {
        const fault = faults.get(place);
        return fault === undefined ? [] : [[i, fault] as const];
      }),
    ),
  );
  return names;
}

function byEntry(a: Place, b: Place): number {
  return a.step.entry.index - b.step.entry.index;
}

async function resolve(
  text: string,
  sent: string,
  nameOf: (part: string) => string | undefined,
  view: WriteView,
  source: CriteriaSource,
  services: Services,
): Promise<Referred> {
  const type = typeOfCriteria(text);
  const { params } = splitQuery(text, services.own);
  const criteria = await readCriteria(type, replaceInQuery(type, params, nameOf, services.tables), source, services);
  const { found } = await matchCriteria(criteria, view, 2);
  const [only, second] = found;
  const shown = quote(sent);
  if (only === undefined) throw new FhirError('not-found', `The reference ${shown} finds no resource`);
  if (second !== undefined) {
    const text = `The reference ${shown} finds several resources; it has to find one`;
    throw new FhirError('precondition-failed', text, { issue: 'multiple-matches' });
  }
  return { name: `${type}/${only.id}`, version: only.version };
}

function atPlace(error: FhirError, { step: { entry }, holder, key }: Place): FhirError {
  const { resource } = entry;
  const path = resource === undefined ? '' : locateLink(resource, holder, key);
  const expression = `${entryPath(entry.index)}.resource${path}`;
  const [first, ...others] = error.issues;
  return inEntry(entry.index, FhirError.of([{ ...first, expression }, ...others]));
}
