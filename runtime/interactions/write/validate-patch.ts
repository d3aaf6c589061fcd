import { FhirError, type Issue } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import type { SentPatch } from '../../patch/sent-patch.js';
import type { Services } from '../../core/services.js';
import { validateResource } from '../../core/write/validate-resource.js';
import { validateProfiles, type ProfileValidation, type ValidatedCall } from '../../core/write/validate-profiles.js';
import { validateContent, type ContentValidation } from '../../core/write/validate-written.js';

/**
 * Validates a FHIRPath Patch like any resource, so that a misspelt part is reported instead of ignored.
 *
 * @throws FhirError with an issue for each fault
 */
export function validateParameters(patch: Resource, services: Pick<Services, 'validate'>): void {
  try {
    validateResource(patch, {}, services);
  } catch (error) {
    throw error instanceof FhirError ? error.map(withForm) : error;
  }
}

/**
 * Validates the result of a patch, apart from profiles: worker threads do this too.
 *
 * @throws FhirError with an issue for each fault, which says that it is in the patched resource
 */
export function validatePatched(
  patched: Resource,
  { format }: Pick<SentPatch, 'format'>,
  services: ContentValidation,
): void {
  try {
    validateContent(patched, {}, services);
  } catch (error) {
    throw ofResult(error, format);
  }
}

/**
 * Validates the result of a patch by the profiles that it claims, and those that are required.
 *
 * @throws FhirError as `validatePatched`
 */
export async function validatePatchedProfiles(
  patched: Resource,
  { format }: Pick<SentPatch, 'format'>,
  { principal, signal, together }: Omit<ValidatedCall, 'text'>,
  services: ProfileValidation,
): Promise<void> {
  try {
    const call = { principal, ...(signal && { signal }), ...(together && { together }) }; // prettier-ignore
    await validateProfiles(patched, call, services);
  } catch (error) {
    throw ofResult(error, format);
  }
}

function ofResult(error: unknown, format: SentPatch['format']): unknown {
  if (!(error instanceof FhirError)) return error;
  return error.map((issue) => ({
    ...issue,
    text: `What the patch makes: ${issue.text}${format === 'json' ? remedyOf(issue) : ''}`,
  }));
}

/** Adds a hint for clients that send an Extension as the value of a parameter. https://hl7.org/fhir/R5/fhirpatch.html#anonymous */
function withForm(issue: Issue): Issue {
  if (issue.code !== 'unknown-property' || issue.expression?.endsWith('.valueExtension') !== true) return issue;
  const place = `${issue.expression}: `;
  return {
    ...issue,
    text: `${place}a value that is an Extension is given by parts named url and value (or extension)`,
  };
}

/** Hint for a JSON Patch that removes the last item of a list: FHIR has no empty lists. */
function remedyOf({ code, expression = '' }: Issue): string {
  if (code !== 'empty-array') return '';
  const pointer = expression
    .replace(/^[^.]*/, '')
    .replace(/[.[]/g, '/')
    .replaceAll(']', '');
  return `: remove ${pointer}`;
}
