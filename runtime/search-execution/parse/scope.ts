import { append } from '../../fhir/lists.js';
import type { CompartmentRow } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import { nearest } from '../../fhir/nearest.js';
import { searchDefinitions, type SearchDefinitions } from '../../indexing/definitions.js';
import { parseCriterion } from '../../search/parse/parse-criterion.js';
import { some } from '../../search/parse/unknown-parameter.js';
import { usedBy, type UsedParameter } from '../../search/parse/used-by.js';
import type { Condition, Target } from '../../search/query/query.js';
import type { Call } from '../../core/call.js';
import type { ServiceTables } from '../../core/services.js';
import { searchContext, type SearchInput, type SearchServices } from './search-context.js';
import { quote } from '../../fhir/quote.js';

/** The resources that a search looks at. https://hl7.org/fhir/R5/search.html#searchcontexts */
export interface SearchScope {
  /** Below the base: `Patient`, `Patient/1/Observation`; empty: the system. */
  readonly path: string;
  /** The type whose parameters are valid; absent: the parameters that all types have are valid. */
  readonly type?: string;
  /** The types that are searched, in code-point order; where they are several, `_type` may choose some. */
  readonly types: readonly string[];
  /** The compartment that the resources have to be in. */
  readonly compartment?: Compartment;
}

/** The compartment of one resource. */
export interface Compartment {
  readonly row: CompartmentRow;
  readonly id: string;
}

/** The parameter that names the types of a search over several. https://hl7.org/fhir/R5/search.html#_type */
export const TYPES = '_type';

/** Instead of a type: all types of a compartment. */
const ALL = '*';

/** Instead of the code of a parameter: the resource that the compartment is named after. */
export const ITSELF = '{def}';

/**
 * The scope of a call: the system, a type, or a compartment.
 *
 * @throws FhirError `unknown-path` where the tables do not have the compartment, or the type is not in it
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

/**
 * The types that a search looks at: one, those that `_type` names, or all.
 *
 * @throws FhirError `parameter-invalid` for a type that does not exist or is not in the scope of the search
 */
export function chooseTypes(
  { type, types, params }: Pick<SearchInput, 'type' | 'types' | 'params'>,
  { resourceTypes, isResourceType }: Pick<SearchDefinitions, 'resourceTypes' | 'isResourceType'>,
): readonly string[] {
  if (type !== undefined) return [type];
  const searched = types ?? resourceTypes;
  // The loop over all parameters refuses a second `_type`.
  const value = params.find(({ name }) => name === TYPES)?.value ?? '';
  if (value === '') return searched;
  const chosen = value.split(',', resourceTypes.length + 1).map((name) => name.trim());
  if (chosen.length > resourceTypes.length)
    throw invalid(`these are more than there are types, ${resourceTypes.length}`);
  for (const name of chosen) {
    if (!isResourceType(name)) {
      const near = name.length > 64 ? undefined : nearest(name, searched);
      throw invalid(`${quote(name)} is no resource type${near === undefined ? '' : `; did you mean ${near}?`}`);
    }
    if (!searched.includes(name)) throw invalid(`${name} is not searched here; these are: ${some(searched)}`);
  }
  return searched.filter((each) => chosen.includes(each));
}

/** Conditions that a scope sets for each type, and the parameters that they use. */
export interface Membership {
  readonly parts: readonly Target[];
  readonly used: readonly UsedParameter[];
}

/**
 * Returns the conditions that resources of each type have to fulfill to be in the scope of a search. Without a compartment
 * there are none; with one they have to be in it.
 */
export function readMembership(
  { compartment }: Pick<SearchScope, 'compartment'>,
  types: readonly string[],
  source: Pick<SearchInput, 'now'>,
  services: SearchServices,
): Membership {
  if (compartment === undefined) return { parts: types.map((type) => ({ type, where: { all: [] } })), used: [] };
  const definitions = searchDefinitions(services.tables);
  const used: UsedParameter[] = [];
  const parts = types.map((type): Target => {
    const input = { ...source, type, isPosted: false, isLenient: false };
    const { hierarchy: _none, ...context } = searchContext(input, services.search, services).context;
    const members = membersOf(compartment, type, (name, value) => parseCriterion(name, value, context));
    for (const each of members) append(used, usedBy(type, each, definitions));
    const [only] = members;
    return { type, where: members.length === 1 && only !== undefined ? only : { some: members } };
  });
  return { parts, used };
}

/**
 * The conditions of which a resource has to fulfill one to be in a compartment: it refers to the compartment's resource by some
 * parameter, or is that resource. The compartment's resource need not exist.
 * https://hl7.org/fhir/R5/compartmentdefinition.html
 *
 * @param type one of the compartment's types
 * @param parse reads a parameter of the type
 */
export function membersOf(
  { row, id }: Compartment,
  type: string,
  parse: (name: string, value: string) => Condition,
): readonly Condition[] {
  const codes = row.members[type] ?? [];
  return codes.map((code) => (code === ITSELF ? { ids: [id] } : parse(code, `${row.type}/${id}`)));
}

function invalid(what: string): FhirError {
  const text = `${TYPES} has names of resource types, separated by commas: ${what}`;
  return new FhirError('parameter-invalid', text, { parameter: TYPES });
}
