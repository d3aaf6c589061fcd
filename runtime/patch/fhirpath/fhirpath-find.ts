import type { Resource } from '../../fhir/resource.js';
import { compileParsed } from '../../path/evaluate/compile-expression.js';
import { TooCostly, type Environment } from '../../path/evaluate/environment.js';
import type { Evaluate } from '../../path/evaluate/function-types.js';
import { PathItem, ofText } from '../../path/evaluate/item.js';
import type { Schema } from '../../path/evaluate/schema.js';
import { ExpressionError } from '../../path/expression/expression-error.js';
import type { Expression } from '../../path/expression/parse.js';
import type { Budget } from './fhirpath-budget.js';
import { PathFault } from '../../path/expression/path-fault.js';
import type { PatchModel } from './fhirpath-model.js';
import { childAt, childNodes, contentPath, rootNode, typeOf, type Node } from './fhirpath-node.js';
import { explainNothing, readPath } from './fhirpath-path.js';

/** Finds elements of one resource by paths. */
export interface Find {
  /** @throws PathFault */
  readonly find: (path: string) => readonly Node[];
  /** What holds the list that a path ends in, and the list's name. @throws PathFault */
  readonly findList: (path: string) => { readonly holders: readonly Node[]; readonly name: string };
}

/** Makes what finds elements of a resource. */
export type Finder = (resource: Resource, model: PatchModel) => Find;

/** An element of the resource, as expressions see it: what they find is identified by where it is, never by its value. */
class NodeItem extends PathItem {
  constructor(readonly node: Node) {
    super(node.item.value, node.type, node.item.twin);
  }
}

/** A path that was read and compiled. */
interface Compiled {
  readonly expression: Expression;
  readonly evaluate: Evaluate;
}

/** Makes what finds elements by paths; most paths of a patch are much alike, and compiled once. */
export function createFinder(budget: Budget): Finder {
  const compiled = new Map<string, Compiled>();
  const compile = (path: string): Compiled => {
    let known = compiled.get(path);
    if (known === undefined) {
      budget.spend(path.length);
      const expression = readPath(path);
      compiled.set(path, (known = { expression, evaluate: compileOwn(expression) }));
    }
    return known;
  };
  const now = new Date();
  return (resource, model) => {
    const root = new NodeItem(rootNode(resource));
    const schema = schemaOf(model);
    const evaluated = (evaluate: Evaluate): readonly Node[] =>
      nodesOf(evaluate, root, environmentOf(root, schema, now, budget), budget, model);
    const run = (expression: Expression, evaluate: Evaluate): readonly Node[] => {
      const found = evaluated(evaluate);
      if (found.length === 0) explainNothing(expression, (part) => evaluated(compileOwn(part)), root.node, model);
      return found;
    };
    return {
      find: (path) => {
        const { expression, evaluate } = compile(path);
        return run(expression, evaluate);
      },
      findList: (path) => {
        const { expression } = compile(path);
        if (expression.kind !== 'name') {
          const code = expression.kind === 'index' ? 'patch-target' : 'patch-invalid';
          throw new PathFault('the path of a list ends in its name, such as Patient.name[0].given', 'path', code);
        }
        const { of, name } = expression;
        return { holders: of === undefined ? [root.node] : run(of, compileOwn(of)), name };
      },
    };
  };
}

/** @throws PathFault where it has what is not understood in a patch */
function compileOwn(expression: Expression): Evaluate {
  try {
    return compileParsed(expression);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new PathFault(`the path cannot be read: ${error.message}`, 'path', 'patch-invalid');
  }
}

function schemaOf(model: PatchModel): Schema {
  const add = (item: PathItem, name: string, out: PathItem[]): void => {
    const element = item instanceof NodeItem ? typeOf(item.node, model)?.elements.get(name) : undefined;
    if (element === undefined) {
      // No element of FHIR, but what everybody knows from JSON.
      if (name === 'resourceType' && item instanceof NodeItem && model.isResource(item.type)) for (const type of ofText(item.type)) out.push(type); // prettier-ignore
      return;
    }
    for (const child of childNodes((item as NodeItem).node, element, model)) out.push(new NodeItem(child));
  };
  return {
    types: model.types,
    children: add,
    childAt(item, name, index) {
      const element = item instanceof NodeItem ? typeOf(item.node, model)?.elements.get(name) : undefined;
      const node = element && childAt((item as NodeItem).node, element, index, model);
      return node && new NodeItem(node);
    },
    allChildren(item, out) {
      const type = item instanceof NodeItem ? typeOf(item.node, model) : undefined;
      for (const name of type?.elements.keys() ?? []) add(item, name, out);
    },
  };
}

function environmentOf(root: PathItem, schema: Schema, now: Date, { left }: Budget): Environment {
  return {
    ...{ schema, resource: root, root, context: root, now },
    ...{ resolve: () => undefined, isMember: () => undefined, isUndecided: false, budget: left },
  };
}

/** The elements that an expression finds, each once. @throws PathFault */
function nodesOf(
  evaluate: Evaluate,
  root: PathItem,
  environment: Environment,
  budget: Budget,
  model: PatchModel,
): readonly Node[] {
  const found = new Map<string, Node>();
  try {
    for (const item of evaluate([root], environment)) {
      if (!(item instanceof NodeItem)) throw new PathFault('the path gives a value, not an element of the resource', 'path'); // prettier-ignore
      found.set(JSON.stringify(contentPath(item.node, model)), item.node);
    }
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error;
    throw new PathFault(error.message, 'path', 'patch-too-large');
  } finally {
    budget.left = environment.budget;
  }
  // The message has no value of the resource: the client perhaps may not read it.
  if (environment.isMistaken === true) throw new PathFault('the path cannot be evaluated on this resource', 'path');
  return [...found.values()];
}
