import { append } from '../../fhir/lists.js';
import { membersOf } from '../../search-execution/parse/scope.js';
import { searchContext } from '../../search-execution/parse/search-context.js';
import type { Services, ServiceTables } from '../../core/services.js';
import type { SearchRow } from '../../contract/search.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import { parseCriterion } from '../../search/parse/parse-criterion.js';
import { usedBy, type UsedParameter } from '../../search/parse/used-by.js';
import type { Condition, Target } from '../../search/query/query.js';

/** The resource whose record is asked for. */
export interface Focus {
  readonly type: string;
  readonly id: string;
  /** Id of the patient whom an encounter or an episode of care is about. */
  readonly patient?: string;
}

/** Filter of a client for the resources beside the focus. */
export interface RecordFilter {
  /** Dates of care, as the client wrote them. */
  readonly start?: string;
  readonly end?: string;
  /** Instant from which on a resource was changed. */
  readonly since?: string;
  /** Types that are wanted; absent: all. */
  readonly types?: readonly string[];
}

/** The conditions that members fulfil, by type, and the parameters that decide. */
export interface Members {
  readonly parts: readonly Target[];
  /** Types of which any resource of the patient may be found: members are those that refer to the focus or its encounters. */
  readonly candidates: ReadonlySet<string>;
  readonly used: readonly UsedParameter[];
}

/** The parameter that says when care was given, where a type has it. */
const CARE_DATE = 'http://hl7.org/fhir/SearchParameter/clinical-date';

/** Dates of a person's life, which say nothing of care. */
const DATES_OF_LIFE: ReadonlySet<string> = new Set(
  ['individual-birthdate', 'Patient-death-date', 'Person-death-date'].map(
    (id) => `http://hl7.org/fhir/SearchParameter/${id}`,
  ),
);

/**
 * Returns the conditions for the members of the record of a focus: the resources of its compartment, or for types without one
 * those that refer to it. Resources of the type of the focus itself are excluded, so that no other patient is a member.
 * Resources without a date of care are in every period. In types without a parameter that leads to an encounter or an episode
 * of care, an extension may lead there: such members are found among the patient's resources.
 * https://hl7.org/fhir/R5/encounter-operation-everything.html
 *
 * @param encounters ids of the encounters of an episode of care, whose compartments belong to it
 */
export function membersOfRecord(
  focus: Focus,
  filter: RecordFilter,
  encounters: readonly string[],
  source: { readonly now: number },
  services: Services,
): Members {
  const { tables } = services;
  const { start, end, since, types } = filter;
  const key = JSON.stringify([focus.type, focus.id, focus.patient, start, end, since, types, encounters]);
  if (kept?.key !== key || kept.tables !== tables) {
    kept = { key, tables, members: readMembers(focus, filter, encounters, source, services) };
  }
  return kept.members;
}

/** Those of the last record: each of its pages asks for them, and parsing them for all types takes milliseconds. */
let kept: { readonly key: string; readonly tables: ServiceTables; readonly members: Members } | undefined;

function readMembers(
  focus: Focus,
  filter: RecordFilter,
  encounters: readonly string[],
  source: { readonly now: number },
  services: Services,
): Members {
  const { tables } = services;
  const definitions = searchDefinitions(tables);
  const own = tables.compartments.find(({ type }) => type === focus.type);
  const ofEncounters = tables.compartments.find(({ type }) => type === 'Encounter');
  const ofPatient = tables.compartments.find(({ type }) => type === 'Patient');
  const candidates = new Set<string>();
  const used: UsedParameter[] = [];
  const parts: Target[] = [];
  for (const type of tables.resourceTypes) {
    if (type === focus.type || filter.types?.includes(type) === false) continue;
    const { hierarchy: _none, ...context } = searchContext(
      { ...source, type, isPosted: true, isLenient: false },
      services.search,
      services,
    ).context;
    const parse = (name: string, value: string): Condition => parseCriterion(name, value, context) as Condition;
    const rows = definitions.rowsOf(type);
    const references = referring(rows, focus.type);
    const direct =
      own === undefined
        ? references.map(({ code }) => parse(code, `${focus.type}/${focus.id}`))
        : membersOf({ row: own, id: focus.id }, type, parse);
    // A reference to anything is not the element for it.
    const hasElement = own === undefined ? references.some(({ targets }) => targets?.length === 1) : direct.length > 0;
    const mayExtend = !hasElement && focus.patient !== undefined && ofPatient !== undefined;
    const extended = mayExtend ? membersOf({ row: ofPatient, id: focus.patient }, type, parse) : [];
    if (extended.length > 0) candidates.add(type);
    const some = [
      ...direct,
      ...extended,
      ...(ofEncounters === undefined || type === 'Encounter'
        ? []
        : encounters.flatMap((id) => membersOf({ row: ofEncounters, id }, type, parse))),
    ];
    if (some.length === 0) continue;
    const where: Condition = { all: [{ some }, ...filterConditions(filter, rows, parse)] };
    append(
      used,
      some.flatMap((each) => usedBy(type, each, definitions)),
    );
    parts.push({ type, where });
  }
  return { parts, candidates, used };
}

/** The condition of `since` alone, for resources that members refer to. */
export function sinceCondition(
  { since }: RecordFilter,
  type: string,
  source: { readonly now: number },
  services: Services,
): readonly Condition[] {
  if (since === undefined) return [];
  const input = { ...source, type, isPosted: true, isLenient: false };
  const { hierarchy: _none, ...context } = searchContext(input, services.search, services).context;
  return [parseCriterion('_lastUpdated', `ge${since}`, context) as Condition];
}

function filterConditions(
  { start, end, since }: RecordFilter,
  rows: ReadonlyMap<string, SearchRow>,
  parse: (name: string, value: string) => Condition,
): Condition[] {
  const conditions: Condition[] = since === undefined ? [] : [parse('_lastUpdated', `ge${since}`)];
  const codes = careDates(rows).map(({ code }) => code);
  if (codes.length === 0 || (start === undefined && end === undefined)) return conditions;
  // Of several dates, as onset and abatement, care was given from the first to the last.
  const within = [
    ...(start === undefined ? [] : [{ some: codes.map((code) => parse(code, `ge${start}`)) }]),
    ...(end === undefined ? [] : [{ some: codes.map((code) => parse(code, `le${end}`)) }]),
  ];
  const undated = { all: codes.map((code) => parse(`${code}:missing`, 'true')) };
  return [...conditions, { some: [{ all: within }, undated] }];
}

/** The parameters that say when care was given: the one that many types have in common, or those that a type has of its own. */
function careDates(rows: ReadonlyMap<string, SearchRow>): readonly SearchRow[] {
  const dates = [...rows.values()].filter(({ type, isStored }) => type === 'date' && isStored !== true);
  const common = dates.filter(({ url }) => url === CARE_DATE);
  if (common.length > 0) return common;
  return dates.filter(({ code, url }) => !code.startsWith('_') && !DATES_OF_LIFE.has(url));
}

/** Reference parameters of a type that may lead to another. */
function referring(rows: ReadonlyMap<string, SearchRow>, target: string): SearchRow[] {
  return [...rows.values()].filter(({ type, targets }) => type === 'reference' && targets?.includes(target) === true);
}
