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
import { matches } from '../../search/query/match.js';
import { isEverything, type Condition } from '../../search/query/query.js';
import { membersOfGroup } from '../../operations/export/export.js';
import { readFilter } from '../../operations/export/read-filter.js';
import { valueOf, valuesOf, type Arguments } from '../../operations/common/arguments.js';

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

async function readVisible(type: string, id: string, name: string, call: Call, services: Services): Promise<Resource> {
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
    const text = `There is no ${type} ${quote(id)}`;
    throw new FhirError('parameter-invalid', text, { issue: 'not-found', expression: name });
  }
}

/**
 * The condition on the resources of a view: what a search of its type with this token finds, narrowed by the filters.
 *
 * @throws FhirError `scope-missing`
 */
export async function partOf(type: string, filters: ViewFilters, call: Call, services: Services): Promise<ExportPart> {
  const { where } = await readFilter(`${type}?`, '_typeFilter', call, services);
  const all = [...(isEverything(where) ? [] : [where]), ...narrowed(type, filters, services)];
  return { type, ...(all.length > 0 && { filter: all.length === 1 ? all[0]! : { all } }) };
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
