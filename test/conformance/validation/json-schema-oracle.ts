import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';

/** What the official JSON schema says of a resource: nothing, or its first error. */
export type JsonSchemaOracle = (resource: unknown) => ErrorObject | undefined;

interface Schema {
  $id?: string;
  $schema?: string;
  id?: string;
  discriminator?: { propertyName: string };
  type?: string;
  readonly definitions: Record<string, { type?: string; discriminator?: object }>;
}

/**
 * Compiles the official JSON schema of hl7.fhir.r5.core with ajv, in a second or two. Two things are mended: the decimal
 * pattern, which has a stray brace (ajv would refuse it), and the lists of all types, which get the discriminator that
 * the root has, so that an error is that of the one type that is meant.
 */
export function compileJsonSchema(): JsonSchemaOracle {
  const validate = compile().getSchema('fhir')!;
  return (resource) => (validate(resource) ? undefined : validate.errors![0]);
}

/** The compiled schemas of single types, as quick as ajv gets: without looking for the type first. */
export function compileTypeSchemas(types: readonly string[]): ReadonlyMap<string, ValidateFunction> {
  const ajv = compile();
  return new Map(types.map((type) => [type, ajv.getSchema(`fhir#/definitions/${type}`)!]));
}

function compile(): Ajv {
  const file = createRequire(import.meta.url).resolve('hl7.fhir.r5.core/openapi/fhir.schema.json');
  const schema = JSON.parse(readFileSync(file, 'utf8').replaceAll('[0-9]{1,9}})?$', '[0-9]{1,9})?$')) as Schema;
  delete schema.$schema;
  delete schema.id;
  schema.$id = 'fhir';
  const discriminator = { propertyName: 'resourceType' };
  // A discriminator looks at objects only, and hides that its alternatives are all objects.
  Object.assign(schema, { discriminator, type: 'object' });
  Object.assign(schema.definitions['ResourceList']!, { discriminator, type: 'object' });
  const ajv = new Ajv({ strict: false, discriminator: true, validateFormats: false });
  return ajv.addSchema(schema);
}
