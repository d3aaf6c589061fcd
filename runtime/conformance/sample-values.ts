import type { SearchType } from '../contract/search.js';
import { UCUM } from '../fhir/ucum/system.js';

/** A value to store, what a search has to say to find it, and what to miss it. */
export interface SampleValue {
  readonly value: unknown;
  readonly finds: string;
  readonly misses: string;
}

const SYSTEM = 'urn:kiln:conformance';
const DAY = '2001-02-03';
const MOMENT = `${DAY}T04:05:06Z`;
const YEAR = { finds: '2001', misses: '1999' };
const COUNT = { finds: '5', misses: '7' };
const MASS = { value: 5, unit: 'kg', system: UCUM, code: 'kg' };

/**
 * Returns a value of a type that searches can tell from others.
 *
 * @param word a word that no other resource has
 * @param search what the parameter searches for: tokens and strings read the same element differently
 * @returns undefined: no such value is known
 */
export function sampleOf(type: string, search: SearchType, word: string): SampleValue | undefined {
  const value = VALUES[type]?.(word);
  if (value === undefined) return undefined;
  const searched = searchedBy(type, search, word);
  return searched === undefined ? undefined : { value, ...searched };
}

/** Values by type; a word makes those of two runs different. */
const VALUES: Readonly<Record<string, (word: string) => unknown>> = {
  Identifier: (word) => ({ system: SYSTEM, value: word }),
  Coding: (word) => ({ system: SYSTEM, code: word }),
  CodeableConcept: (word) => ({ coding: [{ system: SYSTEM, code: word }] }),
  CodeableReference: (word) => ({ concept: { coding: [{ system: SYSTEM, code: word }] } }),
  ContactPoint: (word) => ({ system: 'email', value: `${word}@example.org` }),
  HumanName: (word) => ({ family: word }),
  Address: (word) => ({ city: word }),
  Period: () => ({ start: MOMENT, end: MOMENT }),
  Timing: () => ({ event: [MOMENT] }),
  Quantity: () => MASS,
  SimpleQuantity: () => MASS,
  Age: () => ({ ...MASS, unit: 'a', code: 'a' }),
  Duration: () => ({ ...MASS, unit: 'd', code: 'd' }),
  Range: () => ({ low: MASS, high: MASS }),
  Money: () => ({ value: 5, currency: 'EUR' }),
  Annotation: (word) => ({ text: word }),
  date: () => DAY,
  dateTime: () => MOMENT,
  instant: () => MOMENT,
  boolean: () => true,
  integer: () => 5,
  integer64: () => '5',
  positiveInt: () => 5,
  unsignedInt: () => 5,
  decimal: () => 5,
  code: (word) => word,
  id: (word) => word,
  string: (word) => word,
  markdown: (word) => word,
  uri: (word) => `urn:kiln:${word}`,
  oid: () => 'urn:oid:2.999.5',
  url: (word) => `http://example.org/${word}`,
  canonical: (word) => `http://example.org/${word}`,
};

function searchedBy(type: string, search: SearchType, word: string): Omit<SampleValue, 'value'> | undefined {
  switch (search) {
    case 'token': {
      if (type === 'boolean') return { finds: 'true', misses: 'false' };
      if (type === 'ContactPoint') return wordAnd(`${word}@example.org`);
      const isCoded = ['Identifier', 'Coding', 'CodeableConcept', 'CodeableReference'].includes(type);
      if (isCoded) return { finds: `${SYSTEM}|${word}`, misses: `${SYSTEM}|${word}-other` };
      return ['Quantity', 'Range', 'Period'].includes(type) ? undefined : textOf(type, word);
    }
    case 'string':
      return wordAnd(word);
    case 'date':
      return YEAR;
    case 'number':
      return COUNT;
    case 'quantity':
      return type === 'Money' ? { finds: '5||EUR', misses: '7||EUR' } : COUNT;
    case 'uri':
    case 'reference':
      return textOf(type, word);
    default:
      return undefined;
  }
}

function textOf(type: string, word: string): Omit<SampleValue, 'value'> {
  const value = VALUES[type]?.(word);
  return wordAnd(typeof value === 'string' ? value : word);
}

function wordAnd(finds: string): Omit<SampleValue, 'value'> {
  return { finds, misses: `${finds}-other` };
}
