import { faultOfXhtml } from '../fhir/xml/xhtml.js';
import { nearestNames } from './nearest-names.js';
import type { Plan, Property } from './plan.js';
import { formOf, primitiveForm, show } from './primitive-forms.js';
import type { ValidationRun } from './run.js';

/**
 * What to say of a fault once the check has met one. Each function reports at most one, but `faultInNeeds`, which
 * reports one for each element that is missing.
 */

type Json = Readonly<Record<string, unknown>>;

/** A property that the type does not have. */
export function faultOfName(run: ValidationRun, plan: Plan, key: string): void {
  if (run.isFull) return;
  if (key === 'resourceType') {
    run.report('misplaced-resource', `${plan.name} is no resource; leave "resourceType" out`, key);
    return;
  }
  const names = nearestNames(key, [...plan.properties.keys()]);
  const offer = names.near ? 'did you mean' : 'it has';
  const comments = key === 'fhir_comments' ? ' (comments are no longer part of FHIR)' : '';
  run.report('unknown-property', `${plan.name} has no property ${show(key)}${comments}; ${offer} ${names.text}`, key);
}

/** A second type of a choice. */
export function faultInChoice(run: ValidationRun, plan: Plan, property: Property, holder: Json): void {
  // The sibling of a value is of its type; and with its value it is one fault, not two.
  if (property.kind === 'sibling' && Object.hasOwn(holder, property.other)) return;
  const isHere = ({ key, choice }: Property): boolean => choice === property.choice && Object.hasOwn(holder, key);
  const here = [...plan.properties.values()].filter(isHere);
  const types = new Set(here.map(({ type }) => type));
  if (types.size === 1) return;
  run.report('bad-choice', `"${property.element}[x]" has one type, here it has ${list([...types])}`, property);
}

/** Required elements that are not there, or an object without anything. */
export function faultInNeeds(run: ValidationRun, plan: Plan, object: Json, seen: number): void {
  if (isEmpty(object)) {
    run.report('empty-object', `an object is never empty; leave it out, or give it content of ${plan.name}`);
    return;
  }
  for (const { bit, element, keys } of plan.needs) {
    if ((seen & bit) !== 0) continue;
    const more = keys.length > 8 ? [...keys.slice(0, 8), '…'] : keys;
    const what = keys.length === 1 ? `"${element}" is required` : `one of ${list(more, 'or')} is required`;
    run.report('missing-element', what, undefined, element);
  }
}

/** An extension with both or neither of value and extensions. */
export function faultInEither(run: ValidationRun, plan: Plan, object: Json, seen: number): void {
  const hasBoth = (seen & plan.either) !== 0;
  // Of an empty object, and of a misspelt value, there is a fault already.
  if (!hasBoth && (isEmpty(object) || Object.keys(object).some((key) => !plan.properties.has(key)))) return;
  const what = hasBoth ? 'has a value or extensions, not both' : 'needs a value or extensions';
  run.report('bad-extension', `an extension ${what} (ext-1)`);
}

/** An id, but neither a value nor extensions. The run is at the sibling. */
export function faultInSibling(run: ValidationRun, property: Property): void {
  run.report('no-content', `an element without a value needs extensions; "${property.key}" has an id only (ele-1)`);
}

/** A value that is not what its primitive type allows. With `isHere` the run is at it, else on its holder. */
export function faultInPrimitive(run: ValidationRun, property: Property, value: unknown, isHere = false): void {
  const tail = isHere ? undefined : property;
  const form = formOf(value);
  const { json, text } = primitiveForm(property.type);
  if (value === '') run.report('empty-string', 'a string is never empty; leave it out', tail);
  else if (typeof value === 'string' && property.type === 'xhtml') {
    run.report('bad-primitive', `no narrative in XHTML: ${faultOfXhtml(value) ?? text}`, tail);
  } else if (form === json) run.report('bad-primitive', `${show(value)} is no ${property.type}: ${text}`, tail);
  else faultOfForm(run, property, value, isHere);
}

/**
 * A value of another JSON type than the property has. With `isHere` the run is at it (for a repeating element: on
 * one of its values), else on its holder.
 */
export function faultOfForm(run: ValidationRun, property: Property, value: unknown, isHere = false): void {
  const tail = isHere ? undefined : property;
  const form = formOf(value);
  const wanted = wantedForm(property, isHere);
  if (form === 'null') run.report('null-value', nullText(property, isHere), tail);
  else if (Array.isArray(value) && value.length === 0) {
    run.report('empty-array', 'an array is never empty; leave it out', tail);
  } else if (property.list && !isHere) run.report('not-an-array', `it repeats, so it is ${wanted}, not ${form}`, tail);
  else if (form === 'an array' && !property.list) {
    run.report('too-many', `it does not repeat, so it is ${wanted}, not an array`, tail);
  } else run.report('wrong-type', `it is ${wanted}, not ${form}`, tail);
}

function wantedForm(property: Property, isHere: boolean): string {
  const one = property.kind === 'primitive' ? primitiveForm(property.type).json : 'an object';
  const type = property.kind === 'sibling' ? 'id and extensions' : property.type;
  return property.list && !isHere ? `an array (of ${type})` : `${one} (${type})`;
}

function nullText({ list, kind, other }: Property, isHere: boolean): string {
  if (!list || !isHere) return 'null stands for nothing; leave it out';
  if (kind === 'primitive') return `null needs an id or extensions at the same place of "${other}"`;
  if (kind === 'sibling') return `null needs a value at the same place of "${other}"`;
  return 'null is no value; leave it out';
}

/** Something else than a resource that the tables know. */
export function faultInResource(run: ValidationRun, value: unknown): void {
  const form = formOf(value);
  if (form !== 'an object') {
    run.report(form === 'null' ? 'null-value' : 'not-a-resource', `it is a resource (an object), not ${form}`);
    return;
  }
  const type = (value as Json)['resourceType'];
  if (typeof type !== 'string') {
    run.report('not-a-resource', `a resource names its type as text in "resourceType", this one has ${said(type)}`);
  } else {
    const names = nearestNames(type, [...run.types]);
    run.report(
      'unknown-resource-type',
      `there is no resource type ${show(type)}${names.near ? `; did you mean ${names.text}` : ''}`,
      'resourceType',
    );
  }
}

function said(value: unknown): string {
  return value === undefined ? 'none' : formOf(value);
}

function isEmpty(object: Json): boolean {
  for (const _ in object) return false;
  return true;
}

function list(names: readonly string[], word = 'and'): string {
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
}
