import type { CompartmentRow } from '../../../contract/search.js';
import { FhirError } from '../../../fhir/errors.js';
import type { Call } from '../../call.js';
import type { ServiceTables } from '../../services.js';

/** What a search looks at. https://hl7.org/fhir/R5/search.html#searchcontexts */
export interface SearchScope {
  /** Below the base: `Patient`, `Patient/1/Observation`; empty: the system. */
  readonly path: string;
  /** The type whose parameters count; absent: those that all types have count. */
  readonly type?: string;
  /** The types that are searched, in code-point order; of several a client may choose some with `_type`. */
  readonly types: readonly string[];
  /** What the resources have to be part of. */
  readonly compartment?: Compartment;
}

/** The compartment of one resource. */
export interface Compartment {
  readonly row: CompartmentRow;
  readonly id: string;
}

/** All types of a compartment, in the place of one. */
const ALL = '*';

/**
 * What a call searches: the system, a type, or a compartment.
 *
 * @throws FhirError `unknown-path` where the tables have no such compartment, or not that type in it
 */
export function scopeOf(
  { type, id, member }: Pick<Call, 'type' | 'id' | 'member'>,
  { resourceTypes, compartments }: Pick<ServiceTables, 'resourceTypes' | 'compartments'>,
): SearchScope {
  if (type === undefined) return { path: '', types: resourceTypes };
  if (id === undefined || member === undefined) return { path: type, type, types: [type] };
  const row = compartments.find((each) => each.type === type);
  if (row === undefined) throw new FhirError('unknown-path', `There is no compartment of ${type}`);
  const path = `${type}/${id}/${member}`;
  const compartment = { row, id };
  if (member !== ALL && row.members[member] === undefined) {
    throw new FhirError('unknown-path', `There is no ${member} in the compartment of ${type}`);
  }
  if (member !== ALL) return { path, type: member, types: [member], compartment };
  return { path, types: resourceTypes.filter((each) => row.members[each] !== undefined), compartment };
}
