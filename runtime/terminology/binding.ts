import type { ValueSetContext } from './value-set-context.js';
import { TerminologyFault } from './fault.js';
import { findMember } from './value-set.js';

/** Whether a code is in a value set; `unknown`: the server lacks a code system or value set, so that cannot be decided. */
export type Membership = 'in' | 'not-in' | 'unknown';

/**
 * Is the code of the system in the value set? The question behind bindings. It makes no expansion, and of an unchanged value set it takes
 * microseconds.
 *
 * @param valueSet canonical, perhaps with a version
 * @throws FhirError `value-set-invalid` for a value set that contains itself
 */
export async function membershipOf(
  code: { readonly system: string; readonly code: string; readonly version?: string },
  valueSet: string,
  context: ValueSetContext,
): Promise<Membership> {
  const found = await context.resolver.valueSet(valueSet);
  if (found === undefined) return 'unknown';
  try {
    return (await findMember(found, code, context)) === undefined ? 'not-in' : 'in';
  } catch (error) {
    if (error instanceof TerminologyFault) return 'unknown';
    throw error;
  }
}
