import type { Visit } from '../../path/visit.js';
import type { IndexEntry } from '../entry.js';
import type { Converter, Converters, Harvest, Target } from './converter.js';
import { fold, foldString } from './fold.js';
import { objectOf } from './json.js';

/**
 * Entries of string parameters: one for each part of a name, an address or a concept, since a search may match any
 * of them. https://hl7.org/fhir/R5/search.html#string
 */
export const stringConverters: Converters = {
  string: plain,
  uri: plain,
  HumanName: parts(['text', 'family', 'given', 'prefix', 'suffix']),
  Address: parts(['text', 'line', 'city', 'district', 'state', 'postalCode', 'country']),
  ContactPoint: parts(['value']),
  Identifier: parts(['value']),
  Coding: parts(['display']),
  CodeableConcept: concept,
  CodeableReference: (target) => {
    const convert = concept(target);
    return (value, harvest) => {
      convert(objectOf(value)?.['concept'], harvest);
    };
  },
  Annotation: parts(['text']),
};

function plain({ param }: Target): Visit<Harvest> {
  return (value, { out }) => {
    if (typeof value === 'string') pushString(out, param, value);
  };
}

function concept({ param }: Target): Visit<Harvest> {
  return (value, { out }) => {
    pushParts(out, param, value, ['text']);
    const codings = objectOf(value)?.['coding'];
    if (!Array.isArray(codings)) return;
    for (let i = 0; i < codings.length; i++) pushParts(out, param, codings[i], ['display']);
  };
}

function parts(names: readonly string[]): Converter {
  return ({ param }) => {
    return (value, { out }) => {
      pushParts(out, param, value, names);
    };
  };
}

function pushParts(out: IndexEntry[], param: string, value: unknown, names: readonly string[]): void {
  const whole = objectOf(value);
  if (whole === undefined) return;
  for (let i = 0; i < names.length; i++) {
    const part = whole[names[i] ?? ''];
    if (typeof part === 'string') pushString(out, param, part);
    else if (Array.isArray(part)) {
      for (let j = 0; j < part.length; j++) {
        const item: unknown = part[j];
        if (typeof item === 'string') pushString(out, param, item);
      }
    }
  }
}

function pushString(out: IndexEntry[], param: string, text: string): void {
  const folded = foldString(text);
  // Text of nothing but white space or marks is nothing to search by; punctuation alone is there, and found by :exact.
  if (folded !== '' || fold(text) !== '') out.push({ kind: 'string', param, text, folded });
}
