import type { Call } from '../core/call.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import type { Resource } from '../fhir/resource.js';
import { findFirst } from './common/find-matches.js';

/**
 * The stored resource that a canonical names: of the version that it names, or of the greatest version.
 * https://hl7.org/fhir/R5/references.html#canonical
 *
 * @throws FhirError `not-found`, and as a search
 */
export async function findCanonical(
  type: string,
  canonical: string,
  call: Call,
  services: Services,
): Promise<Resource> {
  const [url = '', version] = canonical.split('|');
  const params: [string, string][] = [['url', url.replaceAll(/[\\,$]/g, '\\$&')]];
  if (version === undefined) params.push(['_sort', '-version']);
  else params.push(['version', version.replaceAll(/[\\,|$]/g, '\\$&')]);
  const found = await findFirst(type, params, call, services);
  if (found === undefined) {
    throw new FhirError(
      'not-found',
      `There is no ${type} with the canonical ${JSON.stringify(canonical.slice(0, 256))}`,
    );
  }
  return found;
}
