import { jsonName } from '../contract/json-name.js';
import { elementsOf, rowsByName, type TypeRows } from '../contract/type-rows.js';
import type { Tables } from '../contract/tables.js';
import type { ElementRow, TypeRow } from '../contract/types.js';
import { compilePrimitives } from './compile-primitives.js';
import { CONTENT, MOST_BITS, type Need, type Plan, type PrimitiveTest, type Property } from './plan.js';

/** The tables that structure is checked by. */
export type StructureTables = Pick<Tables, 'types' | 'primitives' | 'resourceTypes'>;

/** Finds the plan of a type by name, making it at the first question. Throws for a type that the tables lack. */
export type FindPlan = (type: string) => Plan;

/** Makes plans from rows, one type at a time. */
export function createFindPlan(tables: StructureTables): FindPlan {
  const rows = rowsByName(tables.types);
  const tests = compilePrimitives(tables.primitives);
  const plans = new Map<string, Plan>();
  return (type) => {
    let plan = plans.get(type);
    if (plan === undefined) {
      const row = rowOf(rows, type);
      // By the name of the row: that of a resource may be a slice of its text, all of which would be kept with it.
      plans.set(row.name, (plan = compile(row, rows, tests)));
    }
    return plan;
  };
}

function compile(row: TypeRow, rows: TypeRows, tests: ReadonlyMap<string, PrimitiveTest>): Plan {
  const isResource = row.kind === 'resource';
  const properties = new Map<string, Property>();
  const add = (property: Property): void => void properties.set(property.key, property);
  if (isResource) add(typeName);
  if (row.additional === true) add(definitionName(tests));
  const needs: Need[] = [];
  let bits = 0;
  let either = 0;
  for (const element of elementsOf(row.name, rows)) {
    // ext-1 asks for what an extension holds; of other types only requirements and choices have to be remembered.
    const isEither = row.name === 'Extension' && (element.name === 'value' || element.name === 'extension');
    let bit = 0;
    if (element.choice || element.min || isEither) {
      if (bits === MOST_BITS) throw new Error(`${row.name} has too many required elements and choices`);
      bit = 1 << bits++;
    }
    if (isEither) either |= bit;
    const own = element.types.flatMap((type) => propertiesOf(element, type, bit, isResource, rows, tests));
    own.forEach(add);
    if (element.min) {
      const keys = own.filter(({ kind }) => kind !== 'sibling').map(({ key }) => key);
      needs.push({ bit, element: element.name, keys });
    }
  }
  const required = needs.reduce((sum, need) => sum | need.bit, isResource ? 0 : CONTENT);
  return { name: row.name, properties, required, needs, either };
}

/** A property for this type of an element and, where it is a primitive with room for extensions, one for its sibling. */
function propertiesOf(
  element: ElementRow,
  type: string,
  bit: number,
  inResource: boolean,
  rows: TypeRows,
  tests: ReadonlyMap<string, PrimitiveTest>,
): readonly Property[] {
  const key = jsonName(element, type);
  const test = tests.get(type);
  const list = element.max === '*';
  const value: Property = {
    key,
    element: element.name,
    type,
    kind: test ? 'primitive' : rowOf(rows, type).kind === 'resource' ? 'resource' : 'object',
    list,
    bits: bit | CONTENT,
    choice: element.choice ? bit : 0,
    test,
    single: list ? undefined : test,
    other: `_${key}`,
    plan: undefined,
  };
  // FHIR gives no extensions to what is a plain attribute: ids, the url of an extension, the text of a narrative.
  const isPlain = element.xml !== undefined || type === 'xhtml' || (inResource && element.name === 'id');
  if (test === undefined || isPlain) return [value];
  return [value, { ...value, key: `_${key}`, kind: 'sibling', test: undefined, single: undefined, other: key }];
}

/** What resources of additional types have beside their type. */
const DEFINITION = 'resourceDefinition';

/** The type of a resource: read before its other properties, so there is nothing left to test. */
const typeName: Property = {
  key: 'resourceType',
  element: 'resourceType',
  type: 'code',
  kind: 'type-name',
  list: false,
  bits: CONTENT,
  choice: 0,
  test: undefined,
  single: () => true,
  other: '',
  plan: undefined,
};

/** The canonical of what defines a resource of an additional type: no element of it. */
function definitionName(tests: ReadonlyMap<string, PrimitiveTest>): Property {
  const test = tests.get('canonical');
  const key = DEFINITION;
  return { ...typeName, key, element: key, type: 'canonical', kind: 'primitive', test, single: test };
}

function rowOf(rows: TypeRows, type: string): TypeRow {
  const row = rows.get(type);
  if (row === undefined) throw new Error(`the tables have no type ${type}`);
  return row;
}
