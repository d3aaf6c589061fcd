import { SYSTEM_TYPES, type TypeIndex } from '../expression/type-index.js';
import type { Item } from './item.js';

/**
 * Whether a value is of a type or of one that specialises it. `String` and the like mean the types of FHIRPath, which values
 * of FHIR are not. https://hl7.org/fhirpath/N1/#types-and-reflection
 */
export function isOfType({ type }: Item, name: string, types: TypeIndex): boolean {
  if (type === name || type === `System.${name}`) return true;
  if (name.startsWith('System.') || (SYSTEM_TYPES.has(name) && !types.isType(name))) return false;
  return types.ancestors(type).includes(name);
}
