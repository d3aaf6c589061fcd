import type { ElementRow } from './types.js';

/** Name in JSON and XML of an element that has a value of a type: that of `value[x]` with a Quantity is `valueQuantity`. */
export function jsonName(
  { name, choice }: Pick<ElementRow, 'name'> & { readonly choice?: boolean },
  type: string,
): string {
  return choice === true ? name + type.charAt(0).toUpperCase() + type.slice(1) : name;
}
