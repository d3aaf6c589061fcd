import type { Visit } from '../../path/visit.js';
import type { Converters, Harvest, Target } from './converter.js';
import { numberOf } from './json.js';

/** Entries of number parameters. https://hl7.org/fhir/R5/search.html#number */
export const numberConverters: Converters = { integer: plain, integer64: plain, decimal: plain };

function plain({ param }: Target): Visit<Harvest> {
  return (value, { out }) => {
    const number = numberOf(value);
    if (number !== undefined) out.push({ kind: 'number', param, value: number });
  };
}
