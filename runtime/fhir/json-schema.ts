import { createRequire } from 'node:module';

import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';

/** Options of `compileSchema`. */
export interface SchemaOptions {
  /** Whether values may be secrets: then faults do not show them. */
  readonly isSecret?: boolean;
}

/** Checks a value; an empty list if it is valid. */
export type SchemaCheck = (value: unknown) => readonly string[];

let ajv: Ajv2020 | undefined;

/**
 * The check of a JSON Schema (draft 2020-12). It is compiled on first use, and ajv is loaded with the first of all: neither is
 * on the way of a start. https://json-schema.org/draft/2020-12/json-schema-core
 *
 * A fault reads `POINTER: actual value; expected description`. The expectation is the `description` beside the keyword that
 * failed, so every pattern and every choice in a schema needs one.
 */
export function compileSchema(schema: object, { isSecret = false }: SchemaOptions = {}): SchemaCheck {
  let validate: ReturnType<Ajv2020['compile']> | undefined;
  return (value) => {
    validate ??= (ajv ??= createAjv()).compile(schema);
    if (validate(value)) return [];
    return [...new Set((validate.errors ?? []).filter(isRelevant).map((error) => describe(error, isSecret)))];
  };
}

function createAjv(): Ajv2020 {
  const library = createRequire(import.meta.url)('ajv/dist/2020.js') as { Ajv2020: typeof Ajv2020 };
  // Two strict checks are off, because they reject `required` and conditions inside a choice, which some schemas need.
  const strict = { strictSchema: true, strictNumbers: true, strictTypes: false, strictRequired: false };
  return new library.Ajv2020({ allErrors: true, verbose: true, ...strict });
}

/** Whether a fault is relevant. Those of a choice's branches are not: they would hide the fault of the choice itself. */
function isRelevant(error: ErrorObject): boolean {
  const aside = ['if', 'propertyNames'];
  return !aside.includes(error.keyword) && !/\/(oneOf|anyOf|not)\/\d+\//.test(`${error.schemaPath}/`);
}

function describe(error: ErrorObject, isSecret: boolean): string {
  const params = error.params as Record<string, unknown>;
  const parent = error.parentSchema as { description?: string };
  const found = isSecret ? 'not right' : preview(error.data);
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
