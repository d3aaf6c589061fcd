import { FhirError, type Issue } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import type { SentPatch } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { validateResource } from '../../core/write/validate-resource.js';

/**
 * Validates a FHIRPath Patch like any resource, so that a misspelt part is reported instead of ignored.
 *
 * @throws FhirError with an issue for each fault
 */
export function validateParameters(patch: Resource, services: Pick<Services, 'validate'>): void {
  validateAnd(withForm, patch, services);
}

/**
 * Validates the result of a patch.
 *
 * @throws FhirError with an issue for each fault, which says that it is in the patched resource
 */
export function validatePatched(
  patched: Resource,
  { format }: Pick<SentPatch, 'format'>,
  services: Pick<Services, 'validate'>,
): void {
  validateAnd(
    (issue) => ({ ...issue, text: `What the patch makes: ${issue.text}${format === 'json' ? remedyOf(issue) : ''}` }),
    patched,
    services,
  );
}

function validateAnd(change: (issue: Issue) => Issue, resource: Resource, services: Pick<Services, 'validate'>): void {
  try {
    validateResource(resource, {}, services);
  } catch (error) {
    throw error instanceof FhirError ? error.map(change) : error;
  }
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
