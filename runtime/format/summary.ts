import { isObject, type JsonObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { markSubsetted } from './summary-tag.js';
import { elementIndex, type ElementIndex, type FormatTables, type TypeProperties } from './xml/element-index.js';

/** Values of `_summary` that concern one resource; `count` is a matter of the search. */
export type SummaryMode = 'true' | 'text' | 'data' | 'false';

/** What stays in every summary of a resource. */
const ALWAYS: ReadonlySet<string> = new Set(['resourceType', 'resourceDefinition', 'id', 'meta']);

/**
 * The part of a resource that `_summary` asks for, tagged as SUBSETTED; the resource itself stays as it is.
 * https://hl7.org/fhir/R5/search.html#summary
 *
 * - `true`: the elements marked as summary, at every depth, and within what stays also required elements. Modifier
 *   elements stay whole, primitives keep their id and extensions. What would have nothing left stays whole, and so does a
 *   resource in an element (`Bundle.entry.resource`).
 * - `text`: `text`, `id`, `meta`, and of the outermost elements the required ones and the modifiers
 * - `data`: all but `text`
 * - `false`: all; the same object
 */
export function summarize(resource: Resource, mode: SummaryMode, tables: FormatTables): Resource {
  if (mode === 'false') return resource;
  if (mode === 'data') {
    const { text: _text, ...rest } = resource;
    return markSubsetted(rest as Resource);
  }
  const index = elementIndex(tables);
  const type = index.of(resource.resourceType);
  if (mode === 'text') {
    return markSubsetted(keepElements(resource, type, (name) => name === 'text'));
  }
  return markSubsetted(new Summary(index).of(resource, type) as Resource);
}

/** The outermost elements that are wanted, by name without the type of a choice, and those that always stay. */
export function keepElements(resource: Resource, type: TypeProperties, isWanted: (name: string) => boolean): Resource {
  const kept: JsonObject = {};
  for (const key of Object.keys(resource)) {
    const row = propertyOf(type, key)?.row;
    if (ALWAYS.has(key) || (row && (row.modifier || row.min || isWanted(row.name)))) kept[key] = resource[key]!;
  }
  return kept as Resource;
}

class Summary {
  constructor(private readonly index: ElementIndex) {}

  of(object: JsonObject, type: TypeProperties): JsonObject {
    const kept: JsonObject = {};
    let isEmpty = true;
    for (const key of Object.keys(object)) {
      const property = propertyOf(type, key);
      const value = object[key]!;
      if (property === undefined) {
        if (!ALWAYS.has(key)) continue;
        kept[key] = value;
      } else if (property.row.modifier || property.kind !== 'object') {
        if (!property.row.modifier && !property.row.summary && !property.row.min) continue;
        kept[key] = value;
      } else if (property.row.summary || property.row.min) {
        kept[key] = this.inner(value, this.index.of(property.type));
      } else continue;
      isEmpty = false;
    }
    return isEmpty ? object : kept;
  }

  private inner(value: JsonValue, type: TypeProperties): JsonValue {
    if (Array.isArray(value)) return value.map((item) => this.inner(item, type));
    return isObject(value) ? this.of(value, type) : value;
  }
}

/** The property behind a JSON name; that of a primitive also stands for its `_name`. */
function propertyOf(type: TypeProperties, key: string): ReturnType<TypeProperties['byName']['get']> {
  return type.byName.get(key.startsWith('_') ? key.slice(1) : key);
}
