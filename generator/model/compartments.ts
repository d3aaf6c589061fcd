import type { CompartmentRow } from '../../runtime/contract/index.js';
import type { CompartmentDefinition } from '../load/fhir-json.js';
import { byCodePoint } from './names.js';

/** The compartments, without members that a type may not be in. https://hl7.org/fhir/R5/compartmentdefinition.html */
export function buildCompartments(definitions: readonly CompartmentDefinition[]): CompartmentRow[] {
  return definitions
    .map((definition) => ({
      type: definition.code,
      url: definition.url,
      members: Object.fromEntries(
        (definition.resource ?? [])
          .map((member): [string, string[]] => [member.code, [...(member.param ?? [])].sort(byCodePoint)])
          .filter(([, params]) => params.length > 0)
          .sort(([a], [b]) => byCodePoint(a, b)),
      ),
    }))
    .sort((a, b) => byCodePoint(a.type, b.type));
}
