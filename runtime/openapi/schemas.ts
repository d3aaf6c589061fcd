import type { PrimitiveRow, TypeRow } from '../contract/index.js';
import { elementsOf, rowsByName } from '../contract/type-rows.js';
import type { JsonObject } from '../fhir/resource.js';
import { formsOf } from '../path/expression/type-index.js';

/** Tables that schemas are made from. */
export interface SchemaTables {
  readonly types: readonly TypeRow[];
  readonly primitives: readonly PrimitiveRow[];
}

/**
 * How values are described. `full`: as FHIR has them, each primitive with a sibling for its id and extensions. `plain`: for generators
 * of clients, which make one member of `gender` and `_gender`: values alone, and whatever else is kept as it comes.
 */
export type PrimitiveForm = 'full' | 'plain';

/** Where the schema of a type is: a URL with a fragment. */
export type SchemaRef = (type: string) => string;

/** Name of the schema for a resource of any type. */
export const ANY_RESOURCE = 'AnyResource';

/** Types whose schema is that of any resource. */
const ANY: ReadonlySet<string> = new Set(['Resource', 'DomainResource']);

/** The schema of a type, what it inherits included. https://spec.openapis.org/oas/v3.1.0#schema-object */
export function schemaOf(
  type: TypeRow,
  tables: SchemaTables,
  refTo: SchemaRef,
  form: PrimitiveForm = 'full',
): JsonObject {
  const isPlain = form === 'plain';
  const elements = elementsOf(type.name, rowsByName(tables.types));
  const properties: JsonObject = {};
  const required: string[] = [];
  if (type.kind === 'resource') {
    properties['resourceType'] = { type: 'string', ...(isPlain ? { enum: [type.name] } : { const: type.name }) };
    required.push('resourceType');
  }
  for (const element of elements) {
    for (const [name, of] of formsOf(element)) {
      const primitive = tables.primitives.find((each) => each.name === of);
      const one =
        primitive === undefined ? { $ref: refTo(ANY.has(of) ? ANY_RESOURCE : of) } : primitiveSchema(primitive, form);
      const many = element.max === '*';
      const item = primitive === undefined || isPlain ? one : nullable(one);
      properties[name] = many ? { type: 'array', items: item } : one;
      if (primitive !== undefined && element.xml === undefined && !isPlain) {
        const twin = { $ref: refTo('Element') };
        properties[`_${name}`] = many ? { type: 'array', items: { anyOf: [twin, { type: 'null' }] } } : twin;
      }
      // A required primitive may have an extension in place of its value.
      if ((element.min ?? 0) > 0 && element.choice !== true && primitive === undefined) required.push(name);
    }
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: isPlain };
}

/** The schema for a resource of any type. */
export function anyResource(resourceTypes: readonly string[], form: PrimitiveForm = 'full'): JsonObject {
  // A generator makes a map of it, which keeps all that comes.
  if (form === 'plain') return { type: 'object', additionalProperties: true };
  return {
    type: 'object',
    properties: { resourceType: { type: 'string', enum: [...resourceTypes] } },
    required: ['resourceType'],
    additionalProperties: true,
  };
}

/** The JSON form of a primitive. https://hl7.org/fhir/R5/datatypes.html#primitive */
export function primitiveSchema(
  { name, json, pattern, min, max, maxLength }: PrimitiveRow,
  form: PrimitiveForm = 'full',
): JsonObject {
  if (json === 'boolean') return { type: 'boolean' };
  if (json === 'number') {
    const bounds = {
      ...(min !== undefined && { minimum: Number(min) }),
      ...(max !== undefined && { maximum: Number(max) }),
    };
    return name === 'decimal' ? { type: 'number' } : { type: 'integer', ...bounds };
  }
  // Patterns of FHIR are none of every language.
  if (form === 'plain') return { type: 'string' };
  return {
    type: 'string',
    ...(pattern !== undefined && { pattern: `^(?:${pattern})$` }),
    ...(maxLength !== undefined && { maxLength }),
  };
}

function nullable(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: 'null' }] };
}
