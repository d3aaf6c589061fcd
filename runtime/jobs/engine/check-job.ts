import { compileSchema } from '../../fhir/json-schema.js';
import type { Job } from '../../core/jobs.js';
import { memoizeWeak } from '../../fhir/memory/memoize.js';

/** JSON Schemas of what a kind of job keeps in the store. */
export interface JobSchemas {
  readonly input: object;
  /** Not asked where a job has no checkpoint yet. */
  readonly checkpoint: object;
}

const compiled = memoizeWeak((schema: object) => compileSchema(schema, { isSecret: true }));

/**
 * Returns the faults of the input and the checkpoint of a job, which another version of the program may have written; an empty
 * list: none. Values are not shown, because the input of a job may hold data that only its owner may see.
 */
export function jobFaults({ input, checkpoint }: Job, schemas: JobSchemas): readonly string[] {
  const faults = compiled(schemas.input)(input).map((fault) => `input${fault}`);
  const others = checkpoint === undefined ? [] : compiled(schemas.checkpoint)(checkpoint);
  return [...faults, ...others.map((fault) => `checkpoint${fault}`)];
}
