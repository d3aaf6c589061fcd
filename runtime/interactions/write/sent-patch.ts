import { FhirError, type Issue } from '../../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { MEDIA_TYPES, parseMediaType, whyUnread } from '../../format/negotiate.js';
import { PATCH_TYPES } from '../../format/patch-types.js';
import { readJson } from '../../format/read-json.js';
import { decodeUtf8 } from '../../format/utf8.js';
import { BINARY, decodeEnclosed } from '../../core/binary/binary-content.js';
import type { SentPatch } from '../../patch/sent-patch.js';
import type { Patchers } from '../../patch/apply/patchers.js';
import type { Services } from '../../core/services.js';

/** The type of resource that a FHIRPath Patch is. */
const PARAMETERS = 'Parameters';

/** A JSON or XML Patch. @throws FhirError where it is not JSON, or not UTF-8 */
export function readPatch(format: 'json' | 'xml', bytes: Buffer, nesting?: number): SentPatch {
  const text = decodeUtf8(bytes);
  return format === 'json' ? { format, patch: readJson(text, nesting) } : { format, text };
}

/** A body as a FHIRPath Patch. @throws FhirError `body-missing`, `not-a-resource`, `type-mismatch` */
export function fhirPathPatch(body: JsonValue | undefined): SentPatch {
  if (body === undefined) throw new FhirError('body-missing', 'The request needs a patch as its body');
  if (!isObject(body) || typeof body['resourceType'] !== 'string') {
    const hint = Array.isArray(body) ? `; a JSON Patch is sent as ${PATCH_TYPES.json}` : '';
    throw new FhirError('not-a-resource', `A patch in a FHIR format is a ${PARAMETERS} resource${hint}`);
  }
  if (body['resourceType'] !== PARAMETERS) {
    const type = JSON.stringify(body['resourceType'].slice(0, 64));
    throw new FhirError('type-mismatch', `A patch in a FHIR format is a ${PARAMETERS} resource, not ${type}`);
  }
  return { format: 'fhirpath', parameters: body as Resource };
}

/**
 * The patch in an entry of a Bundle: Parameters, or a Binary that holds a JSON or XML Patch.
 * https://hl7.org/fhir/R5/http.html#transaction
 *
 * @throws FhirError where it is neither
 */
export function patchOfResource(resource: Resource | undefined): SentPatch {
  if (resource?.resourceType !== BINARY) return fhirPathPatch(resource);
  const { contentType } = resource;
  const name = typeof contentType === 'string' ? parseMediaType(contentType).name : undefined;
  const format = (['json', 'xml'] as const).find((each) => PATCH_TYPES[each] === name);
  if (format === undefined) {
    const text = `A ${BINARY} that holds a patch has the contentType ${PATCH_TYPES.json} or ${PATCH_TYPES.xml}`;
    throw new FhirError('patch-invalid', text, { expression: `${BINARY}.contentType` });
  }
  const why = whyUnread(String(contentType));
  if (why !== undefined) throw new FhirError('unsupported-media-type', why, { expression: `${BINARY}.contentType` });
  const data = decodeEnclosed(resource['data'], 'patch');
  if (data === undefined) {
    throw new FhirError('body-missing', `The ${BINARY} has no patch in it`, { expression: `${BINARY}.data` });
  }
  try {
    return readPatch(format, data);
  } catch (error) {
    throw error instanceof FhirError ? placed(error, placeOfPatch(resource)) : error;
  }
}

/** FHIRPath of the patch in a resource that carries it. */
export function placeOfPatch(resource: Resource | undefined): string {
  return resource?.resourceType === BINARY ? `${BINARY}.data` : PARAMETERS;
}

/**
 * Runs work on a patch that a resource carries, and reports failures at the path of the patch. Expressions in the patched
 * resource, and lines of the decoded patch, would not help a client that sent neither.
 *
 * @param place FHIRPath of the patch; absent: the patch is the request body
 */
export async function atPlace<T>(place: string | undefined, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw place !== undefined && error instanceof FhirError ? placed(error, place) : error;
  }
}

function placed(error: FhirError, place: string): FhirError {
  return error.map((issue) => placeIssue(issue, place));
}

function placeIssue(issue: Issue, place: string): Issue {
  const isKnown = issue.expression?.startsWith(`${place}.`) === true || issue.part !== undefined;
  const text = LINE.test(issue.text) ? `The patch in ${place}: ${issue.text}` : issue.text;
  return isKnown ? { ...issue, text } : { ...issue, text, expression: place };
}

const LINE = /^Line [0-9]+, column [0-9]+: /;

/** Media types of the patches that a server accepts. */
export function patchTypes({ patchers, formats }: Pick<Services, 'patchers' | 'formats'>): readonly string[] {
  const has = (format: keyof Patchers): boolean => patchers[format] !== undefined;
  return [
    ...(has('json') ? [PATCH_TYPES.json] : []),
    ...(has('xml') ? [PATCH_TYPES.xml] : []),
    ...(has('fhirpath') ? formats.map((format) => MEDIA_TYPES[format]) : []),
  ];
}
