import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';

/** Checks a value against one of the schemas in `definitions/schemas/`; an empty list if it is valid. */
export type SchemaCheck = (schema: string, value: unknown) => readonly string[];

/**
 * Compiles the schemas of a folder on first use.
 *
 * A fault reads `POINTER: actual value; expected description`. The expectation is the `description` beside the keyword that
 * failed, so every pattern and every choice in the schemas has one.
 */
export function schemaCheck(dir: string): SchemaCheck {
  // Two strict checks are off, because they reject `required` and conditions inside a choice, which these schemas need.
  const strict = { strictSchema: true, strictNumbers: true, strictTypes: false, strictRequired: false };
  const ajv = new Ajv2020({ allErrors: true, verbose: true, ...strict });
  return (schema, value) => {
    const validate =
      ajv.getSchema(schema) ??
      ajv
        .addSchema(JSON.parse(readFileSync(join(dir, `${schema}.schema.json`), 'utf8')) as object, schema)
        .getSchema(schema);
    if (validate === undefined || validate(value)) return [];
    return [...new Set((validate.errors ?? []).filter(isRelevant).map(describe))];
  };
}

/** Whether a fault is relevant. Those of a choice's branches are not: they would hide the fault of the choice itself. */
function isRelevant(error: ErrorObject): boolean {
  const aside = ['if', 'propertyNames'];
  return !aside.includes(error.keyword) && !/\/(oneOf|anyOf|not)\/\d+\//.test(`${error.schemaPath}/`);
}

function describe(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  const parent = error.parentSchema as { description?: string };
  const found = preview(error.data);
  const at = (name?: unknown): string =>
    name === undefined ? error.instancePath || '/' : `${error.instancePath}/${escape(String(name))}`;
  switch (error.keyword) {
    case 'required':
      return `${at(params['missingProperty'])}: is missing`;
    case 'additionalProperties': {
      const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {});
      return `${at(params['additionalProperty'])}: is not known here; expected one of ${known.join(', ')}`;
    }
    case 'enum':
      return `${at()}: is ${found}; expected one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
    case 'const':
      return `${at()}: is ${found}; expected ${JSON.stringify(params['allowedValue'])}`;
    case 'type': {
      const type = String(params['type']);
      const expected = parent.description === undefined ? type : `${parent.description} (${type})`;
      return `${at()}: is ${found}; expected ${expected}`;
    }
    case 'uniqueItems':
      return `${at()}: items ${String(params['i'])} and ${String(params['j'])} are equal; expected each once`;
    default: {
      const name = error.propertyName;
      const what = name === undefined ? found : `the name ${JSON.stringify(name)}`;
      return `${at(name)}: is ${what}; expected ${parent.description ?? `that it ${error.message ?? 'is sound'}`}`;
    }
  }
}

function escape(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function preview(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
