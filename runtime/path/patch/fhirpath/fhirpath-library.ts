import type { JsonValue } from '../../../fhir/resource.js';
import type { Budget } from './fhirpath-budget.js';
import { checkSyntax, type SyntaxNode } from './fhirpath-check.js';
import { PatchFault, shorten } from './fhirpath-fault.js';
import type { PatchModel } from './fhirpath-model.js';
import { childAt, contentPath, typeOf, type Node } from './fhirpath-node.js';
import { quoteNames } from './fhirpath-scan.js';

/** Finds elements of a resource by an expression. @throws PatchFault */
export type Evaluate = (root: Node, tokens: readonly string[], model: PatchModel, budget: Budget) => readonly Node[];

/** Greatest length of a text that an expression makes, in UTF-16 code units. */
const MAX_TEXT = 100_000;
/** What parsing costs, in steps of a budget, by the square of the number of tokens. */
const PARSING = 10;

/** An element as the library hands it about; it exports no such type. */
interface LibraryNode {
  readonly parentResNode: LibraryNode | null;
  /** Name of its element or of its property in JSON. */
  readonly propName: string | null;
  readonly index: number | null;
  readonly data: unknown;
}

/**
 * Loads the FHIRPath library, at the first path that needs it: that takes 60 ms. What it finds is identified by where it
 * is, never by its value.
 */
export async function loadEvaluate(view: (value: JsonValue) => unknown): Promise<Evaluate> {
  const [{ default: fhirpath }, { default: r5 }] = await Promise.all([
    import('fhirpath'),
    import('fhirpath/fhir-context/r5'),
  ]);
  /** Most paths of a patch are much alike. */
  const compiled = new Map<string, Compiled>();
  const compile = (tokens: readonly string[], budget: Budget): Compiled => {
    const expression = quoteNames(tokens);
    let run = compiled.get(expression);
    if (run !== undefined) return run;
    budget.spend(tokens.length ** 2 * PARSING);
    checkSyntax(fhirpath.parse(expression) as SyntaxNode);
    run = fhirpath.compile(expression, r5, { resolveInternalTypes: false, debugger: meter(budget) }) as Compiled;
    compiled.set(expression, run);
    return run;
  };
  return (root, tokens, model, budget) => {
    const run = guarded(
      () => compile(tokens, budget),
      (message) => new PatchFault(`the path cannot be read: ${shorten(message)}`, 'path', 'patch-invalid'),
    );
    const resource = view(root.item.value ?? null) as object;
    const found = guarded(
      () => run(resource, {}),
      // What the library says would show values to a client that perhaps may not read them.
      () => new PatchFault('the path cannot be evaluated on this resource', 'path'),
    );
    return distinct(
      found.map((each) => locate(each, resource, root, model)),
      model,
    );
  };
}

/** An expression that the library parsed. */
type Compiled = (resource: object, variables: object) => readonly unknown[];

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

/** The library tells faults by all kinds of errors and by bare texts. */
function guarded<T>(work: () => T, faultOf: (message: string) => PatchFault): T {
  try {
    return work();
  } catch (error) {
    // It passes lists as arguments, of which there are only so many.
    if (error instanceof RangeError) throw tooLarge();
    throw error instanceof PatchFault ? error : faultOf(error instanceof Error ? error.message : String(error));
  }
}

function tooLarge(): PatchFault {
  const text = 'the resource is too large for this path; one of names and positions alone, such as a.b[0].c, may do';
  return new PatchFault(text, 'path', 'patch-too-large');
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
  const node = element && childAt(parent, element, index ?? 0, model);
  if (node === undefined) throw new PatchFault(`${parent.type} has no element ${shorten(propName)}`, 'path');
  return node;
}

function isNode(value: unknown): value is LibraryNode {
  return typeof value === 'object' && value !== null && 'parentResNode' in value && 'propName' in value;
}

/** Elements that were found by two ways are one. */
function distinct(nodes: readonly Node[], model: PatchModel): readonly Node[] {
  const seen = new Map(nodes.map((node) => [JSON.stringify(contentPath(node, model)), node]));
  return [...seen.values()];
}
