import { append } from '../../fhir/lists.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type Resource } from '../../fhir/resource.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import type { PlannedField } from '../plan/planner.js';
import {
  around,
  chosenValues,
  nameOfResource,
  typeOf,
  type Execution,
  type Lookup,
  type Placed,
  type Surroundings,
} from './context.js';
import { readConnection } from './connections.js';
import type { ResourceReader } from './read-resources.js';
import { resolveReference } from './resolve-reference.js';
import { asFound, listAll, listReferring } from './search-lists.js';

/** All that a query needed of the store. */
export interface LookedUp {
  /** What a field that reads one resource found. */
  read(field: PlannedField): Lookup<Placed>;
  /** Where a reference leads. */
  target(reference: JsonObject): Lookup<Placed>;
  /** The matches of a search, or its connection; `focus`: name of the resource that they refer to. */
  search(field: PlannedField, focus: string | undefined): Lookup<Result>;
}

type Result = readonly Resource[] | JsonObject;

/** A value whose fields are to be followed. */
interface Visit {
  readonly value: JsonObject;
  readonly fields: readonly PlannedField[];
  readonly place: Surroundings;
}

/** What one level of a query asks the store for. */
class Level {
  readonly reads = new Set<PlannedField>();
  readonly references: {
    readonly field: PlannedField;
    readonly reference: JsonObject;
    readonly place: Surroundings;
  }[] = [];
  /** Names of the resources that matches have to refer to. */
  readonly searches = new Map<PlannedField, Set<string | undefined>>();

  search(field: PlannedField, focus: string | undefined): void {
    const focuses = this.searches.get(field);
    if (focuses === undefined) this.searches.set(field, new Set([focus]));
    else focuses.add(focus);
  }
}

/**
 * Looks up all that a query needs, level by level: the references of one level in one query of the store, the reverse look-ups of
 * one field in one search.
 *
 * @param start the instance that the query is about; absent: the system
 */
export async function lookUp(
  fields: readonly PlannedField[],
  start: Placed | undefined,
  reader: ResourceReader,
  execution: Execution,
): Promise<LookedUp> {
  const pace = yieldToEventLoop();
  const targets = new Map<JsonObject, Lookup<Placed>>();
  const reads = new Map<PlannedField, Lookup<Placed>>();
  const searches = new Map<PlannedField, Map<string | undefined, Lookup<Result>>>();
  const been = new Map<JsonObject, Set<readonly PlannedField[]>>();
  const { catalog } = execution;

  const walk = ({ value, fields: below, place }: Visit, level: Level): void => {
    const before = been.get(value);
    if (before?.has(below) === true) return;
    if (before === undefined) been.set(value, new Set([below]));
    else before.add(below);
    for (const field of below) {
      if (!field.looksUp) continue;
      const { facts } = field;
      if (facts.is === 'read') level.reads.add(field);
      else if (facts.is === 'target') level.references.push({ field, reference: value, place });
      else if (facts.is === 'search') {
        level.search(field, facts.isReverse ? nameOfResource(value as Resource) : undefined);
      } else if (facts.is === 'complex') {
        for (const [i, each] of chosen(field, value, place, execution).entries()) {
          if (isObject(each)) {
            const inner = around(field, value, each, place);
            prepareSlice(field, each, i, place, execution);
            walk({ value: each, fields: field.fieldsOn(typeOf(field, each, catalog)), place: inner }, level);
          }
        }
      }
    }
  };

  const visitsOf = (field: PlannedField, { resource, ...place }: Placed): Visit => ({
    value: resource,
    fields: field.fieldsOn(resource.resourceType),
    place,
  });

  const run = async (level: Level): Promise<Visit[]> => {
    const next: Visit[] = [];
    const keys = [...level.reads].map(({ facts, id = '' }) => ({ type: facts.is === 'read' ? facts.type : '', id }));
    const far = level.references.flatMap(({ reference, place }) => {
      const resolution = resolveReference(reference, place, execution);
      if (!('key' in resolution)) {
        targets.set(reference, resolution);
        return [];
      }
      return [{ reference, key: resolution.key }];
    });
    const fault = await asFound(() => reader.read([...keys, ...far.map(({ key }) => key)]));
    const found = (key: (typeof keys)[number]): Lookup<Placed> => {
      const known = 'fault' in fault ? fault : reader.found(key);
      if (known === undefined) return { fault: new FhirError('not-found') };
      return 'fault' in known ? known : { value: { resource: known.value!, root: known.value! } };
    };
    for (const { reference, key } of far) targets.set(reference, found(key));
    for (const [i, field] of [...level.reads].entries()) {
      const result = found(keys[i]!);
      reads.set(field, result);
      if ('value' in result) next.push(visitsOf(field, result.value));
    }
    for (const { field, reference } of level.references) {
      const result = targets.get(reference)!;
      if ('value' in result && isWanted(field, result.value.resource)) next.push(visitsOf(field, result.value));
    }
    for (const [field, focuses] of level.searches) append(next, await runSearch(field, [...focuses]));
    return next;
  };

  const runSearch = async (
    field: PlannedField,
    focuses: readonly (string | undefined)[],
  ): Promise<readonly Visit[]> => {
    const search = execution.searches.get(field.nodes[0])!;
    const results = searches.get(field) ?? new Map<string | undefined, Lookup<Result>>();
    searches.set(field, results);
    const fresh = focuses.filter((each) => !results.has(each));
    if (search.isConnection) {
      for (const each of fresh)
        results.set(each, await asFound(() => readConnection(search, field, each, reader, execution)));
    } else if (search.by === undefined) {
      for (const each of fresh) results.set(each, await listAll(search, reader, execution));
    } else {
      const lists = await listReferring(search, fresh as string[], reader, execution);
      for (const [each, list] of lists) results.set(each, list);
    }
    return fresh.flatMap((each): readonly Visit[] => {
      const result = results.get(each);
      if (result === undefined || 'fault' in result) return [];
      if (!Array.isArray(result.value)) {
        const value = result.value as JsonObject;
        // Nothing in a connection itself refers to anything.
        return [{ value, fields: field.fieldsOn(`${search.type}Connection`), place: { root: value as Resource } }];
      }
      const below = field.fieldsOn(search.type);
      if (!below.some(({ looksUp }) => looksUp)) return [];
      return (result.value as readonly Resource[]).map((value) => ({ value, fields: below, place: { root: value } }));
    });
  };

  let visits: readonly Visit[] = [
    { value: start?.resource ?? {}, fields, place: start ?? { root: { resourceType: '' } } },
  ];
  while (visits.length > 0) {
    const level = new Level();
    for (const visit of visits) {
      const turn = pace();
      if (turn !== undefined) await turn;
      walk(visit, level);
    }
    visits = await run(level);
  }
  const missing = (): Lookup<never> => ({ fault: new FhirError('too-costly') });
  return {
    read: (field) => reads.get(field) ?? missing(),
    target: (reference) => targets.get(reference) ?? missing(),
    search: (field, focus) => searches.get(field)?.get(focus) ?? missing(),
  };
}

/** Whether the type of a target is one that the field asks for. */
export function isWanted({ only }: PlannedField, { resourceType }: Resource): boolean {
  return only === undefined || only.has(resourceType);
}

/** Finds the name that `@slice` gives a value, as far as it can be found: what fails is reported when the answer is written. */
function prepareSlice(
  field: PlannedField,
  value: JsonObject,
  index: number,
  { root }: Surroundings,
  execution: Execution,
): void {
  const { slice } = field;
  if (slice === undefined) return;
  try {
    execution.filters.textOf(slice, value, typeOf(field, value, execution.catalog), index, root);
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
  }
}

/** The values of a field; none where their FHIRPath fails, which is reported when the answer is written. */
function chosen(field: PlannedField, value: JsonObject, place: Surroundings, execution: Execution) {
  try {
    return chosenValues(field, value, place, execution);
  } catch (error) {
    if (error instanceof FhirError) return [];
    throw error;
  }
}
