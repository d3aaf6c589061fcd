import r5 from 'fhirpath/fhir-context/r5';

import { tables } from '../../../generated/tables.js';
import { jsonName } from '../../../runtime/contract/json-name.js';
import { elementsOf, rowsByName } from '../../../runtime/contract/type-rows.js';

const rows = rowsByName(tables.types);
const additional = tables.types.filter(({ name }) => rows.get(name.split('.')[0] ?? '')?.additional === true);
const path2Type: Record<string, string> = {};
const path2Repeating: Record<string, true> = {};
const choiceTypePaths: Record<string, readonly string[]> = {};
const pathsDefinedElsewhere: Record<string, string> = {};
const type2Parent: Record<string, string> = {};
for (const { name, base = 'DomainResource' } of additional) {
  if (!name.includes('.')) type2Parent[name] = base;
  for (const element of elementsOf(name, rows)) {
    const path = `${name}.${element.name}`;
    if (element.choice)
      choiceTypePaths[path] = element.types.map((type) => `${type[0]!.toUpperCase()}${type.slice(1)}`);
    for (const type of element.types) {
      const one = `${name}.${jsonName(element, type)}`;
      if (element.max === '*') path2Repeating[one] = true;
      if (type.includes('.') && type !== one) pathsDefinedElsewhere[one] = type;
      else path2Type[one] = type.includes('.') ? 'BackboneElement' : element.name === 'id' ? 'System.String' : type;
    }
  }
}

const known = r5 as unknown as Record<string, object>;

/** The library's model of R5, with the types that this server has beside those of R5. */
export const model = {
  ...known,
  path2Type: { ...known['path2Type'], ...path2Type },
  path2TypeWithoutElements: { ...known['path2TypeWithoutElements'], ...path2Type },
  path2Repeating: { ...known['path2Repeating'], ...path2Repeating },
  choiceTypePaths: { ...known['choiceTypePaths'], ...choiceTypePaths },
  pathsDefinedElsewhere: { ...known['pathsDefinedElsewhere'], ...pathsDefinedElsewhere },
  type2Parent: { ...known['type2Parent'], ...type2Parent },
} as unknown as typeof r5;
