import type { Condition } from '../../../search/query/query.js';
import type { Compartment } from './scope.js';

/** In the place of a parameter: the resource that the compartment is named after. */
export const ITSELF = '{def}';

/**
 * What makes a resource of a type part of a compartment, one of these: that it refers to the compartment's resource by some
 * parameter, or is that resource itself. Whether that exists does not matter.
 * https://hl7.org/fhir/R5/compartmentdefinition.html
 *
 * @param type one that the compartment has
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
