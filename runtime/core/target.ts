import type { Call } from './call.js';

/**
 * Type and id that the route of an interaction always has.
 *
 * @throws Error where a route row lacks them: a defect of the tables
 */
export function targetOf(call: Call): { readonly type: string; readonly id: string } {
  return { type: typeOf(call), id: required(call.id, 'id') };
}

/** The type that the route of an interaction always has. */
export function typeOf(call: Call): string {
  return required(call.type, 'type');
}

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new Error(`a call without ${name}`);
  return value;
}
