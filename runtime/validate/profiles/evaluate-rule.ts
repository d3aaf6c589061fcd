import type { Resource } from '../../fhir/resource.js';
import { compileExpression } from '../../path/evaluate/compile-expression.js';
import type { Environment } from '../../path/evaluate/environment.js';
import type { Evaluate } from '../../path/evaluate/function-types.js';
import { Item, type Json } from '../../path/evaluate/item.js';
import { schemaOfTables, type SchemaTables } from '../../path/evaluate/schema-of-tables.js';
import { beginEvaluation, compileLibrary, type EvaluateLibrary, type Evaluation } from '../../path/library/evaluate.js';
import type { FhirTypes } from './fhir-types.js';
import type { ProfileDeps, RuleFocus } from './profile-deps.js';

/** Compiled expressions that are kept; those of stored definitions come and go. */
const KEPT = 2000;
/** Values that the rules of one validation may look at in our own evaluator. */
const BUDGET = 200_000;

/** Functions that cost no more than the values they look at, and need nothing from elsewhere. */
const PLAIN: ReadonlySet<string> = new Set(
  'empty exists not where all count first hasValue extension ofType as is toString length startsWith endsWith'.split(
    ' ',
  ),
);

/** Evaluates one rule at its focus. */
type RuleEvaluation = (focus: RuleFocus, resource: Resource, begun: Begun) => readonly { readonly value: unknown }[];

/** What the rules of one validation have in common. */
interface Begun {
  readonly own: { left: number };
  /** An error: why the resource cannot be evaluated. To find that out costs as much as a resource that can. */
  readonly library: Map<Resource, Evaluation | Error>;
}

/**
 * Evaluates rules of profiles: plain ones with our own evaluator, which is faster, others with the FHIRPath library. A rule that finds
 * nothing holds: `$this as dateTime` says nothing about a Period. One that fails, takes too long, or asks for what is not here cannot
 * be decided.
 */
export function createRuleEvaluator(types: FhirTypes, tables: SchemaTables): () => ProfileDeps['evaluate'] {
  const compiled = new Map<string, RuleEvaluation>();
  let schema: Environment['schema'] | undefined;
  const compile = (expression: string, type: string): RuleEvaluation => {
    const base = types.kindOf(type) === 'resource' ? undefined : type;
    const key = `${base ?? ''} ${expression}`;
    let found = compiled.get(key);
    if (found === undefined) {
      if (compiled.size >= KEPT) compiled.clear();
      found = isPlain(expression)
        ? withOwn(compileExpression(expression), () => (schema ??= schemaOfTables(tables)))
        : withLibrary(compileLibrary(expression, base));
      compiled.set(key, found);
    }
    return found;
  };
  // One for each validation: what its rules cost together is bounded.
  return () => {
    const begun: Begun = { own: { left: BUDGET }, library: new Map() };
    return (expression, focus, resource) => {
      try {
        const found = compile(expression, focus.type)(focus, resource, begun);
        return found.length === 1 && found[0]?.value === false ? false : true;
      } catch {
        return undefined;
      }
    };
  };
}

/** Whether an expression has only plain functions and no variables. */
function isPlain(expression: string): boolean {
  if (expression.includes('%')) return false;
  return [...expression.matchAll(/([A-Za-z]\w*)\s*\(/g)].every(([, name = '']) => PLAIN.has(name) || WORDS.has(name));
}

/** Operators that may have a parenthesis behind them. */
const WORDS: ReadonlySet<string> = new Set(['and', 'or', 'xor', 'implies', 'in']);

function withOwn(evaluate: Evaluate, schema: () => Environment['schema']): RuleEvaluation {
  return ({ value, type, beside }, resource, { own }) => {
    const context = new Item(value, type, beside as Json | undefined);
    const root = new Item(resource, resource.resourceType);
    const environment: Environment = {
      schema: schema(),
      ...{ resource: root, root, context, isUndecided: false, budget: own.left },
      resolve: () => undefined,
      isMember: () => undefined,
    };
    const found = evaluate([context], environment);
    own.left = environment.budget;
    if (environment.isUndecided) throw new Error('the rule cannot be decided');
    return found;
  };
}

function withLibrary(evaluate: EvaluateLibrary): RuleEvaluation {
  return ({ value }, resource, { library }) => {
    const evaluation = library.get(resource) ?? begin(resource);
    library.set(resource, evaluation);
    if (evaluation instanceof Error) throw evaluation;
    return evaluate(value as object, evaluation);
  };
}

function begin(resource: Resource): Evaluation | Error {
  try {
    return beginEvaluation(resource);
  } catch (error) {
    if (error instanceof RangeError) return error;
    throw error;
  }
}
