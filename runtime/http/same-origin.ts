import type { IncomingMessage } from 'node:http';

import { FhirError } from '../fhir/errors.js';

/**
 * Refuses a form that no page of this server has sent. Browsers let any page post a form anywhere, and a proxy may add credentials on the
 * way. https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
 *
 * @throws FhirError `form-origin`
 */
export function checkSameOrigin({ headers }: IncomingMessage): void {
  const { origin, host, 'sec-fetch-site': site } = headers;
  // Browsers name the site only where the page came encrypted or from this machine; each names the origin of a form.
  const isOwn = site === undefined ? origin?.replace(/^https?:\/\//, '') === host : site === 'same-origin';
  if (!isOwn) throw new FhirError('form-origin');
}
