import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { writeError, type Path } from '../errors.js';
import type { PlannedField } from '../plan/planner.js';
import { QUERY_LIMITS } from '../limits.js';
import { schemaName } from '../schema/schema.js';
import { Collector, type Form } from './collector.js';
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
import { isWanted, type LookedUp } from './look-up.js';

/** Answer of a query. */
export interface QueryAnswer {
  readonly data: JsonObject;
  readonly errors: readonly JsonObject[];
}

/** The object around the values that are being written. */
interface Around {
  readonly value: JsonObject;
  /** Name of its row. */
  readonly type: string;
  readonly place: Surroundings;
}

/** Where values go. */
interface Out {
  readonly collector: Collector;
  /** Whether flattening made lists of all that comes. */
  readonly isList: boolean;
  /** What `@slice` adds to names. */
  readonly suffix: string;
}

/** The way to a value of the answer, from its end on. */
interface Trail {
  readonly key: string | number;
  readonly before: Trail | undefined;
}

/**
 * Writes the answer from what was looked up. What a resource does not have is left out, as in the examples of the specification; what
 * could not be had is null, with an error. https://hl7.org/fhir/R5/graphql.html
 *
 * @param start the instance that the query is about; absent: the system
 * @param introspect writes fields of the schema itself
 * @throws FhirError `graphql-limit`, `too-costly`
 */
export async function writeAnswer(
  fields: readonly PlannedField[],
  start: Placed | undefined,
  found: LookedUp,
  execution: Execution,
  introspect: (field: PlannedField) => JsonValue,
): Promise<QueryAnswer> {
  const writer = new AnswerWriter(found, execution, introspect);
  const out = outOf(fields);
  const root: Around = {
    value: start?.resource ?? {},
    type: start?.resource.resourceType ?? 'Query',
    place: start ?? { root: { resourceType: '' } },
  };
  const pace = yieldToEventLoop();
  for (const field of fields) {
    await pace();
    const matches = writer.plainList(field);
    if (matches === undefined) writer.writeField(field, root, out, undefined);
    else {
      // Long lists let others have a turn.
      const list: JsonValue[] = [];
      for (const [i, match] of matches.entries()) {
        const turn = pace();
        if (turn !== undefined) await turn;
        list.push(writer.writeMatch(field, match, { key: i, before: { key: field.key, before: undefined } }));
      }
      out.collector.add(field.key, list, 'list', matches[0]?.resourceType ?? '');
    }
  }
  return { data: out.collector.object, errors: writer.errors };
}

/** A new object of the answer that some fields are written to. */
function outOf(fields: readonly PlannedField[]): Out {
  return { collector: new Collector(fields.every(({ isPlain }) => isPlain)), isList: false, suffix: '' };
}

class AnswerWriter {
  readonly errors: JsonObject[] = [];

  constructor(
    private readonly found: LookedUp,
    private readonly execution: Execution,
    private readonly introspect: (field: PlannedField) => JsonValue,
  ) {}

  /** The matches of a list on the system that no directive changes; undefined: the field is something else. */
  plainList(field: PlannedField): readonly Resource[] | undefined {
    const { facts, isPlain } = field;
    if (facts.is !== 'search' || facts.isConnection || facts.isReverse || !isPlain) return undefined;
    const result = this.found.search(field, undefined);
    return 'value' in result ? (result.value as readonly Resource[]) : undefined;
  }

  /** A match of a search that no directive changes. */
  writeMatch(field: PlannedField, match: Resource, trail: Trail): JsonValue {
    return this.#object(field, match, match.resourceType, { root: match }, trail);
  }

  writeField(field: PlannedField, parent: Around, out: Out, before: Trail | undefined): void {
    const { facts, isPlain } = field;
    if (facts.is === 'value' && isPlain && out.collector.isPlain) {
      const found = parent.value[field.name];
      if (found === undefined || found === null) return;
      this.execution.budget.writeValues(1);
      out.collector.object[field.key] = found;
      return;
    }
    const trail = { key: field.key, before };
    try {
      this.#field(field, parent, out, trail);
    } catch (error) {
      if (!(error instanceof FhirError) || error.code === 'graphql-limit' || error.code === 'too-costly') throw error;
      this.#fail(field, error, out, trail);
    }
  }

  #field(field: PlannedField, parent: Around, out: Out, trail: Trail): void {
    const { facts } = field;
    const { value, type, place } = parent;
    switch (facts.is) {
      case 'typename':
        return this.#put(field, [schemaName(type)], 'string', false, out);
      case 'resourceType':
        return this.#put(field, [String(value['resourceType'])], 'code', false, out);
      case 'introspection':
        return this.#put(field, [this.introspect(field)], '', false, out);
      case 'value':
        return this.#values(field, chosenValues(field, value, place, this.execution), facts.type, facts.isList, out);
      case 'complex':
        return this.#objects(
          field,
          chosenValues(field, value, place, this.execution),
          facts.isList,
          parent,
          out,
          trail,
        );
      case 'read':
        return this.#placed(field, this.found.read(field), parent, out, trail);
      case 'target':
        return this.#placed(field, this.found.target(value), parent, out, trail);
      case 'search':
        return this.#search(field, parent, out, trail);
    }
  }

  #placed(field: PlannedField, found: Lookup<Placed>, parent: Around, out: Out, trail: Trail): void {
    if ('fault' in found) {
      if (field.isOptional) return;
      return this.#fail(field, found.fault, out, trail);
    }
    const { resource, ...place } = found.value;
    // A target of another type is passed over. https://hl7.org/fhir/R5/graphql.html#references
    if (!isWanted(field, resource)) return;
    this.#objects(field, [resource], false, parent, out, trail, place);
  }

  #search(field: PlannedField, parent: Around, out: Out, trail: Trail): void {
    const isReverse = field.facts.is === 'search' && field.facts.isReverse;
    const result = this.found.search(field, isReverse ? nameOfResource(parent.value as Resource) : undefined);
    if ('fault' in result) return this.#fail(field, result.fault, out, trail);
    if (!Array.isArray(result.value)) {
      return this.#objects(field, [result.value as JsonObject], false, parent, out, trail);
    }
    const matches = result.value as readonly Resource[];
    if (field.isPlain) {
      const written = matches.map((match, i) => this.writeMatch(field, match, { key: i, before: trail }));
      return this.#put(field, written, matches[0]?.resourceType ?? '', true, out);
    }
    this.#objects(field, field.isFirst ? matches.slice(0, 1) : matches, true, parent, out, trail);
  }

  /** Values without fields of their own. */
  #values(field: PlannedField, values: readonly JsonValue[], type: string, isList: boolean, out: Out): void {
    const isPlain = !out.isList && out.suffix === '' && field.slice === undefined;
    // The place of a value that has nothing but extensions.
    const present = isPlain && isList ? values : values.filter((each) => each !== null);
    if (present.length === 0) return;
    if (field.slice === undefined) return this.#put(field, present, type, isList, out);
    present.forEach((each, i) => {
      const suffix = field.slice === '$index' ? String(i) : '';
      this.#put(field, [each], type, true, { ...out, suffix: suffixed(out.suffix, suffix) });
    });
  }

  /** Values with fields, each written as an object, or flattened into the one around. */
  #objects(
    field: PlannedField,
    values: readonly JsonValue[],
    isList: boolean,
    parent: Around,
    out: Out,
    trail: Trail,
    at?: Surroundings,
  ): void {
    const written: JsonValue[] = [];
    let type = '';
    const isWritten = !field.isFlat && field.slice === undefined;
    const hasMany = isList && !field.isFirst;
    values.forEach((each, i) => {
      if (!isObject(each)) {
        // The place of a primitive value without extensions.
        if (each === null && isWritten && isList && !out.isList) written.push(null);
        return;
      }
      type = this.#typeOf(field, each);
      const place = at ?? around(field, parent.value, each, parent.place);
      const inside = hasMany ? { key: i, before: trail } : trail;
      if (isWritten) {
        written.push(this.#object(field, each, type, place, inside));
        return;
      }
      const inner = { ...out, suffix: suffixed(out.suffix, this.#sliceOf(field, each, type, i, place)) };
      if (field.isFlat) {
        const nested = { ...inner, isList: out.isList || hasMany };
        for (const below of field.fieldsOn(type)) this.writeField(below, { value: each, type, place }, nested, inside);
      } else this.#put(field, [this.#object(field, each, type, place, inside)], type, true, inner);
    });
    const isEmptyList = isList && (field.facts.is === 'search' || isEdges(field, parent));
    if (isWritten && (written.length > 0 || isEmptyList)) this.#put(field, written, type, isList, out);
  }

  #typeOf(field: PlannedField, value: JsonObject): string {
    const { facts } = field;
    if (facts.is === 'search' && facts.isConnection) return `${facts.type}Connection`;
    return typeOf(field, value, this.execution.catalog);
  }

  #object(field: PlannedField, value: JsonObject, type: string, place: Surroundings, trail: Trail): JsonObject {
    const fields = field.fieldsOn(type);
    const out = outOf(fields);
    const parent = { value, type, place };
    for (const below of fields) this.writeField(below, parent, out, trail);
    return out.collector.object;
  }

  #sliceOf({ slice }: PlannedField, value: JsonObject, type: string, index: number, { root }: Surroundings): string {
    return slice === undefined ? '' : this.execution.filters.textOf(slice, value, type, index, root);
  }

  #put(field: PlannedField, values: readonly JsonValue[], type: string, isList: boolean, out: Out): void {
    this.execution.budget.writeValues(values.length);
    const isMany = (isList && !field.isFirst) || out.isList;
    const form: Form = field.isSingleton ? 'singleton' : isMany ? 'list' : 'value';
    out.collector.add(field.key + out.suffix, values, form, type);
  }

  #fail(field: PlannedField, fault: FhirError, out: Out, trail: Trail): void {
    if (!field.isFlat && !out.isList) out.collector.object[field.key + out.suffix] = null;
    this.#report(field, fault, trail);
  }

  #report(field: PlannedField, fault: FhirError, trail: Trail): void {
    if (this.errors.length > QUERY_LIMITS.errors) return;
    if (this.errors.length === QUERY_LIMITS.errors) {
      const text = `More than ${QUERY_LIMITS.errors} values are missing; the others are not listed`;
      this.errors.push(writeError(new FhirError('graphql-limit', text)));
      return;
    }
    this.errors.push(writeError(fault, pathOf(trail), field.nodes));
  }
}

/** Whether a field has the matches of a connection. */
function isEdges({ name }: PlannedField, { type }: Around): boolean {
  return name === 'edges' && type.endsWith('Connection');
}

function pathOf(trail: Trail): Path {
  const path: (string | number)[] = [];
  for (let each: Trail | undefined = trail; each !== undefined; each = each.before) path.unshift(each.key);
  return path;
}

/** Suffixes of slices within each other follow one another. */
function suffixed(outer: string, own: string): string {
  return own === '' ? outer : `${outer}.${own}`;
}
