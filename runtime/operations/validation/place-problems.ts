import type { Call } from '../../core/call.js';
import { FhirError, type Issue, type JsonPath } from '../../fhir/errors.js';
import { checkComplete } from '../../fhir/meta.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';

/** Returns the problems of a resource with the request's URL and mode. */
export function placeProblems(subject: JsonValue, mode: string | undefined, { type, id }: Call): readonly Issue[] {
  if (!isObject(subject) || typeof subject['resourceType'] !== 'string') return [];
  const problem = (code: Issue['code'], text: string, expression?: string, path: JsonPath = []): readonly Issue[] => [
    { code, text, path, ...(expression !== undefined && { expression }) },
  ];
  const sent = subject['resourceType'];
  if (type !== undefined && sent !== type) {
    return problem(
      'type-mismatch',
      `The resource is of type ${JSON.stringify(sent.slice(0, 64))}, the URL names ${type}`,
      undefined,
      ['resourceType'],
    );
  }
  const partial = mode === 'profile' ? [] : partialProblems(subject as Resource);
  if (mode !== 'update') return partial;
  if (subject['id'] === undefined) {
    return [...partial, ...problem('id-missing', 'An update needs the id of the resource', `${sent}.id`)];
  }
  if (id !== undefined && subject['id'] !== id) {
    const text = `The resource has another id than the URL, "${id}"`;
    return [...partial, ...problem('id-mismatch', text, `${sent}.id`, ['id'])];
  }
  return partial;
}

/** A resource that lacks elements cannot be written, even where what is left of it is right. */
function partialProblems(subject: Resource): readonly Issue[] {
  const { meta } = subject;
  try {
    checkComplete(subject, isObject(meta) ? meta : undefined);
    return [];
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
    return error.issues.map((issue) => ({ ...issue, path: ['meta', 'tag'] }));
  }
}
