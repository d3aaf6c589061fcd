import type { ElementRow, Tables } from '../../contract/index.js';
import { elementsOf, rowsByName, type TypeRows } from '../../contract/type-rows.js';
import { FhirError } from '../../fhir/errors.js';
import { quote } from '../../fhir/quote.js';

const DEFINITIONS = 'http://hl7.org/fhir/StructureDefinition/';

/**
 * The value set that an element of the FHIR specification is bound to.
 * https://hl7.org/fhir/R5/valueset-operation-expand.html
 *
 * @param context `http://hl7.org/fhir/StructureDefinition/Patient#Patient.gender`
 * @throws FhirError `terminology-not-found` where the tables have no such element, or no binding for it
 */
export function boundValueSet(context: string, { types }: Pick<Tables, 'types'>): string {
  const [definition = '', path = ''] = context.split('#');
  const [root = '', ...names] = path.split('.');
  const isOwn = definition === `${DEFINITIONS}${root}`;
  const found = isOwn ? elementAt(root, names, rowsByName(types)) : undefined;
  if (found?.binding !== undefined) return found.binding.valueSet;
  const why = found === undefined ? `The server knows no element ${quote(context)}; ${DEFINITIONS}Patient#Patient.gender is one` : `The element ${path} is bound to no value set`; // prettier-ignore
  throw new FhirError('terminology-not-found', why);
}

function elementAt(root: string, names: readonly string[], types: TypeRows): ElementRow | undefined {
  let found: ElementRow | undefined;
  let type = root;
  for (const name of names) {
    const stem = name.replace(/\[x\]$/, '');
    found = elementsOf(type, types).find((each) => each.name === stem);
    if (found === undefined) return undefined;
    type = found.types[0] ?? '';
  }
  return found;
}
