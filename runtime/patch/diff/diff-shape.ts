import { Decimal } from '../../fhir/decimal.js';
import { equalJson } from '../../fhir/equal.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { PatchElement, PatchModel, PatchType } from '../fhirpath/fhirpath-model.js';

/** Difference that a FHIRPath Patch cannot express, and its position. */
export interface Misshape {
  /** A FHIRPath to the place. */
  readonly path: string;
  /** What is wrong there, to follow the path in a sentence. */
  readonly text: string;
}

/**
 * Both versions without the elements, and the unknown properties, that they have in common: these make no difference, and need not be as
 * their type has them.
 */
export function withoutCommon(from: Resource, to: Resource, model: PatchModel): readonly [Resource, Resource] {
  const type = model.type(from.resourceType);
  const nameOf = (key: string): string => {
    const plain = key.startsWith('_') ? key.slice(1) : key;
    return type?.keys.get(plain)?.element.name ?? plain;
  };
  const differing = new Set<string>();
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const isSame = Object.hasOwn(from, key) && Object.hasOwn(to, key) && equalJson(from[key]!, to[key]!);
    if (!isSame) differing.add(nameOf(key));
  }
  const pick = (resource: Resource): Resource => {
    const kept = Object.entries(resource).filter(([key]) => key === 'resourceType' || differing.has(nameOf(key)));
    return Object.fromEntries(kept) as Resource;
  };
  return [pick(from), pick(to)];
}

/**
 * The first place where a stored resource is not as its type has it: a FHIRPath Patch names elements, and no element is there. Such
 * resources were stored by an older version of the definitions, or without validation.
 *
 * @returns undefined: all is as its type has it, as far as the structure of a patch depends on it
 */
export function findMisshape(resource: Resource, model: PatchModel): Misshape | undefined {
  return inObject(resource, resource.resourceType, resource.resourceType, model);
}

function inObject(object: JsonObject, typeName: string, path: string, model: PatchModel): Misshape | undefined {
  const type = model.type(typeName);
  if (type === undefined) return { path, text: 'is of an unknown type' };
  const seen = new Map<PatchElement, string>();
  for (const name of Object.keys(object)) {
    if (name === 'resourceType') continue;
    const key = name.startsWith('_') ? name.slice(1) : name;
    const found = type.keys.get(key);
    const place = `${path}.${name}`;
    if (found === undefined) return { path: place, text: `is no element of ${type.name}` };
    const { element, type: own } = found;
    if ((seen.get(element) ?? key) !== key) return { path: `${path}.${element.name}`, text: 'has several types' };
    seen.set(element, key);
    const fault = inMember(object[name] ?? null, { element, own, isTwin: key !== name, type }, place, model);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

interface Member {
  readonly element: PatchElement;
  /** The type of its values. */
  readonly own: string;
  /** Whether it has the ids and extensions of primitives, not their values. */
  readonly isTwin: boolean;
  readonly type: PatchType;
}

function inMember(value: JsonValue, member: Member, path: string, model: PatchModel): Misshape | undefined {
  const { element, isTwin } = member;
  if (isTwin && !element.twins) return { path, text: `is no element of ${member.type.name}` };
  if (Array.isArray(value) !== element.list) {
    return { path, text: element.list ? 'is no array' : 'is an array, and does not repeat' };
  }
  if (!Array.isArray(value)) return inItem(value, member, path, model);
  for (const [i, item] of value.entries()) {
    // Where a list of primitives has only an id or extensions, or only a value, the other is null.
    const fault = item === null && element.twins ? undefined : inItem(item, member, `${path}[${i}]`, model);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function inItem(value: JsonValue, { own, isTwin }: Member, path: string, model: PatchModel): Misshape | undefined {
  if (isTwin) return isObject(value) ? undefined : { path, text: 'is no object' };
  const form = model.primitive(own);
  if (form !== undefined) return formOf(value) === form ? undefined : { path, text: `is no ${form}` };
  if (!isObject(value)) return { path, text: `is no ${own}` };
  const named = value['resourceType'];
  const type = model.isResource(own) && typeof named === 'string' ? named : own;
  return inObject(value, type, path, model);
}

function formOf(value: JsonValue): string {
  return value instanceof Decimal ? 'number' : typeof value;
}
