import type { Resource } from '../../../runtime/fhir/resource.js';
import { fold } from '../../../runtime/indexing/values/fold.js';

/** Reads a column's value off a resource. */
type Read = (resource: Resource) => string | number;

/** The value at a path of names and positions, converted. */
function at(path: string, convert: (value: string) => string | number = (value) => value): Read {
  return (resource) => {
    let value: unknown = resource;
    for (const step of path.split('.')) value = (value as Record<string, unknown>)[step];
    return convert(value as string);
  };
}

/** Columns of each type that queries need. */
export const BARE_COLUMNS: Readonly<Record<string, Readonly<Record<string, Read>>>> = {
  Patient: { mrn: at('identifier.0.value'), family: at('name.0.family', fold), birth: at('birthDate') },
  Observation: {
    code: at('code.coding.0.code'),
    status: at('status'),
    patient: at('subject.reference'),
    effective: at('effectiveDateTime', Date.parse),
    unit: at('valueQuantity.code'),
    value: at('valueQuantity.value'),
  },
};

/** A column of an index. */
type Key = readonly [column: string, direction: 'ASC' | 'DESC'];

const up = (...columns: readonly string[]): Key[] => columns.map((column) => [column, 'ASC']);

/** Indexes, each for one of the queries. */
export const BARE_INDEXES: Readonly<Record<string, readonly (readonly Key[])[]>> = {
  Patient: [up('mrn', 'id'), up('family', 'id'), up('birth', 'id')],
  Observation: [
    up('code', 'id'),
    up('status', 'id'),
    up('patient', 'id'),
    up('patient', 'code', 'id'),
    [...up('patient'), ['effective', 'DESC'], ...up('id')],
    up('effective', 'id'),
    up('code', 'unit', 'value', 'id'),
    up('unit', 'value', 'id'),
  ],
};
