import type { Resource } from '../../../fhir/resource.js';
import type { Budget } from './fhirpath-budget.js';
import { PatchFault } from './fhirpath-fault.js';
import { loadEvaluate } from './fhirpath-library.js';
import type { PatchModel } from './fhirpath-model.js';
import { rootNode, type Node } from './fhirpath-node.js';
import type { Operation } from './fhirpath-operation.js';
import { evaluatePlain, parsePlainPath, type PlainStep } from './fhirpath-plain.js';
import { MAX_LENGTH, scanPath, splitLast } from './fhirpath-scan.js';
import { createView } from './fhirpath-view.js';

/** Finds elements of one resource by paths. */
export interface Find {
  /** @throws PatchFault */
  readonly find: (path: string) => readonly Node[];
  /** What holds the list that a path ends in, and the list's name. @throws PatchFault */
  readonly findList: (path: string) => { readonly holders: readonly Node[]; readonly name: string };
}

/** Makes what finds elements of a resource. */
export type Finder = (resource: Resource, model: PatchModel) => Find;

/**
 * Makes what finds elements by the paths of these operations. Paths of names and positions alone are followed here; the
 * FHIRPath library is loaded where there are others.
 */
export async function createFinder(
  operations: readonly Pick<Operation, 'path'>[],
  budget: Budget,
  parsePlain: (path: string) => readonly PlainStep[] | undefined = parsePlainPath,
): Promise<Finder> {
  const plain = (path: string): ReturnType<typeof parsePlain> =>
    path.length > MAX_LENGTH ? undefined : parsePlain(path.trim());
  const needsLibrary = operations.some(({ path }) => plain(path) === undefined);
  const evaluate = needsLibrary ? await loadEvaluate(createView(budget)) : undefined;
  return (resource, model) => {
    const root = rootNode(resource);
    const run = (tokens: readonly string[]): readonly Node[] => {
      if (evaluate === undefined) throw new Error('the library is not loaded');
      return evaluate(root, tokens, model, budget);
    };
    return {
      find: (path) => {
        const steps = plain(path);
        return steps === undefined ? run(scanPath(path)) : evaluatePlain(root, steps, model, budget);
      },
      findList: (path) => {
        const steps = plain(path);
        if (steps === undefined) {
          const [holder, name] = splitLast(scanPath(path));
          return { holders: holder.length === 0 ? [root] : run(holder), name };
        }
        const name = steps.at(-1);
        if (typeof name === 'string') return { holders: evaluatePlain(root, steps.slice(0, -1), model, budget), name };
        throw new PatchFault('the path of a list ends in its name, not in a position', 'path');
      },
    };
  };
}
