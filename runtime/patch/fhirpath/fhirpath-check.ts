import { operandsOf, type Expression } from '../../path/expression/parse.js';
import { FUNCTIONS, REFUSALS } from '../../path/expression/functions.js';
import { clip } from '../../fhir/quote.js';
import { MAX_SHOWN, PathFault } from '../../path/expression/path-fault.js';

/** Functions that paths of patches may call besides: a patch is applied once, so that the time may count. */
const OF_TIME: ReadonlySet<string> = new Set(['now', 'today', 'timeOfDay']);

/** Why a function is refused, where the reason is one of patches. */
const RESOLVE = 'a patch changes one resource; reach what it contains by contained.where(id = …)';

/**
 * Refuses an expression that calls what paths of patches may not call, or reaches outside of the resource.
 *
 * @throws PathFault naming what is refused
 */
export function checkPath(expression: Expression): void {
  operandsOf(expression).forEach(checkPath);
  if (expression.kind === 'call') checkCall(expression);
  else if (expression.kind === 'variable') throw refusal('variables (%name) are not known in a patch');
  else if (expression.kind === 'union') throw refusal('a path of a patch finds one element, and has no "|"');
}

function checkCall({ name, args }: Extract<Expression, { kind: 'call' }>): void {
  const counts = OF_TIME.has(name) ? [0] : FUNCTIONS.get(name);
  if (counts === undefined) {
    const reason = name === 'resolve' ? RESOLVE : Object.hasOwn(REFUSALS, name) ? REFUSALS[name] : undefined;
    const why = reason === undefined ? '' : `: ${reason}`;
    throw refusal(`the function ${clip(name, MAX_SHOWN)}() is not allowed in a patch${why}`);
  }
  if (!counts.includes(args.length)) throw refusal(`${name}() takes ${counts.join(' or ')} arguments, not ${args.length}`); // prettier-ignore
}

function refusal(text: string): PathFault {
  return new PathFault(text, 'path', 'patch-invalid');
}
