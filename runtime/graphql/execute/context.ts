import type { FieldNode } from 'graphql';

import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { Filters } from '../plan/filters.js';
import type { PlannedSearch } from '../plan/plan-search.js';
import type { PlannedField } from '../plan/planner.js';
import { QUERY_LIMITS } from '../limits.js';
import type { TypeCatalog } from '../schema/schema.js';

/** The resource around a value, in which `#id` and, in a Bundle, other entries are looked for. */
export interface Surroundings {
  readonly root: Resource;
  /** The Bundle around that resource, and the URL of its entry. */
  readonly bundle?: { readonly resource: Resource; readonly fullUrl?: string };
}

/** A resource, with where references in it lead. */
export interface Placed extends Surroundings {
  readonly resource: Resource;
}

/** The name by which references lead to a resource: `Type/id`. */
export function nameOfResource({ resourceType, id }: Resource): string {
  return `${resourceType}/${String(id)}`;
}

/** Result of a lookup: the value, or the reason why there is none. */
export type Lookup<T> = { readonly value: T } | { readonly fault: FhirError };

/** Parts that the execution of one query works with. */
export interface Execution {
  readonly call: Call;
  readonly services: Services;
  readonly catalog: TypeCatalog;
  readonly searches: ReadonlyMap<FieldNode, PlannedSearch>;
  readonly filters: Filters;
  readonly budget: Budget;
  /** Aborts when the time is over, or the client is gone. */
  readonly signal: AbortSignal | undefined;
}

/** Values after which it is looked whether the time is over. */
const LOOK = 1024;

/** Budget of one query: the resources and characters that it may still read, and the values that it may still write. */
export class Budget {
  #resources = QUERY_LIMITS.resources;
  #characters: number = QUERY_LIMITS.characters;
  #values = QUERY_LIMITS.values;

  constructor(private readonly signal: AbortSignal | undefined) {}

  /** @throws FhirError `graphql-limit` */
  readResources(count: number): void {
    this.#resources -= count;
    if (this.#resources >= 0) return;
    throw new FhirError(
      'graphql-limit',
      `The query reads more than ${QUERY_LIMITS.resources} resources; ask for fewer with _count, or in several queries`,
    );
  }

  /** @throws FhirError `graphql-limit` */
  readCharacters(count: number): void {
    this.#characters -= count;
    if (this.#characters >= 0) return;
    throw new FhirError(
      'graphql-limit',
      `The resources that the query reads have more than ${QUERY_LIMITS.characters} characters; ask for fewer with _count, or in several queries`,
    );
  }

  /** @throws FhirError `graphql-limit`, `too-costly` */
  writeValues(count: number): void {
    const before = this.#values;
    this.#values -= count;
    if (this.#values < 0) {
      throw new FhirError('graphql-limit', `The answer has more than ${QUERY_LIMITS.values} values; ask for fewer`);
    }
    const isTurn = Math.floor(before / LOOK) !== Math.floor(this.#values / LOOK);
    if (isTurn && this.signal?.aborted === true) throw new FhirError('too-costly');
  }
}

/** Name of the row of a value's type. */
export function typeOf(field: PlannedField, value: JsonObject, catalog: TypeCatalog): string {
  const { facts } = field;
  if (facts.is === 'read' || facts.is === 'search') return facts.type;
  if (facts.is === 'complex' && !catalog.isAnyResource(facts.type)) return facts.type;
  return String(value['resourceType']);
}

/** The surroundings of what is in a field. */
export function around(field: PlannedField, parent: JsonObject, value: JsonObject, outer: Surroundings): Surroundings {
  // What is contained shares the fragments of its container. https://hl7.org/fhir/R5/references.html#contained
  if (typeof value['resourceType'] !== 'string' || field.name === 'contained') return outer;
  const fullUrl = parent['fullUrl'];
  const isEntry = outer.root.resourceType === BUNDLE;
  return {
    root: value as Resource,
    ...(isEntry && { bundle: { resource: outer.root, ...(typeof fullUrl === 'string' && { fullUrl }) } }),
  };
}

/** https://hl7.org/fhir/R5/bundle.html#references */
export const BUNDLE = 'Bundle';

/** The values of a field in the resource, in their order. */
export function valuesOf(field: PlannedField, value: JsonObject): readonly JsonValue[] {
  const found = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
  if (found === undefined || found === null) return [];
  return Array.isArray(found) ? found : [found];
}

/** The values that arguments and `@first` leave. @param type of the values */
export function chosenValues(
  field: PlannedField,
  value: JsonObject,
  { root }: Surroundings,
  { filters }: Pick<Execution, 'filters'>,
): readonly JsonValue[] {
  let values = valuesOf(field, value);
  const { choice, facts } = field;
  if (choice !== undefined && facts.is === 'complex') {
    const { equals, fhirpath, offset, count } = choice;
    if (equals.length > 0)
      values = values.filter((each) => isObject(each) && equals.every((pair) => hasText(each, pair)));
    if (fhirpath !== undefined) {
      values = values.filter((each, i) => isObject(each) && filters.holds(fhirpath, each, facts.type, i, root));
    }
    if (offset > 0 || count < values.length) values = values.slice(offset, offset + count);
  }
  return field.isFirst ? values.slice(0, 1) : values;
}

function hasText(value: JsonObject, [name, text]: readonly [string, string]): boolean {
  const found = Object.hasOwn(value, name) ? value[name] : undefined;
  return (Array.isArray(found) ? found : [found]).some(
    (each) => each !== undefined && each !== null && String(each) === text,
  );
}
