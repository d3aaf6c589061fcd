import { ExpressionError } from '../../path/expression/expression-error.js';
import { parseExpression, type Expression } from '../../path/expression/parse.js';
import { checkPath } from './fhirpath-check.js';
import { PathFault } from '../../path/expression/path-fault.js';
import type { PatchModel } from './fhirpath-model.js';
import { typeOf, type Node } from './fhirpath-node.js';
import { MAX_LENGTH, scanPath } from '../../path/expression/scan-path.js';
import { elementOf } from './fhirpath-value.js';

/** Whether a path has nothing but names and positions, such as `Patient.contact[0].name`. */
export function isPlainPath(text: string): boolean {
  const read = text.length > MAX_LENGTH ? undefined : parsed(text);
  return read !== undefined && !(read instanceof Error) && isPlain(read);
}

/**
 * Reads the path of an operation.
 *
 * @throws PathFault where it cannot be read, is too large, or has what a patch may not do
 */
export function readPath(text: string): Expression {
  const read = text.length > MAX_LENGTH ? undefined : parsed(text);
  if (read !== undefined && !(read instanceof Error) && isPlain(read)) return read;
  scanPath(text);
  if (read instanceof Error || read === undefined) {
    const message = read?.message.replace(`${text}: `, '') ?? '';
    throw new PathFault(`the path cannot be read: ${message}`, 'path', 'patch-invalid');
  }
  checkPath(read);
  return read;
}

/** An error: it is no expression, or one with too many brackets within each other. */
function parsed(text: string): Expression | Error {
  try {
    return parseExpression(text);
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof RangeError) return error;
    throw error;
  }
}

function isPlain(expression: Expression): boolean {
  let at: Expression | undefined = expression;
  while (at?.kind === 'index' || at?.kind === 'name') at = at.of;
  return at === undefined;
}

/**
 * Why a path finds nothing, where it has a name that no element has where it leads.
 *
 * @throws PathFault naming it
 */
export function explainNothing(
  expression: Expression,
  find: (part: Expression) => readonly Node[],
  root: Node,
  model: PatchModel,
): void {
  for (
    let at: Expression | undefined = expression;
    at !== undefined;
    at = 'of' in at && !Array.isArray(at.of) ? (at.of as Expression) : undefined
  ) {
    // prettier-ignore
    if (at.kind !== 'name' || !isPlain(at)) continue;
    const { name, of } = at;
    if (of === undefined) {
      if (model.isA(root.type, name)) continue;
      if (model.isResource(name)) throw new PathFault(`the path begins with ${name}, but the resource is of type ${root.type}`, 'path'); // prettier-ignore
    }
    const nodes = of === undefined ? [root] : find(of);
    const [first] = nodes;
    const types = nodes.map((node) => typeOf(node, model));
    if (first === undefined || types.some((type) => type?.elements.has(name) === true)) continue;
    const [type] = types;
    if (type === undefined) throw new PathFault(`${first.type} has no elements`, 'path');
    elementOf(type, name, 'path');
  }
}
