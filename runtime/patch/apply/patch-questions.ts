import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { SentPatch } from '../sent-patch.js';

/** Operations of JSON Patch whose result depends on an existing value, not only on a path. */
const READING_OPERATIONS: ReadonlySet<JsonValue | undefined> = new Set(['test', 'copy', 'move']);

/**
 * Whether the success of a patch depends on content of the resource, not only on paths in it. Such a patch lets a client
 * query the content. False for a patch that cannot be parsed: its faults are reported when it is applied.
 */
export async function asksContent(patch: SentPatch): Promise<boolean> {
  switch (patch.format) {
    case 'json':
      return (
        Array.isArray(patch.patch) && patch.patch.some((each) => isObject(each) && READING_OPERATIONS.has(each['op']))
      );
    case 'fhirpath':
      return asksByPath(patch.parameters);
    case 'xml':
      return asksBySelector(patch.text);
  }
}

/** Whether a path has more than names and positions. */
async function asksByPath({ parameter }: Resource): Promise<boolean> {
  const { isPlainPath } = await import('../fhirpath/fhirpath-path.js');
  const operations = Array.isArray(parameter) ? parameter.filter(isObject) : [];
  const parts = operations.flatMap(({ part }) => (Array.isArray(part) ? part.filter(isObject) : []));
  const paths = parts.filter(({ name }) => name === 'path').flatMap((part) => Object.values(part));
  return paths.some((path) => typeof path === 'string' && path !== 'path' && !isPlainPath(path));
}

/** Whether a selector has a condition other than a position. */
async function asksBySelector(text: string): Promise<boolean> {
  const [{ checkXmlPatchSize }, { readTree }, { readXmlOperations }] = await Promise.all([
    import('./xml-patch-size.js'),
    import('../../format/xml/read-tree.js'),
    import('../xml/xml-operation.js'),
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
