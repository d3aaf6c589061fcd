import { FhirError } from '../fhir/errors.js';
import type { Limits } from '../fhir/limits.js';
import { MEDIA_TYPES } from '../format/negotiate.js';
import { noPatch, PATCH_TYPES, patchForm } from '../format/patch-types.js';
import type { SentPatch } from '../interactions/call.js';
import { fhirPathPatch, readPatch } from '../interactions/sent-patch.js';
import type { Codecs } from './codecs.js';
import type { Incoming } from './incoming.js';
import { hasBody, readBody, type BodyLimits } from './read-body.js';
import { checkUrlId } from './router.js';

/**
 * The body of a patch; undefined: there is none. Checked in the order of all requests: the format, what the URL names, the
 * content. https://hl7.org/fhir/R5/http.html#patch
 *
 * @throws FhirError `unsupported-media-type` with the header `Accept-Patch`, and for what cannot be read
 */
export async function readPatchBody(
  { req, res, destination, patchTypes }: Incoming,
  codecs: Codecs,
  limits: BodyLimits & Pick<Limits, 'nesting'>,
): Promise<SentPatch | undefined> {
  const { row, id } = destination;
  const taken = patchTypes();
  const form = hasBody(req) ? patchForm(req.headers['content-type'], taken) : undefined;
  checkUrlId(row.interaction, id);
  if (form === undefined) return undefined;
  const bytes = await readBody(req, res, limits);
  if (bytes.length === 0) return undefined;
  if (form.is === 'patch') return readPatch(form.format, bytes, limits.nesting);
  const { format } = form;
  if (form.is === 'unclear') {
    // JSON alone is a JSON Patch where it can be nothing else.
    const patch = format === 'json' ? readPatch('json', bytes, limits.nesting) : undefined;
    if (patch?.format === 'json' && Array.isArray(patch.patch) && taken.includes(PATCH_TYPES.json)) return patch;
    throw noPatch(
      `${format.toUpperCase()} alone does not say what kind of patch it is: ${PATCH_TYPES[format]} or ${MEDIA_TYPES[format]}`,
      taken,
    );
  }
  const codec = codecs.get(format);
  if (codec === undefined) throw new FhirError('unsupported-media-type');
  return fhirPathPatch(await codec.read(bytes));
}
