import { PatchFault } from './fhirpath-fault.js';
import type { Budget } from './fhirpath-budget.js';
import type { PatchElement, PatchModel } from './fhirpath-model.js';
import { childAt, childNodes, typeOf, type Node } from './fhirpath-node.js';
import { elementOf } from './fhirpath-value.js';

/** A step of a plain path: a name, or a position among all that was found so far. */
export type PlainStep = string | number;

const STEP = /\.?([A-Za-z][A-Za-z0-9]*|`[A-Za-z][A-Za-z0-9]*`)|\[([0-9]{1,9})\]/y;

/**
 * Reads a path that has nothing but names and positions, such as `Patient.contact[0].name`; undefined for any other
 * expression. Most patches have no others, and these need no library.
 */
export function parsePlainPath(text: string): readonly PlainStep[] | undefined {
  const steps: PlainStep[] = [];
  let at = 0;
  while (at < text.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(text);
    if (found === null) return undefined;
    const [whole, name, index] = found;
    const first = at === 0;
    // A name begins the path, and every other one has a dot before it.
    if (name !== undefined ? whole.startsWith('.') === first : first) return undefined;
    steps.push(name === undefined ? Number(index) : name.replaceAll('`', ''));
    at = STEP.lastIndex;
  }
  return steps.length === 0 || steps[0] === 'true' || steps[0] === 'false' ? undefined : steps;
}

/**
 * What a plain path finds, in the order of the resource.
 *
 * @throws PatchFault for a name that no element has where the path leads
 */
export function evaluatePlain(
  root: Node,
  steps: readonly PlainStep[],
  model: PatchModel,
  budget: Budget,
): readonly Node[] {
  let nodes: readonly Node[] = [root];
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i] ?? 0;
    const next = steps[i + 1];
    const [only] = nodes;
    budget.spend(nodes.length);
    if (typeof step === 'number') nodes = nodes.slice(step, step + 1);
    else if (i === 0 && namesRoot(root, step, model)) continue;
    else if (only !== undefined && nodes.length === 1 && typeof next === 'number') {
      // Of a long list only the item that is asked for is looked at.
      const node = childAt(only, elementAt(only, step, model), next, model);
      nodes = node === undefined ? [] : [node];
      i++;
    } else nodes = allChildren(nodes, step, model);
  }
  budget.spend(nodes.length);
  return nodes;
}

/** Whether the first name of a path is the type of the resource, or one that it specialises. */
function namesRoot(root: Node, name: string, model: PatchModel): boolean {
  if (model.isA(root.type, name)) return true;
  if (!model.isResource(name)) return false;
  throw new PatchFault(`the path begins with ${name}, but the resource is of type ${root.type}`, 'path');
}

/** The children of one name; not all nodes need have the element, for resources in a list may be of many types. */
function allChildren(nodes: readonly Node[], name: string, model: PatchModel): readonly Node[] {
  const elements = nodes.map((node) => typeOf(node, model)?.elements.get(name));
  const [first] = nodes;
  if (first !== undefined && elements.every((element) => element === undefined)) elementAt(first, name, model);
  return nodes.flatMap((node, i) => {
    const element = elements[i];
    return element === undefined ? [] : childNodes(node, element, model);
  });
}

function elementAt(node: Node, name: string, model: PatchModel): PatchElement {
  const type = typeOf(node, model);
  if (type === undefined) throw new PatchFault(`${node.type} has no elements`, 'path');
  return elementOf(type, name, 'path');
}
