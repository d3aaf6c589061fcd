import { FhirError } from '../fhir/errors.js';
import type { Resource } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { writeJson } from '../format/write-json.js';
import { VIEW_PARAMETERS } from '../search/control-parameters.js';
import type { Call } from './call.js';
import { singleParameter } from './parameters.js';
import type { Services, View } from './services.js';

const SUMMARIES = ['true', 'text', 'data'] as const;

/** The parameters of a view, where the server has views. */
export function viewParameters({ subset }: Pick<Services, 'subset'>): readonly string[] {
  return subset === undefined ? [] : Object.keys(VIEW_PARAMETERS);
}

/**
 * The view that a client asks for; undefined: all of each resource. `_summary=count` is a matter of Bundles.
 * https://hl7.org/fhir/R5/search.html#summary
 *
 * @throws FhirError `parameter-invalid`
 */
export function readView(call: Call, { subset }: Services): View | undefined {
  if (call.params.size === 0 || subset === undefined) return undefined;
  const asked = singleParameter(call, '_summary');
  const elements = call.params
    .getAll('_elements')
    .flatMap((list) => list.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const summary = SUMMARIES.find((each) => each === asked);
  if (asked !== undefined && asked !== 'false' && summary === undefined) {
    throw new FhirError('parameter-invalid', `_summary is true, text, data or false here, not "${asked.slice(0, 32)}"`);
  }
  if (summary !== undefined && elements.length > 0) {
    throw new FhirError('parameter-invalid', '_summary and _elements exclude each other');
  }
  if (summary === undefined && elements.length === 0) return undefined;
  return { ...(summary === undefined ? {} : { summary }), ...(elements.length === 0 ? {} : { elements }) };
}

/** The JSON text of a resource, cut down to a view. */
export function viewJson(json: string, view: View | undefined, { subset }: Services): string {
  if (view === undefined || subset === undefined) return json;
  return writeJson(subset(readJson(json) as Resource, view));
}
