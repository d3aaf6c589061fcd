import { FhirError } from '../../../fhir/errors.js';
import type { Call } from '../../call.js';

/** Parameters that a link repeats as they are: they say how to write, not what. Of several the first is in force. */
export const FORM: ReadonlySet<string> = new Set(['_format', '_pretty']);

/** Longest value of such a parameter, so that links stay short. */
const MAX_FORM = 256;

/** @throws FhirError `parameter-invalid` */
export function checkForm({ params }: Pick<Call, 'params'>): void {
  for (const name of FORM) {
    if ((params.get(name)?.length ?? 0) <= MAX_FORM) continue;
    throw new FhirError('parameter-invalid', `The parameter ${name} may have ${MAX_FORM} characters`);
  }
}

/**
 * A URL of this server with these parameters, and those about form that the client put into its URL.
 *
 * @param path below the base; empty: the base itself
 */
export function writeLink(
  { base, params }: Pick<Call, 'base' | 'params'>,
  path: string,
  pairs: readonly (readonly [string, string])[],
): string {
  const form = [...FORM].flatMap((name) => {
    const value = params.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const query = new URLSearchParams([...pairs, ...form] as [string, string][]).toString();
  return `${base}${path === '' ? '' : `/${path}`}${query === '' ? '' : `?${query}`}`;
}
