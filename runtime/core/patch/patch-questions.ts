import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { SentPatch } from '../call.js';

/** Operations of JSON Patch whose success depends on a value that is there, not only on a place. */
const LOOKING: ReadonlySet<JsonValue | undefined> = new Set(['test', 'copy', 'move']);

/**
 * Whether a patch asks what the resource holds, instead of only naming places in it: whether it can be applied then answers a
 * question of the client's. A patch that cannot be read asks nothing; what is wrong with it is told where it is applied.
 */
export async function asksContent(patch: SentPatch): Promise<boolean> {
  switch (patch.format) {
    case 'json':
      return Array.isArray(patch.patch) && patch.patch.some((each) => isObject(each) && LOOKING.has(each['op']));
    case 'fhirpath':
      return asksByPath(patch.parameters);
    case 'xml':
      return asksBySelector(patch.text);
  }
}

/** An expression that has more in it than names and positions. */
async function asksByPath({ parameter }: Resource): Promise<boolean> {
  const { parsePlainPath } = await import('../../path/patch/fhirpath/fhirpath-plain.js');
  const operations = Array.isArray(parameter) ? parameter.filter(isObject) : [];
  const parts = operations.flatMap(({ part }) => (Array.isArray(part) ? part.filter(isObject) : []));
  const paths = parts.filter(({ name }) => name === 'path').flatMap((part) => Object.values(part));
  return paths.some((path) => typeof path === 'string' && path !== 'path' && parsePlainPath(path) === undefined);
}

/** A selector with a condition that is no position. */
async function asksBySelector(text: string): Promise<boolean> {
  const [{ checkXmlPatchSize }, { readTree }, { readXmlOperations }] = await Promise.all([
    import('./xml-patch-size.js'),
    import('../../format/xml/read-tree.js'),
    import('../../path/patch/xml/xml-operation.js'),
  ]);
  try {
    checkXmlPatchSize(null, text);
    const steps = readXmlOperations(readTree(text), Infinity).flatMap(({ selector }) => selector.steps);
    return steps.some(
      (step) =>
        step.kind === 'id' || (step.kind === 'element' && step.conditions.some(({ kind }) => kind !== 'position')),
    );
  } catch (error) {
    if (error instanceof FhirError) return false;
    throw error;
  }
}
