import { ExpressionError } from '../../path/expression/expression-error.js';
import { parseExpression } from '../../path/expression/parse.js';
import type { ParameterFault } from './stored-parameter.js';

/**
 * Returns the fault of an active SearchParameter that has the url and the code of a built-in one: an expression that
 * cannot be read. The built-in parameter stays in effect in its place.
 * https://hl7.org/fhir/R5/searchparameter-definitions.html#SearchParameter.expression
 */
export function faultOfDescription({ expression }: Readonly<Record<string, unknown>>): ParameterFault | undefined {
  if (typeof expression !== 'string') return undefined;
  try {
    parseExpression(expression);
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const place = error.at === undefined ? '' : ` (character ${error.at + 1})`;
    const message = error.message.replace(`${expression}: `, '');
    return { kind: 'invalid', text: `${JSON.stringify(expression.slice(0, 200))}${place}: ${message}`, path: ['expression'] }; // prettier-ignore
  }
}
