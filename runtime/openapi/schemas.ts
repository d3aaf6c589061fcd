import type { ElementRow, PrimitiveRow, TypeRow } from '../contract/index.js';
import type { JsonObject } from '../fhir/resource.js';
import { formsOf } from '../path/expression/type-index.js';

/** What schemas are made from. */
export interface SchemaTables {
  readonly types: readonly TypeRow[];
  readonly primitives: readonly PrimitiveRow[];
}

/** Where the schema of a type is: a URL with a fragment. */
export type SchemaRef = (type: string) => string;

/** Name of the schema for a resource of any type. */
export const ANY_RESOURCE = 'AnyResource';

/** Types whose schema is that of any resource. */
const ANY: ReadonlySet<string> = new Set(['Resource', 'DomainResource']);

/** The schema of a type, what it inherits included. https://spec.openapis.org/oas/v3.1.0#schema-object */
export function schemaOf(type: TypeRow, tables: SchemaTables, refTo: SchemaRef): JsonObject {
  const elements = allElements(type, tables.types);
  const properties: JsonObject = {};
  const required: string[] = [];
  if (type.kind === 'resource') {
    properties['resourceType'] = { type: 'string', const: type.name };
    required.push('resourceType');
  }
  for (const element of elements) {
    for (const [name, of] of formsOf(element)) {
      const primitive = tables.primitives.find((each) => each.name === of);
      const one =
        primitive === undefined ? { $ref: refTo(ANY.has(of) ? ANY_RESOURCE : of) } : primitiveSchema(primitive);
      const many = element.max === '*';
      properties[name] = many ? { type: 'array', items: primitive === undefined ? one : nullable(one) } : one;
      if (primitive !== undefined && element.xml === undefined) {
        const twin = { $ref: refTo('Element') };
        properties[`_${name}`] = many ? { type: 'array', items: { anyOf: [twin, { type: 'null' }] } } : twin;
      }
      // A required primitive may have an extension in place of its value.
      if ((element.min ?? 0) > 0 && element.choice !== true && primitive === undefined) required.push(name);
    }
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

/** The schema for a resource of any type. */
export function anyResource(resourceTypes: readonly string[]): JsonObject {
  return {
    type: 'object',
    properties: { resourceType: { type: 'string', enum: [...resourceTypes] } },
    required: ['resourceType'],
    additionalProperties: true,
  };
}

function allElements(type: TypeRow, types: readonly TypeRow[]): readonly ElementRow[] {
  const base = types.find(({ name }) => name === type.base);
  return [...(base === undefined ? [] : allElements(base, types)), ...type.elements];
}

/** The JSON form of a primitive. https://hl7.org/fhir/R5/datatypes.html#primitive */
export function primitiveSchema({ name, json, pattern, min, max, maxLength }: PrimitiveRow): JsonObject {
  if (json === 'boolean') return { type: 'boolean' };
  if (json === 'number') {
    const bounds = {
      ...(min !== undefined && { minimum: Number(min) }),
      ...(max !== undefined && { maximum: Number(max) }),
    };
    return name === 'decimal' ? { type: 'number' } : { type: 'integer', ...bounds };
  }
  return {
    type: 'string',
    ...(pattern !== undefined && { pattern: `^(?:${pattern})$` }),
    ...(maxLength !== undefined && { maxLength }),
  };
}

function nullable(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: 'null' }] };
}
