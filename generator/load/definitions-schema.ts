import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { compileSchema, type SchemaCheck } from '../../runtime/fhir/json-schema.js';

/** Checks a value against one of the schemas in `definitions/schemas/`; an empty list if it is valid. */
export type DefinitionCheck = (schema: string, value: unknown) => readonly string[];

/** Compiles the schemas of a folder on first use. */
export function schemaCheck(dir: string): DefinitionCheck {
  const checks = new Map<string, SchemaCheck>();
  return (schema, value) => {
    let check = checks.get(schema);
    if (check === undefined) {
      check = compileSchema(JSON.parse(readFileSync(join(dir, `${schema}.schema.json`), 'utf8')) as object);
      checks.set(schema, check);
    }
    return check(value);
  };
}
