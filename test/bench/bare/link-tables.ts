import type { Resource } from '../../../runtime/fhir/resource.js';
import { BATCH } from '../data/load-clinic.js';

/** A column's value of a resource. */
type Read = (resource: Resource, serial: number) => string | number;

function at(path: string): Read {
  return (resource) => path.split('.').reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], resource) as string; // prettier-ignore
}

/** The id that a reference names. */
function idAt(path: string): Read {
  const read = at(path);
  return (resource, serial) => String(read(resource, serial)).split('/')[1]!;
}

/** Those that are loaded together have one time. */
const updated: Read = (_resource, serial) => Math.floor(serial / BATCH);

/** Tables for queries by hand that link resources: their columns, and indexes, each for one of the queries. */
export const LINK_TABLES: Readonly<
  Record<string, { readonly columns: Readonly<Record<string, Read>>; readonly indexes: readonly (readonly string[])[] }>
> = {
  Patient: { columns: { mrn: at('identifier.0.value'), updated }, indexes: [['mrn'], ['updated DESC', 'id']] },
  Encounter: {
    columns: { patient: idAt('subject.reference'), updated },
    indexes: [
      ['patient', 'id'],
      ['updated DESC', 'id'],
    ],
  },
  Condition: { columns: { encounter: idAt('encounter.reference') }, indexes: [['encounter', 'id']] },
  Observation: {
    columns: {
      code: at('code.coding.0.code'),
      patient: idAt('subject.reference'),
      encounter: idAt('encounter.reference'),
      unit: at('valueQuantity.code'),
      value: at('valueQuantity.value'),
    },
    indexes: [
      ['code', 'id'],
      ['patient', 'id'],
      ['patient', 'code', 'id'],
      ['encounter', 'id'],
      ['code', 'unit', 'value', 'patient'],
    ],
  },
};
