import { FhirError } from '../fhir/errors.js';
import type { Resource } from '../fhir/resource.js';
import { keepElements } from './summary.js';
import { markSubsetted } from './summary-tag.js';
import { elementIndex, type ElementIndex, type FormatTables } from './xml/element-index.js';
import { quote } from '../fhir/quote.js';

/** The outermost elements that `_elements` asks for, by the type that it names, or `*` where it names none. */
export type ElementSelection = ReadonlyMap<string, ReadonlySet<string>>;

const ANY = '*';
const RESOURCE_TYPE = 'resourceType';

/**
 * Reads `_elements`: outermost elements, with or without a type before them (`name`, `Patient.name`, `Resource.meta`,
 * `*.meta`); of a choice element its stem (`value`, `value[x]`) or one of its names. A path into an element (`name.family`)
 * is refused, because the parameter knows the outermost elements only. https://hl7.org/fhir/R5/search.html#elements
 *
 * @param types Resource types that the results may have; none: any
 * @throws FhirError `parameter-invalid` for what is no element of any of them
 */
export function parseElements(text: string, types: readonly string[], tables: FormatTables): ElementSelection {
  const index = elementIndex(tables);
  const selection = new Map<string, Set<string>>();
  for (const part of text.split(',').map((name) => name.trim())) {
    const dot = part.indexOf('.');
    // Some clients list what every resource in JSON begins with, which is no element.
    if (part.slice(dot + 1) === RESOURCE_TYPE) {
      selection.set(ANY, selection.get(ANY) ?? new Set());
      continue;
    }
    const type = dot < 0 ? ANY : part.slice(0, dot);
    const name = part.slice(dot + 1);
    if (name.includes('.') || (type !== ANY && !index.isResource(type))) {
      throw invalid(`_elements takes outermost elements only, such as "name" or "Patient.name", not ${quote(part)}`);
    }
    const owners = type !== ANY ? [type] : types.length > 0 ? types : tables.resourceTypes;
    const element = elementOf(index, owners, name);
    if (element === undefined) {
      const owner = owners.length === 1 ? owners[0] : 'none of the resource types asked for';
      throw invalid(`_elements: ${owner} has ${owners.length === 1 ? 'no' : 'an'} element ${quote(name)}`);
    }
    let names = selection.get(type);
    if (names === undefined) selection.set(type, (names = new Set()));
    names.add(element);
  }
  return selection;
}

/**
 * The part of a resource that `_elements` asks for, with `id`, `meta`, required elements and modifiers, tagged as
 * SUBSETTED; the resource itself stays as it is. A resource of a type of which nothing was said is given back whole.
 * https://hl7.org/fhir/R5/search.html#elements
 */
export function selectElements(resource: Resource, selection: ElementSelection, tables: FormatTables): Resource {
  const type = elementIndex(tables).of(resource.resourceType);
  const wanted = [ANY, ...type.lineage].flatMap((name) => selection.get(name) ?? []);
  if (wanted.length === 0) return resource;
  return markSubsetted(keepElements(resource, type, (name) => wanted.some((names) => names.has(name))));
}

/** Name of an element of one of these types, without the type of a choice. */
function elementOf(index: ElementIndex, types: readonly string[], text: string): string | undefined {
  const stem = text.endsWith('[x]') ? text.slice(0, -'[x]'.length) : undefined;
  for (const type of types) {
    const { byName } = index.of(type);
    const exact = byName.get(text);
    if (exact !== undefined) return exact.row.name;
    for (const { row } of byName.values()) {
      if (row.choice && row.name === (stem ?? text)) return row.name;
    }
  }
  return undefined;
}

function invalid(text: string): FhirError {
  return new FhirError('parameter-invalid', text);
}
