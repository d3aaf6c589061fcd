import { Decimal } from '../../fhir/decimal.js';
import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import { clip } from '../../fhir/quote.js';
import { MAX_SHOWN, PathFault } from '../../path/expression/path-fault.js';
import { countItems, readItems, spliceItems, writeItems, type PatchItem } from './fhirpath-items.js';
import type { PatchElement, PatchModel, PatchType } from './fhirpath-model.js';

/** A value for an element, and the JSON name that its type gives it there. */
export interface NewValue {
  readonly key: string;
  readonly item: PatchItem;
}

/**
 * Reads the value of an element from a part: `value[x]`, a resource, or parts of its own. The last form gives the types
 * that a parameter cannot hold. A primitive may be given as any other that JSON writes alike, except where the type
 * gives the name. https://hl7.org/fhir/R5/fhirpatch.html#anonymous
 *
 * @throws PathFault where there is no value, or one of a type that the element does not have
 */
export function readValue(part: JsonObject, owner: PatchType, element: PatchElement, model: PatchModel): NewValue {
  const { type, item } = readPart(part, model);
  const key = owner.keysOf(element).find(({ type: own }) => fits(type, own, element, model));
  const name = `${owner.name}.${element.name}`;
  if (key === undefined) {
    throw new PathFault(`${name} takes ${element.types.join(', ')}, not ${type ?? 'parts'}`, 'value');
  }
  if (item === undefined) return { key: key.key, item: { value: readParts(part, key.type, model) } };
  const form = model.primitive(key.type);
  if (form !== undefined && item.value !== undefined && formOf(item.value) !== form) {
    throw new PathFault(`${name} is a ${form} in JSON, not a ${formOf(item.value)}`, 'value');
  }
  if (item.twin !== undefined && form !== undefined && !element.twins) {
    throw new PathFault(`${name} has no extensions`, 'value');
  }
  return { key: key.key, item };
}

/** The type that a part names, and its value; neither where it has parts. */
function readPart(part: JsonObject, model: PatchModel): { readonly type?: string; readonly item?: PatchItem } {
  const keys = model.type('Parameters.parameter')?.keys;
  const names = Object.keys(part).map((name) => (name.startsWith('_') ? name.slice(1) : name));
  const values = [...new Set(names)].filter((name) => keys?.get(name)?.element.name === 'value');
  const { resource } = part;
  const forms = values.length + (resource === undefined ? 0 : 1) + (part['part'] === undefined ? 0 : 1);
  if (forms !== 1) {
    const strange = names.find((name) => keys?.has(name) === false);
    const text =
      strange === 'valueExtension'
        ? 'an Extension is given by parts named url and value (or extension), not by valueExtension'
        : strange === undefined
          ? `a value is given by one value[x], a resource or parts; there are ${forms}`
          : `a value is given by one value[x], a resource or parts; ${clip(strange, MAX_SHOWN)} is none of them`;
    throw new PathFault(text, 'value', 'patch-invalid');
  }
  const [key] = values;
  if (key !== undefined) return { type: keys?.get(key)?.type ?? '', item: readItems(part, key)[0] ?? {} };
  if (resource === undefined) return {};
  const type = isObject(resource) ? resource['resourceType'] : undefined;
  if (typeof type !== 'string' || !model.isResource(type)) {
    throw new PathFault('the value is not a resource of a known type', 'value', 'patch-invalid');
  }
  return { type, item: { value: resource } };
}

/** Whether a value of a type (undefined: of parts) may be the value of an element of a type. */
function fits(type: string | undefined, own: string, element: PatchElement, model: PatchModel): boolean {
  const form = model.primitive(own);
  if (type === undefined) return form === undefined && !element.choice && !model.isResource(own);
  if (type === own) return true;
  // Its type gives the name of a choice, so it has to be given exactly.
  if (element.choice) return false;
  if (form !== undefined) return model.primitive(type) === form;
  // A Quantity may be given as an Age, an Age as a Quantity: in JSON they look alike.
  return model.isA(type, own) || (!model.isResource(own) && model.isA(own, type));
}

/** An object of a type from parts: each names an element, a list is given by parts of one name. */
function readParts(part: JsonObject, typeName: string, model: PatchModel): JsonObject {
  const type = model.type(typeName);
  const parts = part['part'];
  if (type === undefined || !Array.isArray(parts))
    throw new PathFault('the value has no parts', 'value', 'patch-invalid');
  /** All of one name together: parts may be many. */
  const items = new Map<PatchElement, Map<string, PatchItem[]>>();
  for (const each of parts) {
    const { element, key, item } = readNamedPart(each, type, model);
    const keys = items.get(element) ?? new Map<string, PatchItem[]>();
    if (keys.size > 0 && !element.list) throw alreadyThere(type, element);
    const list = keys.get(key) ?? [];
    list.push(item);
    items.set(element, keys.set(key, list));
  }
  return [...items].reduce(
    (object: JsonObject, [element, keys]) =>
      [...keys].reduce((made, [key, list]) => writeItems(made, key, list, element.list), object),
    {},
  );
}

function readNamedPart(
  part: JsonValue,
  type: PatchType,
  model: PatchModel,
): NewValue & { readonly element: PatchElement } {
  if (!isObject(part)) throw new PathFault('a part is not an object', 'value', 'patch-invalid');
  const { name } = part;
  const element = elementOf(type, typeof name === 'string' ? name : '', 'value');
  return { element, ...readValue(part, type, element, model) };
}

/**
 * An object with one more value of an element.
 *
 * @throws PathFault where the element is there already and does not repeat
 */
export function addValue(object: JsonObject, type: PatchType, element: PatchElement, added: NewValue): JsonObject {
  const isThere = type.keysOf(element).some(({ key }) => countItems(object, key) > 0);
  if (isThere && !element.list) throw alreadyThere(type, element);
  return spliceItems(object, added.key, element.list, countItems(object, added.key), 0, added.item);
}

function alreadyThere(type: PatchType, element: PatchElement): PathFault {
  return new PathFault(`${type.name}.${element.name} is there already`, 'name');
}

/**
 * The element of a name.
 *
 * @throws PathFault where there is none, saying how a choice is named
 */
export function elementOf(type: PatchType, name: string, part: string): PatchElement {
  const element = type.elements.get(name);
  if (element !== undefined) return element;
  const choice = type.keys.get(name)?.element.name;
  const hint = choice === undefined ? '' : `; a choice is named without its type: ${choice}`;
  throw new PathFault(`${type.name} has no element ${clip(name, MAX_SHOWN)}${hint}`, part);
}

function formOf(value: JsonValue): string {
  return typeof value === 'object' && value instanceof Decimal
    ? 'number'
    : Array.isArray(value)
      ? 'list'
      : typeof value;
}
