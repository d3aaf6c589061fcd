import { neededOn } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Call } from '../../core/call.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { invalidParameter } from '../../fhir/catalog/invalid-parameter.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { quote } from '../../fhir/quote.js';
import { read } from '../../interactions/read/read.js';
import { compartmentOf } from '../../jobs/export/compartment.js';
import type { ExportPart } from '../../jobs/export/export-input.js';
import type { LocalReference } from '../../path/own-bases.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import { choicesOf, type NarrowingParameter } from '../../search/narrow-by-path.js';
import { matches } from '../../search/query/match.js';
import { isEverything, type Condition } from '../../search/query/query.js';
import { membersOfGroup } from '../../operations/export/export.js';
import { readFilter } from '../../operations/export/read-filter.js';
import { findFirst } from '../../operations/common/find-matches.js';
import { valueOf, valuesOf, type Arguments } from '../../operations/common/arguments.js';
import type { CompiledView } from '../compile-view.js';
import { withReads } from './find-artifact.js';
import { narrowWhere } from './narrow-where.js';

/** Filters of the resources of a view, applied before its rows are made. */
export interface ViewFilters {
  /** Ids of patients; absent: all. */
  readonly patients?: readonly string[];
  /** Members of groups; absent: all. */
  readonly members?: readonly LocalReference[];
  /** Milliseconds since the epoch. */
  readonly since?: number;
}

const PATIENT = 'Patient';

/**
 * Reads `patient`, `group` and `_since`. A patient or a group that the token does not see is one that does not exist.
 *
 * @throws FhirError `parameter-invalid`, `scope-missing`
 */
export async function readFilters(found: Arguments, call: Call, services: Services): Promise<ViewFilters> {
  const patients = valuesOf(found, 'patient').map((each) => idOf(each, PATIENT, 'patient', services));
  const groups = valuesOf(found, 'group').map((each) => idOf(each, 'Group', 'group', services));
  for (const id of new Set(patients)) await readVisible(PATIENT, id, 'patient', call, services);
  const members: LocalReference[] = [];
  for (const id of new Set(groups)) {
    for (const each of membersOfGroup(await readVisible('Group', id, 'group', call, services), services))
      members.push(each);
  }
  const since = valueOf(found, '_since');
  return {
    ...(patients.length > 0 && { patients: [...new Set(patients)] }),
    ...(groups.length > 0 && { members }),
    ...(since !== undefined && { since: Date.parse(String(since)) }),
  };
}

function idOf(value: JsonValue, type: string, name: string, { own }: Services): string {
  const text = isObject(value) ? value['reference'] : value;
  const named =
    typeof text === 'string' && /^[A-Za-z0-9.-]{1,64}$/.test(text) ? { type, id: text } : own.readLocal(text);
  if (named?.type === type) return named.id;
  throw invalidParameter(name, `is a reference to a ${type} here: ${type}/[id]`, { expression: name });
}

/** The letters by which a token shows what a filter names: any of them does. */
const SHOWN_BY = { [PATIENT]: ['r', 's'], Group: ['r'] } as const;

/** @throws FhirError `scope-missing` where the token shows nothing of the type; `parameter-invalid` where it does not show this one */
async function readVisible(
  type: keyof typeof SHOWN_BY,
  id: string,
  name: string,
  call: Call,
  services: Services,
): Promise<Resource> {
  const { access } = call.principal;
  if (access !== OPEN_ACCESS && access.onAny(type, SHOWN_BY[type]) === 'nothing')
    throw scopeMissing(neededOn(type, 'r'), access);
  const found = await (type === PATIENT
    ? findFirst(type, [['_id', id]], withReads(call), services)
    : readGroup(type, id, call, services));
  if (found !== undefined) return found;
  throw new FhirError('parameter-invalid', `There is no ${type} ${quote(id)}`, {
    issue: 'not-found',
    expression: name,
  });
}

async function readGroup(type: string, id: string, call: Call, services: Services): Promise<Resource | undefined> {
  const { principal, base, trace, signal } = call;
  const plain: Call = {
    ...{ interaction: 'read', type, id, principal, base, params: new URLSearchParams(), conditions: {}, prefer: {} },
    ...(trace !== undefined && { trace }),
    ...(signal !== undefined && { signal }),
  };
  try {
    const { json = '' } = await read(plain, services);
    return await readStored(json, services);
  } catch (error) {
    if (!(error instanceof FhirError) || (error.status !== 404 && error.status !== 410)) throw error;
    return undefined;
  }
}

/**
 * The condition on the resources of a view: what a search of its type with this token finds, narrowed by the filters, and by what
 * search parameters say of its own conditions.
 *
 * @throws FhirError `scope-missing`
 */
export async function partOf(
  view: Pick<CompiledView, 'resource' | 'where' | 'constants'>,
  filters: ViewFilters,
  call: Call,
  services: Services,
): Promise<ExportPart> {
  const type = view.resource;
  const read = async (parameters: readonly NarrowingParameter[]): Promise<Condition> => {
    const query = new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value]));
    return (await readFilter(`${type}?${query.toString()}`, '_typeFilter', call, services)).where;
  };
  const own = narrowed(type, filters, services);
  const where = await read([]);
  const all = [...(isEverything(where) ? [] : [where]), ...own];
  return {
    type,
    ...(all.length > 0 && { filter: allOf(all) }),
    ...(await narrowedBy(narrowWhere(view, searchDefinitions(services.tables).rowsOf(type)), own, read)),
  };
}

/** Narrows a part by the first choice of parameters that the search takes. @param own conditions that hold besides */
async function narrowedBy(
  parameters: readonly NarrowingParameter[],
  own: readonly Condition[],
  read: (parameters: readonly NarrowingParameter[]) => Promise<Condition>,
): Promise<Pick<ExportPart, 'narrowed'>> {
  if (parameters.length === 0) return {};
  for (const choice of choicesOf(parameters)) {
    const found = await read(choice).catch(ignoreRefusal);
    if (found !== undefined) return { narrowed: allOf([found, ...own]) };
  }
  return {};
}

function allOf(conditions: readonly Condition[]): Condition {
  const [first, ...others] = conditions;
  return first !== undefined && others.length === 0 ? first : { all: conditions };
}

/** A parameter that cannot be read, or whose index is not current, narrows nothing. */
function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof FhirError)) throw error;
}

function narrowed(type: string, { patients, members }: ViewFilters, { tables }: Services): Condition[] {
  const conditions: Condition[] = [];
  if (patients !== undefined) conditions.push(compartmentOf(type, patients, tables));
  if (members !== undefined) {
    const ofPatients = members.filter((each) => each.type === PATIENT).map(({ id }) => id);
    const own = members.filter((each) => each.type === type).map(({ id }) => id);
    conditions.push({ some: [compartmentOf(type, ofPatients, tables), { ids: own }] });
  }
  return conditions;
}

/** Whether a resource that came with the request passes the filters. One without a time passes `_since`. */
export function passes(resource: Resource, filters: ViewFilters, services: Services): boolean {
  const { resourceType, id, meta } = resource;
  const updated = isObject(meta) ? Date.parse(String(meta['lastUpdated'])) : NaN;
  if (filters.since !== undefined && updated <= filters.since) return false;
  const all = narrowed(resourceType, filters, services);
  if (all.length === 0) return true;
  return matches({ all }, { id: String(id), lastUpdated: 0, entries: services.extract(resource) });
}
