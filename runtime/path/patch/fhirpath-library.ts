import type { JsonValue } from '../../fhir/resource.js';
import type { Budget } from './fhirpath-budget.js';
import { checkSyntax, type SyntaxNode } from './fhirpath-check.js';
import { PatchFault, shorten } from './fhirpath-fault.js';
import type { PatchModel } from './fhirpath-model.js';
import { childNodes, typeOf, type Node } from './fhirpath-node.js';
import { quoteNames } from './fhirpath-scan.js';

/** Finds elements of a resource by an expression. @throws PatchFault */
export type Evaluate = (root: Node, tokens: readonly string[], model: PatchModel, budget: Budget) => readonly Node[];

/** Greatest length of a text that an expression makes, in UTF-16 code units. */
const MAX_TEXT = 100_000;
/** What parsing costs by the token, in steps of a budget. */
const STEPS_PER_TOKEN = 500;

/** An element as the library hands it about; it exports no such type. */
interface LibraryNode {
  readonly parentResNode: LibraryNode | null;
  /** Name of its element or of its property in JSON. */
  readonly propName: string | null;
  readonly index: number | null;
  readonly data: unknown;
}

/**
 * Loads the FHIRPath library, at the first path that needs it: that takes 60 ms. What it finds is told by where it
 * stands, never by its value.
 */
export async function loadEvaluate(view: (value: JsonValue) => unknown): Promise<Evaluate> {
  const [{ default: fhirpath }, { default: r5 }] = await Promise.all([
    import('fhirpath'),
    import('fhirpath/fhir-context/r5'),
  ]);
  return (root, tokens, model, budget) => {
    const expression = quoteNames(tokens);
    budget.spend(tokens.length * STEPS_PER_TOKEN);
    guarded(
      () => checkSyntax(fhirpath.parse(expression) as SyntaxNode),
      ({ message }) => new PatchFault(`the path cannot be read: ${shorten(message)}`, 'path', 'patch-invalid'),
    );
    const options = { resolveInternalTypes: false, debugger: meter(budget) };
    const resource = view(root.item.value ?? null) as object;
    const found: unknown = guarded(
      () => fhirpath.evaluate(resource, expression, {}, r5, options),
      // What the library says would show values to a client that perhaps may not read them.
      () => new PatchFault('the path cannot be evaluated on this resource', 'path'),
    );
    return distinct((found as unknown[]).map((each) => locate(each, resource, root, model)));
  };
}

/** Called by the library after each step of an evaluation, so it can be stopped. */
function meter(budget: Budget): (context: unknown, input: unknown, result: unknown) => void {
  return (_context, _input, result) => {
    if (!Array.isArray(result)) return budget.spend(1);
    budget.spend(1 + result.length);
    for (const each of result) {
      if (typeof each === 'string' && each.length > MAX_TEXT)
        throw new PatchFault('the path makes too long a text', 'path', 'patch-too-large');
    }
  };
}

/** The library tells faults by all kinds of errors, running out of stack among them. */
function guarded<T>(work: () => T, faultOf: (error: Error) => PatchFault): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Error && !(error instanceof PatchFault) ? faultOf(error) : error;
  }
}

/** The element that a result of the library is. */
function locate(found: unknown, resource: object, root: Node, model: PatchModel): Node {
  if (isNode(found) && found.data === resource) return root;
  if (!isNode(found) || found.parentResNode === null || found.propName === null) {
    throw new PatchFault('the path gives a value, not an element of the resource', 'path');
  }
  const { parentResNode, propName, index } = found;
  const parent = locate(parentResNode, resource, root, model);
  const type = typeOf(parent, model);
  const element = type?.elements.get(propName) ?? type?.keys.get(propName)?.element;
  const node = element && childNodes(parent, element, model)[index ?? 0];
  if (node === undefined) throw new PatchFault(`${parent.type} has no element ${shorten(propName)}`, 'path');
  return node;
}

function isNode(value: unknown): value is LibraryNode {
  return typeof value === 'object' && value !== null && 'parentResNode' in value && 'propName' in value;
}

/** Elements that were found by two ways are one. */
function distinct(nodes: readonly Node[]): readonly Node[] {
  const seen = new Map(nodes.map((node) => [JSON.stringify([node.content, node.type]), node]));
  return [...seen.values()];
}
