import type { JsonObject } from '../../fhir/resource.js';
import { splitPrefix } from '../../search/query/intervals.js';
import { splitAt } from '../../search/parse/parse-value.js';
import { objectsOf, textOf, type Faults } from '../faults.js';
import type { AllowedFilter, FilterPlan, TopicPlan } from '../plan.js';
import { readFocusTypes } from '../topic/focus-types.js';
import { readPairs, type CompileServices } from '../topic/read-criteria.js';
import { quote } from '../../fhir/quote.js';

/** Greatest number of filters of one Subscription. */
const MOST_FILTERS = 100;

/** Compiles `filterBy` of a Subscription by what its topic allows. https://hl7.org/fhir/R5/subscription-definitions.html#Subscription.filterBy */
export function compileFilterBy(
  subscription: JsonObject,
  topic: TopicPlan,
  faults: Faults,
  services: CompileServices,
): readonly FilterPlan[] {
  const filters = objectsOf(subscription['filterBy']);
  if (filters.length > MOST_FILTERS) faults.add('filterBy', `may be there ${MOST_FILTERS} times`);
  return filters.slice(0, MOST_FILTERS).flatMap((filter, i) => compileOne(filter, i, topic, faults, services));
}

function compileOne(
  filter: JsonObject,
  index: number,
  topic: TopicPlan,
  faults: Faults,
  services: CompileServices,
): readonly FilterPlan[] {
  const at = `filterBy[${index}]`;
  const name = textOf(filter['filterParameter']) ?? '';
  const named = topic.filters.filter((each) => each.name === name);
  if (named.length === 0) {
    const valid = [...new Set(topic.filters.map((each) => each.name))].slice(0, 20).join(', ');
    faults.add(`${at}.filterParameter`, `is none that the topic offers (canFilterBy): ${valid || 'it offers none'}`);
    return [];
  }
  const allowed = ofType(filter, at, named, faults, services);
  const { comparator, modifier } = filter;
  if (comparator !== undefined && modifier !== undefined) {
    faults.add(`${at}.modifier`, 'and comparator exclude each other (scr-1)');
    return [];
  }
  return allowed.flatMap((each) => {
    const value = readValue(filter, at, each, faults);
    if (value === undefined) return [];
    if (typeof modifier === 'string' && !each.modifiers.has(modifier)) {
      const valid = [...each.modifiers].join(', ') || 'it offers none';
      faults.add(`${at}.modifier`, `is none that the topic offers for ${name}: ${valid}`);
      return [];
    }
    const param = typeof modifier === 'string' ? `${each.param}:${modifier}` : each.param;
    const criteria = faults.read(`${at}.value`, () => readPairs([[param, value]], each.focus, services));
    return criteria === undefined ? [] : [{ index, types: each.focus.types, text: `${param}=${value}`, criteria }];
  });
}

/** What the topic offers for `resourceType`; absent, for each type. */
function ofType(
  filter: JsonObject,
  at: string,
  named: readonly AllowedFilter[],
  faults: Faults,
  services: CompileServices,
): readonly AllowedFilter[] {
  const resourceType = textOf(filter['resourceType']);
  if (resourceType === undefined) return named;
  const types = readFocusTypes(resourceType, services.tables);
  const found = typeof types === 'string' ? [] : named.filter(({ focus }) => focus.name === types.name);
  if (found.length > 0) return found;
  const valid = [...new Set(named.map(({ focus }) => focus.name))].join(', ');
  faults.add(`${at}.resourceType`, `is none for which the topic offers the filter: ${valid}`);
  return [];
}

/** The value with the comparator in front; undefined: it is at fault. */
function readValue(filter: JsonObject, at: string, allowed: AllowedFilter, faults: Faults): string | undefined {
  const value = textOf(filter['value']) ?? '';
  const comparator = textOf(filter['comparator']);
  if (value === '') {
    faults.add(`${at}.value`, 'is missing');
    return undefined;
  }
  const isAllowed = (each: string): boolean => each === 'eq' || allowed.comparators.has(each);
  const valid = ['eq', ...allowed.comparators].join(', ');
  if (comparator !== undefined && !isAllowed(comparator)) {
    faults.add(`${at}.comparator`, `is none that the topic offers for ${allowed.name}: ${valid}`);
    return undefined;
  }
  if (!allowed.isCompared) return value;
  const parts = splitAt(value, ',');
  for (const part of parts) {
    const { prefix, rest } = splitPrefix(part);
    if (rest === part) continue;
    if (comparator !== undefined) {
      faults.add(`${at}.value`, `has the prefix ${prefix} beside a comparator: one of both is enough`);
      return undefined;
    }
    if (!isAllowed(prefix)) {
      faults.add(`${at}.value`, `has the prefix ${quote(prefix)}, which the topic does not offer: ${valid}`);
      return undefined;
    }
  }
  return comparator === undefined ? value : parts.map((part) => `${comparator}${part}`).join(',');
}
