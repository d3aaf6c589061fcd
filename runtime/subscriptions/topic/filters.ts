import type { SearchRow } from '../../contract/search.js';
import { searchContext } from '../../search-execution/parse/search-context.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject } from '../../fhir/resource.js';
import { FILTER } from '../../search/filter/read-filter.js';
import { isLinkName, MAX_LINKS, splitLinkName } from '../../search/parse/link-name.js';
import { modifiersOf, prefixesOf } from '../../search/parse/modifiers.js';
import { findRow } from '../../search/parse/parse-criterion.js';
import { resolveLinks, type ResolvedName } from '../../search/parse/resolve-links.js';
import { objectsOf, textOf, textsOf, type Faults } from '../faults.js';
import type { AllowedFilter, FocusTypes, TriggerPlan } from '../plan.js';
import { readFocusTypes } from './focus-types.js';
import type { CompileServices } from './read-criteria.js';
import { MOST_PARTS } from './triggers.js';
import { quote } from '../../fhir/quote.js';

/** Types of search parameters whose values have prefixes. */
const COMPARED: ReadonlySet<string> = new Set(['number', 'date', 'quantity']);

/** A search parameter that a filter means. */
interface FilterParameter {
  readonly param: string;
  /** At its end: of a chain one for each type that it may lead to. */
  readonly rows: readonly SearchRow[];
}

/** Compiles `canFilterBy` of a topic. https://hl7.org/fhir/R5/subscriptiontopic-definitions.html#SubscriptionTopic.canFilterBy */
export function compileFilters(
  topic: JsonObject,
  triggers: readonly TriggerPlan[],
  faults: Faults,
  services: CompileServices,
): readonly AllowedFilter[] {
  const filters = objectsOf(topic['canFilterBy']);
  if (filters.length > MOST_PARTS) faults.add('canFilterBy', `may be there ${MOST_PARTS} times`);
  return filters
    .slice(0, MOST_PARTS)
    .flatMap((filter, i) => compileFilter(filter, `canFilterBy[${i}]`, triggers, faults, services));
}

function compileFilter(
  filter: JsonObject,
  at: string,
  triggers: readonly TriggerPlan[],
  faults: Faults,
  services: CompileServices,
): readonly AllowedFilter[] {
  const resource = textOf(filter['resource']);
  const named = resource === undefined ? undefined : readFocusTypes(resource, services.tables);
  if (typeof named === 'string') {
    faults.add(`${at}.resource`, named, 'not-supported');
    return [];
  }
  const all = triggers.map(({ focus }) => (named === undefined ? focus : common(focus, named)));
  const focuses = new Map(all.flatMap((each) => (each === undefined ? [] : [[each.name, each] as const])));
  // Triggers with faults are not here: what is wrong with them is said there.
  if (focuses.size === 0 && triggers.length > 0) faults.add(`${at}.resource`, 'is the type of no trigger');
  const name = textOf(filter['filterParameter']) ?? '';
  const found: (readonly [FocusTypes, FilterParameter])[] = [];
  let failure: FhirError | undefined;
  for (const focus of focuses.values()) {
    try {
      found.push([focus, findParameter(name, textOf(filter['filterDefinition']), focus, services)]);
    } catch (error) {
      if (!(error instanceof FhirError)) throw error;
      failure ??= error;
    }
  }
  if (found.length === 0 && failure !== undefined) {
    faults.add(`${at}.filterParameter`, `is no search parameter of a trigger: ${failure.message}`, 'not-supported');
  }
  return found.map(([focus, parameter], i) => ({
    ...{ focus, name, param: parameter.param, isCompared: isCompared(parameter) },
    comparators: readComparators(filter, at, parameter, i === 0 ? faults : undefined),
    modifiers: readModifiers(filter, at, parameter, focus, i === 0 ? faults : undefined, services),
  }));
}

/** The more special of two, where one includes the other. */
function common(one: FocusTypes, other: FocusTypes): FocusTypes | undefined {
  const [less, more] = one.types.size <= other.types.size ? [one, other] : [other, one];
  return [...less.types].every((type) => more.types.has(type)) ? less : undefined;
}

/** @throws FhirError `parameter-unknown` */
function findParameter(
  name: string,
  definition: string | undefined,
  focus: FocusTypes,
  services: CompileServices,
): FilterParameter {
  const { context } = contextOf(focus, services);
  const { rows, links } = context;
  const url =
    definition ?? (/^[a-z][a-z0-9+.-]*:/i.test(name) && !isLinkName(name.replace(/^.*\//, '')) ? name : undefined);
  if (url !== undefined && (definition !== undefined || !rows.has(name))) {
    const row = [...rows.values()].find((each) => each.url === url);
    if (row === undefined) throw unknown(`${quote(url)} defines no search parameter of ${focus.name}`);
    return { param: row.code, rows: [row] };
  }
  if (!isLinkName(name)) {
    if (name.includes(':') || name === FILTER) throw unknown(`${quote(name)} is no code of a search parameter`);
    const row = findRow(name, rows);
    return { param: row.code, rows: [row] };
  }
  if (links === undefined) throw unknown(`${quote(name)} leads to other resources, which is for one type alone`);
  const parts = splitLinkName(name, links.most ?? MAX_LINKS);
  if (parts.last.includes(':')) throw unknown(`${quote(name)} has a modifier: name it in modifier`);
  return { param: name, rows: [...endsOf(resolveLinks(parts, name, links))] };
}

/** How values of a type's parameters are read. */
function contextOf({ name, isGeneral }: FocusTypes, services: CompileServices) {
  const type = isGeneral ? undefined : name;
  return searchContext({ type, isPosted: true, isLenient: false, now: 0 }, services.search, services);
}

function endsOf(
  found: ResolvedName,
  rows = new Set<SearchRow>(),
  seen = new Set<ResolvedName>(),
): ReadonlySet<SearchRow> {
  if (seen.has(found)) return rows;
  seen.add(found);
  if (found.is === 'row') rows.add(found.row);
  else if (found.is === 'has') endsOf(found.found, rows, seen);
  else for (const target of found.targets) endsOf(target.found, rows, seen);
  return rows;
}

function isCompared({ rows }: FilterParameter): boolean {
  return rows.every(({ type }) => COMPARED.has(type));
}

function readComparators(filter: JsonObject, at: string, parameter: FilterParameter, faults: Faults | undefined) {
  const named = textsOf(filter['comparator']);
  const valid = isCompared(parameter) ? prefixesOf(parameter.rows[0]!) : [];
  const isValid = (name: string): boolean => (valid as readonly string[]).includes(name);
  for (const [i, name] of named.entries()) {
    if (isValid(name)) continue;
    const text = valid.length === 0 ? 'is for parameters of type number, date and quantity' : `is ${valid.join(', ')}`;
    faults?.add(`${at}.comparator[${i}]`, text, 'not-supported');
  }
  return new Set(named.filter(isValid));
}

function readModifiers(
  filter: JsonObject,
  at: string,
  { rows }: FilterParameter,
  focus: FocusTypes,
  faults: Faults | undefined,
  services: CompileServices,
) {
  const named = textsOf(filter['modifier']);
  const { hierarchy } = contextOf(focus, services).context;
  const valid = [...new Set(rows.flatMap((row) => modifiersOf(row, hierarchy)))].filter((each) => each !== '[type]');
  for (const [i, name] of named.entries()) {
    if (valid.includes(name)) continue;
    faults?.add(
      `${at}.modifier[${i}]`,
      `is one that the parameter takes: ${valid.join(', ') || 'none'}`,
      'not-supported',
    );
  }
  return new Set(named.filter((name) => valid.includes(name)));
}

function unknown(text: string): FhirError {
  return new FhirError('parameter-unknown', text);
}
