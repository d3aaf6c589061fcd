import { FhirError } from '../fhir/errors.js';
import { bodyFormat, MEDIA_TYPES, parseMediaType, whyUnread, type FormatName, type Release } from './negotiate.js';

/** Media types of patches that are no FHIR resources. https://hl7.org/fhir/R5/http.html#patch */
export const PATCH_TYPES = { json: 'application/json-patch+json', xml: 'application/xml-patch+xml' } as const;

/**
 * Form of the body of a patch: a JSON or XML Patch, or a resource in a format of FHIR. The media types `json` and `xml`
 * alone do not say which of the two it is (`unclear`).
 */
export type PatchForm =
  | { readonly is: 'patch'; readonly format: keyof typeof PATCH_TYPES }
  | { readonly is: 'resource'; readonly format: FormatName }
  | { readonly is: 'unclear'; readonly format: FormatName };

/**
 * The form of a patch, by its `Content-Type`.
 *
 * @param taken media types of the patches that are taken
 * @param release of FHIR that is served
 * @throws FhirError `unsupported-media-type`, which names those
 */
export function patchForm(contentType: string | undefined, taken: readonly string[], release: Release): PatchForm {
  if (contentType === undefined) throw noPatch('The request has no Content-Type', taken);
  const { name } = parseMediaType(contentType);
  const format = (['json', 'xml'] as const).find((each) => PATCH_TYPES[each] === name);
  if (format !== undefined && taken.includes(PATCH_TYPES[format])) {
    const why = whyUnread(contentType, release);
    if (why !== undefined) throw noPatch(why, taken);
    return { is: 'patch', format };
  }
  const read = (['json', 'xml'] as const).filter((each) => taken.includes(MEDIA_TYPES[each]));
  try {
    const body = bodyFormat(contentType, ['json', 'xml'], [], release);
    if (!name.includes('fhir')) return { is: 'unclear', format: body };
    if (read.includes(body)) return { is: 'resource', format: body };
  } catch (error) {
    // What is said of the charset and of the release is said there.
    if (!(error instanceof FhirError) || name.includes('fhir')) throw error;
  }
  throw noPatch(`${JSON.stringify(contentType.slice(0, 100))} is no type of a patch`, taken);
}

/** @throws FhirError `unsupported-media-type` with the types that would be right. RFC 5789, 2.2 */
export function noPatch(why: string, taken: readonly string[]): FhirError {
  const text = `${why}; send ${taken.join(', ')}`;
  return new FhirError('unsupported-media-type', text, { headers: { 'Accept-Patch': taken.join(', ') } });
}
