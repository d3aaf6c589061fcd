import type { Visit } from '../../path/visit.js';
import type { IndexEntry, TokenEntry } from '../entry.js';
import type { Converters, Harvest, Target } from './converter.js';
import { Decimal } from '../../fhir/decimal.js';
import { objectOf, objectsOf, textOf } from './json.js';

/**
 * Entries of token parameters. https://hl7.org/fhir/R5/search.html#token
 *
 * Every coding of a concept counts; text and display do not (they are for `:text`, an index of words). A ContactPoint
 * has no system in a token search, as the table of the specification says: what the value is the number of
 * (`phone`) is asked by parameters of their own. Booleans have none either: theirs "is never actually used".
 */
export const tokenConverters: Converters = {
  string: plain,
  uri: plain,
  boolean: plain,
  integer: plain,
  decimal: plain,
  date: plain,
  dateTime: plain,
  instant: plain,
  code: ({ param, system }) => {
    return (value, { out }) => {
      if (typeof value === 'string') pushToken(out, param, system, value);
    };
  },
  Coding: ({ param }) => {
    return (value, { out }) => {
      pushCoding(out, param, value);
    };
  },
  CodeableConcept: ({ param }) => {
    return (value, { out }) => {
      pushConcept(out, param, value);
    };
  },
  CodeableReference: ({ param }) => {
    return (value, { out }) => {
      pushConcept(out, param, objectOf(value)?.['concept']);
    };
  },
  Identifier: ({ param }) => {
    return (value, { out }) => {
      pushIdentifier(out, param, value);
    };
  },
  ContactPoint: ({ param }) => {
    return (value, { out }) => {
      pushToken(out, param, undefined, textOf(objectOf(value)?.['value']));
    };
  },
};

function plain({ param }: Target): Visit<Harvest> {
  return (value, { out }) => {
    if (typeof value === 'string') pushToken(out, param, undefined, value);
    else if (typeof value === 'boolean' || typeof value === 'number') pushToken(out, param, undefined, String(value));
    else if (value instanceof Decimal) pushToken(out, param, undefined, value.text);
  };
}

function pushToken(out: IndexEntry[], param: string, system: string | undefined, code: string | undefined): void {
  if (code !== undefined && code !== '') {
    out.push(system === undefined ? { kind: 'token', param, code } : { kind: 'token', param, system, code });
  } else if (system !== undefined) out.push({ kind: 'token', param, system });
}

function pushCoding(out: IndexEntry[], param: string, value: unknown): void {
  const coding = objectOf(value);
  if (coding !== undefined) pushToken(out, param, textOf(coding['system']), textOf(coding['code']));
}

function pushConcept(out: IndexEntry[], param: string, value: unknown): void {
  const codings = objectOf(value)?.['coding'];
  if (!Array.isArray(codings)) return;
  for (let i = 0; i < codings.length; i++) pushCoding(out, param, codings[i]);
}

function pushIdentifier(out: IndexEntry[], param: string, value: unknown): void {
  const identifier = objectOf(value);
  if (identifier === undefined) return;
  const system = textOf(identifier['system']);
  const code = textOf(identifier['value']);
  const ofType = code === undefined ? undefined : typeCodings(identifier['type']);
  if (ofType === undefined) pushToken(out, param, system, code);
  else if (code !== undefined) {
    out.push(
      system === undefined ? { kind: 'token', param, code, ofType } : { kind: 'token', param, system, code, ofType },
    );
  }
}

/** Codings of an Identifier's type, for `:of-type`; undefined where there are none. */
function typeCodings(type: unknown): TokenEntry['ofType'] {
  const concept = objectOf(type);
  if (concept === undefined) return undefined;
  const codings: { system?: string; code: string }[] = [];
  for (const coding of objectsOf(concept['coding'])) {
    const system = textOf(coding['system']);
    const code = textOf(coding['code']);
    if (code !== undefined) codings.push(system === undefined ? { code } : { system, code });
  }
  return codings.length === 0 ? undefined : codings;
}
