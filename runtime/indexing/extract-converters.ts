import type { Tables } from '../contract/tables.js';
import { positionConverters, regionConverters } from './places/converters.js';
import type { Converter, Converters, ValueSearchType } from './values/converter.js';
import { dateConverters } from './values/date.js';
import { numberConverters } from './values/number.js';
import { quantityConverters } from './values/quantity.js';
import { referenceConverters } from './values/reference.js';
import { stringConverters } from './values/string.js';
import { tokenConverters } from './values/token.js';
import { uriConverters } from './values/uri.js';

const bySearchType: Readonly<Record<ValueSearchType, Converters>> = {
  date: dateConverters,
  number: numberConverters,
  position: positionConverters,
  quantity: quantityConverters,
  reference: referenceConverters,
  region: regionConverters,
  string: stringConverters,
  token: tokenConverters,
  uri: uriConverters,
};

/** Finds the converter of a FHIR type for a search type; undefined: such values cannot be searched so. */
export type FindConverter = (search: ValueSearchType, type: string) => Converter | undefined;

/**
 * Looks a type up, then the types that it specialises (`Age` is a `Quantity`, `code` a `string`, every resource type
 * a `Resource`), as the tables tell. https://hl7.org/fhir/R5/search.html#table
 */
export function createFindConverter(tables: Pick<Tables, 'types' | 'primitives'>): FindConverter {
  const bases = new Map<string, string>();
  for (const { name, base } of [...tables.types, ...tables.primitives]) {
    if (base !== undefined) bases.set(name, base);
  }
  return (search, type) => {
    const converters = bySearchType[search];
    for (let name: string | undefined = type; name !== undefined; name = bases.get(name)) {
      if (Object.hasOwn(converters, name)) return converters[name];
    }
    return undefined;
  };
}
