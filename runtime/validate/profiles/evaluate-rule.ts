import type { Tables } from '../../contract/tables.js';
import type { Resource } from '../../fhir/resource.js';
import { compileExpression } from '../../path/evaluate/compile-expression.js';
import { TooCostly, type Environment } from '../../path/evaluate/environment.js';
import type { Evaluate } from '../../path/evaluate/function-types.js';
import { ExpressionError } from '../../path/expression/expression-error.js';
import { isJson, PathItem, type Json } from '../../path/evaluate/item.js';
import { memoize } from '../../fhir/memory/memoize.js';
import { createSchema } from '../../path/evaluate/schema.js';
import { indexRows } from '../../path/expression/type-index.js';
import type { EvaluateRule, RuleFocus, RuleLookups } from './profile-deps.js';
import { ValidationEnds } from './profile-run.js';
import { requestEffort, RuleEffort } from './rule-effort.js';

/** Compiled expressions that are kept; those of stored definitions come and go. */
const KEPT = 2000;

/** What a rule is evaluated with. */
interface RuleContext {
  readonly resource: Resource;
  readonly effort: RuleEffort;
  readonly lookups: RuleLookups;
  readonly now: Date;
}

/** Evaluates one rule at its focus. @throws Error where it cannot be decided */
type RuleEvaluation = (focus: RuleFocus, context: RuleContext) => readonly { readonly value: unknown }[];

/**
 * Evaluates rules of profiles. A rule that finds nothing holds: `$this as dateTime` says nothing about a Period, and
 * `birthDate > @2000-01-01` nothing about the year 2000. One that fails, has what is not understood, or asks for what is not here,
 * cannot be decided.
 *
 * @returns begins to evaluate for a request; what its rules cost together is bounded
 */
export function createRuleEvaluator(tables: Pick<Tables, 'types' | 'primitives'>): (request?: object) => EvaluateRule {
  const schema = createSchema(indexRows(tables.types, tables.primitives));
  const compile = memoize((expression: string): RuleEvaluation => {
    try {
      return toEvaluation(compileExpression(expression), schema);
    } catch (error) {
      if (error instanceof ExpressionError) return undecided;
      throw error;
    }
  }, KEPT);
  return (request = {}) => {
    const efforts = new Map<Resource, RuleEffort>();
    const all = requestEffort(request);
    const now = new Date();
    return (expression, focus, resource, lookups) => {
      const effort = efforts.get(resource) ?? new RuleEffort(resource, all);
      efforts.set(resource, effort);
      try {
        const found = compile(expression)(focus, { resource, effort, lookups, now });
        return found.length === 1 && found[0]?.value === false ? false : true;
      } catch (error) {
        if (error instanceof TooCostly || error instanceof ValidationEnds) throw error;
        return undefined;
      }
    };
  };
}

function toEvaluation(evaluate: Evaluate, schema: Environment['schema']): RuleEvaluation {
  return (focus, rule) => {
    const { value, type, beside } = focus;
    const { resource, effort, lookups, now } = rule;
    const context = new PathItem(value, type, beside as Json | undefined);
    const root = new PathItem(resource, resource.resourceType);
    const decided = effort.evaluate((budget) => {
      const environment: Environment = {
        schema,
        ...{ resource: root, root, context, now, isUndecided: false, budget },
        resolve: (reference) => targetOf(reference, lookups),
        isMember: (code, valueSet) => lookups.isMember(code, valueSet),
        conforms: (each, canonical) => lookups.conforms(each, canonical),
      };
      const found = evaluate([context], environment);
      const isDecided = !environment.isUndecided && environment.isMistaken !== true;
      return { found: isDecided ? found : undefined, left: environment.budget };
    });
    return decided ?? undecided();
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
