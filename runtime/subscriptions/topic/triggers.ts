import type { JsonObject } from '../../fhir/resource.js';
import type { Faults } from '../faults.js';
import { objectsOf, textOf, textsOf } from '../faults.js';
import type { FocusTypes, SearchCriteria, TriggerInteraction, TriggerPlan } from '../plan.js';
import { compileCriteriaPath } from './criteria-path.js';
import { readFocusTypes } from './focus-types.js';
import { readSearchCriteria, type CompileServices } from './read-criteria.js';
import type { Services } from '../../core/services.js';

/** Services that triggers are compiled with. */
export type TriggerServices = CompileServices & { readonly tables: Services['tables'] };

const INTERACTIONS: readonly TriggerInteraction[] = ['create', 'update', 'delete'];

/** Greatest number of triggers, filters or shapes of one topic. */
export const MOST_PARTS = 100;

/** Compiles `resourceTrigger` of a topic; those with faults are left out. https://hl7.org/fhir/R5/subscriptiontopic-definitions.html#SubscriptionTopic.resourceTrigger */
export function compileTriggers(topic: JsonObject, faults: Faults, services: TriggerServices): readonly TriggerPlan[] {
  const triggers = objectsOf(topic['resourceTrigger']);
  if (triggers.length === 0) faults.add('resourceTrigger', 'is missing: nothing would fire the topic');
  if (triggers.length > MOST_PARTS) faults.add('resourceTrigger', `may be there ${MOST_PARTS} times`);
  return triggers.slice(0, MOST_PARTS).flatMap((trigger, i) => {
    const plan = compileTrigger(trigger, `resourceTrigger[${i}]`, faults, services);
    return plan === undefined ? [] : [plan];
  });
}

function compileTrigger(
  trigger: JsonObject,
  at: string,
  faults: Faults,
  services: TriggerServices,
): TriggerPlan | undefined {
  const focus = readFocusTypes(textOf(trigger['resource']) ?? '', services.tables);
  const interactions = readInteractions(trigger, at, faults);
  if (typeof focus === 'string') {
    faults.add(`${at}.resource`, focus, 'not-supported');
    return undefined;
  }
  const query = compileQuery(trigger, focus, at, faults, services);
  const text = textOf(trigger['fhirPathCriteria']);
  const evaluate =
    text === undefined
      ? undefined
      : faults.read(`${at}.fhirPathCriteria`, () => compileCriteriaPath(text, focus.name, services.tables));
  const path = text === undefined || evaluate === undefined ? {} : { path: { text, evaluate } };
  return { focus, interactions, ...(query !== undefined && { query }), ...path };
}

function readInteractions(trigger: JsonObject, at: string, faults: Faults): ReadonlySet<TriggerInteraction> {
  const named = textsOf(trigger['supportedInteraction']);
  const read = named.map((name, i) => {
    const found = INTERACTIONS.find((each) => each === name);
    if (found === undefined) faults.add(`${at}.supportedInteraction[${i}]`, `is ${INTERACTIONS.join(', ')}`);
    return found;
  });
  return new Set(named.length === 0 ? INTERACTIONS : read.filter((each) => each !== undefined));
}

function compileQuery(
  { queryCriteria: query }: JsonObject,
  focus: FocusTypes,
  trigger: string,
  faults: Faults,
  services: TriggerServices,
): TriggerPlan['query'] {
  if (query === undefined) return undefined;
  const at = `${trigger}.queryCriteria`;
  const [criteria = {}] = objectsOf([query]);
  const read = (name: 'previous' | 'current'): SearchCriteria | undefined => {
    const text = textOf(criteria[name]);
    return text === undefined
      ? undefined
      : faults.read(`${at}.${name}`, () => readSearchCriteria(text, focus, services));
  };
  if (criteria['previous'] === undefined && criteria['current'] === undefined) {
    faults.add(at, 'has neither previous nor current: give one of them, or leave queryCriteria out');
  }
  const previous = read('previous');
  const current = read('current');
  const resultForCreate = readResult(criteria, 'resultForCreate', at, faults);
  const resultForDelete = readResult(criteria, 'resultForDelete', at, faults);
  return {
    ...(previous !== undefined && { previous }),
    ...(current !== undefined && { current }),
    ...(resultForCreate !== undefined && { resultForCreate }),
    ...(resultForDelete !== undefined && { resultForDelete }),
    requireBoth: criteria['requireBoth'] === true,
  };
}

/** https://hl7.org/fhir/R5/valueset-subscriptiontopic-cr-behavior.html */
function readResult(criteria: JsonObject, name: string, at: string, faults: Faults): boolean | undefined {
  const text = criteria[name];
  if (text === undefined) return undefined;
  if (text !== 'test-passes' && text !== 'test-fails') faults.add(`${at}.${name}`, 'is test-passes or test-fails');
  return text === 'test-passes';
}
