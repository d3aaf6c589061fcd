import { tables } from '../generated/tables.js';
import { memoize } from '../runtime/fhir/memory/memoize.js';
import { compileExpression } from '../runtime/path/evaluate/compile-expression.js';
import { beginEvaluation, evaluateOn } from '../runtime/path/evaluate/evaluate-on.js';
import { createSchema } from '../runtime/path/evaluate/schema.js';
import { indexRows } from '../runtime/path/expression/type-index.js';

const schema = createSchema(indexRows(tables.types, tables.primitives));
const compile = memoize((text: string) => compileExpression(text));

/** Values that an expression finds on a resource. */
export function evaluateText(text: string, resource: object, budget = 1_000_000): readonly unknown[] {
  return evaluateOn(compile(text), resource, '', beginEvaluation(resource, schema, budget)).map(({ value }) => value);
}
