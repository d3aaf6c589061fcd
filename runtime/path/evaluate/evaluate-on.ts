import { ExpressionError } from '../expression/expression-error.js';
import { SYSTEM_TYPES } from '../expression/type-index.js';
import type { Environment } from './environment.js';
import type { Evaluate } from './function-types.js';
import { PathItem, type Items, type Json } from './item.js';
import type { Schema } from './schema.js';

/**
 * Begins to evaluate expressions on a resource alone: nothing else is looked at.
 *
 * @param budget values that all of them together may look at
 */
export function beginEvaluation(resource: object, schema: Schema, budget: number): Environment {
  const root = itemOf(resource, '');
  return {
    ...{ schema, resource: root, root, context: root, isUndecided: false, budget },
    ...{ resolve: () => undefined, isMember: () => undefined, takesForSystem: true },
  };
}

/**
 * Evaluates an expression on a resource, or on a part of it.
 *
 * @param type of the part
 * @throws TooCostly; ExpressionError where values are taken for what they are not
 */
export function evaluateOn(evaluate: Evaluate, start: object, type: string, environment: Environment): Items {
  environment.isMistaken = false;
  const found = evaluate([itemOf(start, type)], environment);
  // The message has no value of the resource.
  if (environment.isMistaken) throw new ExpressionError('it takes values for others than they are, or several for one');
  return found.filter(({ value }) => value !== undefined);
}

function itemOf(value: object, type: string): PathItem {
  const { resourceType } = value as Json;
  return new PathItem(value, typeof resourceType === 'string' ? resourceType : type);
}

/** The type of FHIR that a value is of, or is taken for; of a text that an expression made `System.String`. */
export function fhirTypeOf({ type }: PathItem): string {
  return type.startsWith('System.') ? (SYSTEM_TYPES.get(type.slice('System.'.length)) ?? type) : type;
}
