import type { IncomingMessage, ServerResponse } from 'node:http';

import { FhirError } from '../../fhir/errors.js';
import { FORM_TYPE, MAX_FORM, parseForm } from '../../core/form.js';
import { hasBody, readBody, type BodyLimits } from './read-body.js';

/**
 * The parameters in a body; none where there is no body.
 *
 * @param what messages call it
 * @throws FhirError `unsupported-media-type`, `parameter-invalid`, and as `readBody`
 */
export async function readForm(
  req: IncomingMessage,
  res: ServerResponse,
  limits: BodyLimits,
  what = 'A form',
): Promise<URLSearchParams> {
  if (!hasBody(req)) return new URLSearchParams();
  checkType(req.headers['content-type']);
  const bytes = await readBody(req, res, { ...limits, body: Math.min(limits.body, MAX_FORM), what });
  return parseForm(bytes);
}

function checkType(type: string | undefined): void {
  const [name = '', ...parameters] = (type ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (name !== FORM_TYPE) {
    const found = type === undefined ? 'nothing' : JSON.stringify(type.slice(0, 100));
    throw unsupported(`A search is posted as ${FORM_TYPE}; the Content-Type says ${found}`);
  }
  const charset = parameters.find((each) => each.startsWith('charset='))?.slice('charset='.length);
  if (charset === undefined || /^"?(?:utf-?8|us-ascii)"?$/.test(charset)) return;
  throw unsupported(`The server reads UTF-8 only, not ${JSON.stringify(charset.slice(0, 100))}`);
}

function unsupported(text: string): FhirError {
  return new FhirError('unsupported-media-type', text, { headers: { Accept: FORM_TYPE } });
}
