import type { Focus, Visit } from '../../path/visit.js';
import { objectOf, objectsOf, textOf } from '../values/json.js';

/** Where texts go to. */
export interface TextFocus extends Focus {
  take(param: string, text: string, isXhtml?: boolean): void;
}

/** Takes the texts of a value, for a parameter. */
type Displays = (value: unknown, take: (text: string, isXhtml?: boolean) => void) => void;

/**
 * What stands for people beside a code, an identifier or a reference, by type of the value; and narratives.
 * https://hl7.org/fhir/R5/search.html#modifiertext
 */
const BY_TYPE: Readonly<Record<string, Displays>> = {
  Coding: (value, take) => textIn(value, 'display', take),
  CodeableConcept: concept,
  CodeableReference: (value, take) => {
    concept(objectOf(value)?.['concept'], take);
    textIn(objectOf(value)?.['reference'], 'display', take);
  },
  Identifier: (value, take) => textIn(objectOf(value)?.['type'], 'text', take),
  Reference: (value, take) => textIn(value, 'display', take),
  Narrative: (value, take) => textIn(value, 'div', (text) => take(text, true)),
};

/** Whether values of a type have text beside them. */
export function hasDisplays(type: string): boolean {
  return Object.hasOwn(BY_TYPE, type);
}

/** The visit that takes the texts of values of these types. */
export function takeDisplays(param: string, types: readonly string[]): Visit<TextFocus> {
  const displays = types.flatMap((type) => (hasDisplays(type) ? [BY_TYPE[type]!] : []));
  return (value, focus) => {
    focus.charge?.(value);
    for (const each of displays) each(value, (text, isXhtml) => focus.take(param, text, isXhtml));
  };
}

function textIn(value: unknown, name: string, take: (text: string) => void): void {
  const text = textOf(objectOf(value)?.[name]);
  if (text !== undefined) take(text);
}

function concept(value: unknown, take: (text: string) => void): void {
  textIn(value, 'text', take);
  for (const coding of objectsOf(objectOf(value)?.['coding'])) textIn(coding, 'display', take);
}
