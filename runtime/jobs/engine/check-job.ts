import { compileSchema, type SchemaCheck } from '../../fhir/json-schema.js';
import type { Job } from '../../core/jobs.js';

/** JSON Schemas of what a kind of job keeps in the store. */
export interface JobSchemas {
  readonly input: object;
  /** Not asked where a job has no checkpoint yet. */
  readonly checkpoint: object;
}

const compiled = new WeakMap<object, SchemaCheck>();

/**
 * What is wrong with the documents of a job: another version of the program may have written them. An empty list: nothing is.
 * Values are not shown, because the input of a job may hold what its owner alone may see.
 */
export function jobFaults({ input, checkpoint }: Job, schemas: JobSchemas): readonly string[] {
  const faults = check(schemas.input, input).map((fault) => `input${fault}`);
  const others = checkpoint === undefined ? [] : check(schemas.checkpoint, checkpoint);
  return [...faults, ...others.map((fault) => `checkpoint${fault}`)];
}

function check(schema: object, value: unknown): readonly string[] {
  let known = compiled.get(schema);
  if (known === undefined) compiled.set(schema, (known = compileSchema(schema, { isSecret: true })));
  return known(value);
}
