import { readReference } from '../reference-text.js';
import type { Environment } from './environment.js';
import { isJson, NONE, ofText, type Items } from './item.js';

/** `getResourceKey()`: the id of a resource. https://sql-on-fhir.org/ig/latest/StructureDefinition-ViewDefinition.html */
export function resourceKey(input: Items): Items {
  const [only] = input;
  if (input.length !== 1 || !isJson(only?.value)) return NONE;
  const { resourceType, id } = only.value;
  return typeof resourceType === 'string' && typeof id === 'string' ? ofText(id) : NONE;
}

/**
 * `getReferenceKey(Type?)`: the id that each reference names, equal to the key of its target. References to other types than asked for,
 * to other servers, contained resources and logical references have none.
 */
export function referenceKeys(input: Items, type: string | undefined, { bases }: Environment): Items {
  return input.flatMap(({ value }) => {
    const text = isJson(value) ? value['reference'] : undefined;
    if (typeof text !== 'string') return NONE;
    const named = bases === undefined ? readReference(text) : bases.read(text);
    const isOurs = named !== undefined && named.base === undefined;
    return isOurs && (type === undefined || named.type === type) ? ofText(named.id) : NONE;
  });
}
