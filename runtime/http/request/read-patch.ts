import type { FhirError } from '../../fhir/errors.js';
import type { Limits } from '../../fhir/limits.js';
import { MEDIA_TYPES, type FormatName } from '../../format/negotiate.js';
import { noPatch, PATCH_TYPES, patchForm } from '../../format/patch-types.js';
import type { SentPatch } from '../../patch/sent-patch.js';
import { fhirPathPatch, readPatch } from '../../interactions/write/sent-patch.js';
import type { Codecs } from '../response/codecs.js';
import type { Incoming } from './incoming.js';
import { hasBody, readBody, type BodyLimits } from './read-body.js';
import { parseBody } from './read-large.js';
import { checkUrlId } from '../router.js';

/**
 * The body of a patch; undefined: there is none. Checked in the order of all requests: the format, what the URL names, the
 * content. https://hl7.org/fhir/R5/http.html#patch
 *
 * @throws FhirError `unsupported-media-type` with the header `Accept-Patch`, and for what cannot be read
 */
export async function readPatchBody(
  incoming: Incoming,
  codecs: Codecs,
  limits: BodyLimits & Pick<Limits, 'nesting'>,
): Promise<SentPatch | undefined> {
  const { req, res, destination, patchTypes, release } = incoming;
  const { row, id } = destination;
  const taken = patchTypes();
  const form = hasBody(req) ? patchForm(req.headers['content-type'], taken, release) : undefined;
  checkUrlId(row.interaction, id);
  if (form === undefined) return undefined;
  const bytes = await readBody(req, res, limits);
  if (bytes.length === 0) return undefined;
  const { format } = form;
  if (form.is === 'patch' && format === 'xml') return readPatch('xml', bytes);
  if (form.is === 'unclear' && format === 'xml') throw unclear(format, taken);
  const { body } = await parseBody(incoming, bytes, format, codecs);
  if (form.is === 'patch') return { format: 'json', patch: body ?? null };
  if (form.is === 'resource') return fhirPathPatch(body);
  // JSON alone is a JSON Patch where it can be nothing else.
  if (Array.isArray(body) && taken.includes(PATCH_TYPES.json)) return { format: 'json', patch: body };
  throw unclear(format, taken);
}

function unclear(format: FormatName, taken: readonly string[]): FhirError {
  const name = format.toUpperCase();
  const text = `${name} alone does not say what kind of patch it is: ${PATCH_TYPES[format]} or ${MEDIA_TYPES[format]}`;
  return noPatch(text, taken);
}
