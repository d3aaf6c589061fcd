import type { Tables } from '../../contract/tables.js';
import type { Resource } from '../../fhir/resource.js';
import { compileExpression } from '../../path/evaluate/compile-expression.js';
import { TooCostly, type Environment } from '../../path/evaluate/environment.js';
import type { Evaluate } from '../../path/evaluate/function-types.js';
import { ExpressionError } from '../../path/expression/expression-error.js';
import { isJson, PathItem, type Json } from '../../path/evaluate/item.js';
import { createSchema } from '../../path/evaluate/schema.js';
import { indexRows } from '../../path/expression/type-index.js';
import { compileLibrary, type EvaluateLibrary } from '../../path/library/evaluate.js';
import type { FhirTypes } from './fhir-types.js';
import type { EvaluateRule, RuleFocus, RuleLookups } from './profile-deps.js';
import { ValidationEnds } from './profile-run.js';
import { requestEffort, RuleEffort } from './rule-effort.js';

/** Compiled expressions that are kept; those of stored definitions come and go. */
const KEPT = 2000;

/** Functions that look at more than the resource: the FHIRPath library does not have them. */
const LOOKING: ReadonlySet<string> = new Set(['memberOf', 'resolve', 'conformsTo']);

/** Functions that cost no more than the values they look at, and need nothing from elsewhere. */
const PLAIN: ReadonlySet<string> = new Set(
  'empty exists not where all count first last tail select iif hasValue extension ofType as is toString length startsWith endsWith contains'.split(
    ' ',
  ),
);

/** What a rule is evaluated with. */
interface RuleContext {
  readonly resource: Resource;
  readonly effort: RuleEffort;
  readonly lookups: RuleLookups;
}

/** Evaluates one rule at its focus. @throws Error where it cannot be decided */
type RuleEvaluation = (focus: RuleFocus, context: RuleContext) => readonly { readonly value: unknown }[];

/**
 * Evaluates rules of profiles: plain ones with our own evaluator, which is faster, others with the FHIRPath library. The library also
 * evaluates what our own evaluator cannot read (literals of dates and quantities) or leaves open (units that have to be converted). A
 * rule that finds nothing holds: `$this as dateTime` says nothing about a Period, and `birthDate > @2000-01-01` nothing about the year
 * 2000. One that fails, or asks for what is not here, cannot be decided. `memberOf()`, `resolve()` and `conformsTo()` are those of our own
 * evaluator: a rule that has one of them and something that it cannot read is not decided.
 *
 * @returns begins to evaluate for a request; what its rules cost together is bounded
 */
export function createRuleEvaluator(
  types: FhirTypes,
  tables: Pick<Tables, 'types' | 'primitives'>,
): (request?: object) => EvaluateRule {
  const compiled = new Map<string, RuleEvaluation>();
  let schema: Environment['schema'] | undefined;
  const compile = (expression: string, type: string): RuleEvaluation => {
    const base = types.kindOf(type) === 'resource' ? undefined : type;
    const key = `${base ?? ''} ${expression}`;
    let found = compiled.get(key);
    if (found === undefined) {
      if (compiled.size >= KEPT) compiled.clear();
      const byLibrary = namesOf(expression).some((name) => LOOKING.has(name)) ? undecided : withLibrary(compileLibrary(expression, base)); // prettier-ignore
      const own = isPlain(expression) ? compileOwn(expression) : undefined;
      found =
        own === undefined
          ? byLibrary
          : withOwn(own, () => (schema ??= createSchema(indexRows(tables.types, tables.primitives))), byLibrary);
      compiled.set(key, found);
    }
    return found;
  };
  return (request = {}) => {
    const efforts = new Map<Resource, RuleEffort>();
    const all = requestEffort(request);
    return (expression, focus, resource, lookups) => {
      const effort = efforts.get(resource) ?? new RuleEffort(resource, all);
      efforts.set(resource, effort);
      try {
        const found = compile(expression, focus.type)(focus, { resource, effort, lookups });
        return found.length === 1 && found[0]?.value === false ? false : true;
      } catch (error) {
        if (error instanceof TooCostly || error instanceof ValidationEnds) throw error;
        return undefined;
      }
    };
  };
}

/** Whether our own evaluator takes an expression: it has only plain functions, and no variables but where it looks at more. */
function isPlain(expression: string): boolean {
  const names = namesOf(expression);
  const others = names.some((name) => LOOKING.has(name)) ? /%(?!(?:resource|context)\b)/ : /%/;
  return !others.test(expression) && names.every((name) => PLAIN.has(name) || LOOKING.has(name) || WORDS.has(name));
}

/** Names before parentheses. */
function namesOf(expression: string): readonly string[] {
  return [...expression.matchAll(/([A-Za-z]\w*)\s*\(/g)].map(([, name = '']) => name);
}

/** Operators that may have a parenthesis behind them. */
const WORDS: ReadonlySet<string> = new Set(['and', 'or', 'xor', 'implies', 'in']);

/** Undefined: our own evaluator cannot read the expression. */
function compileOwn(expression: string): Evaluate | undefined {
  try {
    return compileExpression(expression);
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

function withOwn(evaluate: Evaluate, schema: () => Environment['schema'], otherwise: RuleEvaluation): RuleEvaluation {
  return (focus, rule) => {
    const { value, type, beside } = focus;
    const { resource, effort, lookups } = rule;
    const context = new PathItem(value, type, beside as Json | undefined);
    const root = new PathItem(resource, resource.resourceType);
    const decided = effort.own((budget) => {
      const environment: Environment = {
        schema: schema(),
        ...{ resource: root, root, context, isUndecided: false, budget },
        resolve: (reference) => targetOf(reference, lookups),
        isMember: (code, valueSet) => lookups.isMember(code, valueSet),
        conforms: (each, canonical) => lookups.conforms(each, canonical),
      };
      const found = evaluate([context], environment);
      return { found: environment.isUndecided ? undefined : found, left: environment.budget };
    });
    return decided ?? otherwise(focus, rule);
  };
}

function undecided(): never {
  throw new Error('the rule cannot be decided');
}

/** The resource behind a Reference, or behind a URL. */
function targetOf({ value }: PathItem, { resolve }: RuleLookups): PathItem | undefined {
  const text = isJson(value) ? value['reference'] : value;
  const found = typeof text === 'string' ? resolve(text) : undefined;
  return found === undefined ? undefined : new PathItem(found, found.resourceType);
}

function withLibrary(evaluate: EvaluateLibrary): RuleEvaluation {
  return ({ value }, { effort }) => effort.library((evaluation) => evaluate(value as object, evaluation));
}
