import type { JsonObject } from '../../fhir/resource.js';
import { objectsOf, textOf, type Faults } from '../faults.js';

/** Headers that HTTP itself, or the notification, decides. */
const RESERVED =
  /^(?:host|content-.*|transfer-encoding|connection|upgrade|te|trailer|expect|keep-alive|proxy-.*|x-kiln-signature)$/i;

/** https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2 */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Bytes of all names and values together. */
const MOST_BYTES = 8192;

/**
 * The headers that `parameter` of a Subscription adds to each request. Values may be secrets: no message quotes them.
 * https://hl7.org/fhir/R5/subscription-definitions.html#Subscription.parameter
 */
export function readHeaders(subscription: JsonObject, faults: Faults): readonly (readonly [string, string])[] {
  const headers = objectsOf(subscription['parameter']).map((each, i): [string, string] => {
    const name = textOf(each['name']) ?? '';
    const value = textOf(each['value']) ?? '';
    if (!TOKEN.test(name)) faults.add(`parameter[${i}].name`, 'is no name of a header: letters, digits and -');
    else if (RESERVED.test(name)) faults.add(`parameter[${i}].name`, 'is a header that the server sets itself');
    // eslint-disable-next-line no-control-regex -- a tab is the one control character that values may have
    if (/[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/.test(value)) {
      faults.add(`parameter[${i}].value`, 'has characters that no header can have: use visible ASCII');
    }
    return [name, value];
  });
  const bytes = headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (bytes > MOST_BYTES) faults.add('parameter', `may have ${MOST_BYTES} bytes altogether`);
  return headers;
}
