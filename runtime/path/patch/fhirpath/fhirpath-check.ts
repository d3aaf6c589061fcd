import { PatchFault, shorten } from './fhirpath-fault.js';
import { FUNCTIONS, REFUSALS } from './fhirpath-functions.js';

/** A node of the tree that the library parses an expression into. */
export interface SyntaxNode {
  readonly type: string;
  readonly text?: string;
  readonly children?: readonly SyntaxNode[];
}

/**
 * Refuses an expression that calls what paths of patches may not call, or reaches outside of the resource.
 *
 * @throws PatchFault naming what is refused
 */
export function checkSyntax(node: SyntaxNode): void {
  if (node.type === 'Functn') checkCall(node);
  else if (node.type === 'ExternalConstantTerm') throw refusal('variables (%name) are not known in a patch');
  else if (node.type === 'InstanceSelectorTerm') throw refusal('a path of a patch cannot make new values');
  else if (node.type === 'UnionExpression') throw refusal('a path of a patch finds one element, and has no "|"');
  node.children?.forEach(checkSyntax);
}

function checkCall({ text, children }: SyntaxNode): void {
  const name = (text ?? '').replaceAll('`', '');
  const counts = FUNCTIONS.get(name);
  if (counts === undefined) {
    const why = Object.hasOwn(REFUSALS, name) ? `: ${REFUSALS[name]}` : '';
    throw refusal(`the function ${shorten(name)}() is not allowed in a patch${why}`);
  }
  const list = children?.find(({ type }) => type === 'ParamList');
  const count = list?.children?.length ?? 0;
  if (!counts.includes(count)) throw refusal(`${name}() takes ${counts.join(' or ')} arguments, not ${count}`);
}

function refusal(text: string): PatchFault {
  return new PatchFault(text, 'path', 'patch-invalid');
}
