import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { membershipOf } from '../../terminology/binding.js';
import type { ValueSetContext } from '../../terminology/value-set-context.js';
import { systemsOf } from '../../terminology/value-set.js';
import type { OpenBinding } from '../../validate/rules/rule-run.js';
import type { Fault } from '../../validate/fault.js';
import { openContext } from '../../terminology/operations/context.js';

/** Bindings of both strengths that are looked up for one resource, at most: the others repeat them, as a rule. */
const MOST = 200;

/**
 * Decides the bindings that the tables cannot: by the value sets that are stored or shipped. A code outside a required one is
 * an error, outside an extensible one a warning. Value sets that cannot be decided are passed over.
 */
export async function decideBindings(
  open: readonly OpenBinding[],
  call: Call,
  services: Services,
): Promise<readonly Fault[]> {
  const context = openContext(call, services);
  const known = new Map<string, Promise<boolean | undefined>>();
  const issues: Fault[] = [];
  for (const { strength, valueSet, codes, expression, path } of open.slice(0, MOST)) {
    const answers: (boolean | undefined)[] = [];
    for (const { system, code, isPlain } of codes) {
      const key = `${valueSet} ${isPlain === true ? '*' : (system ?? '')}|${code}`;
      let answer = known.get(key);
      if (answer === undefined) {
        answer = isPlain === true ? isCodeOf(valueSet, code, context) : isMember(valueSet, system, code, context);
        known.set(key, answer);
      }
      answers.push(await answer);
    }
    if (answers.includes(true) || answers.includes(undefined)) continue;
    const shown = codes.map(
      ({ system, code }) => `"${(system === undefined ? code : `${system}|${code}`).slice(0, 128)}"`,
    );
    issues.push({
      code: 'code-not-in-value-set',
      severity: strength === 'required' ? 'error' : 'warning',
      issue: 'code-invalid',
      rule: 'binding',
      text: `${expression}: ${shown.slice(0, 3).join(', ')} not in the ${strength} value set ${valueSet} (binding)`,
      expression,
      path,
    });
  }
  return issues;
}

/**
 * Whether a value set has a code of any system: what a value of the type `code` is judged by, for its system is that of the value set.
 * Undefined: that cannot be decided. https://hl7.org/fhir/R5/datatypes.html#code
 */
export async function isCodeOf(
  canonical: string,
  code: string,
  context: ValueSetContext,
): Promise<boolean | undefined> {
  const valueSet = await context.resolver.valueSet(canonical);
  const systems = valueSet === undefined ? undefined : await orUndecided(systemsOf(valueSet, context));
  if (systems === undefined) return undefined;
  let isUnknown = false;
  for (const system of systems) {
    const answer = await isMember(canonical, system, code, context);
    if (answer === true) return true;
    isUnknown ||= answer === undefined;
  }
  return isUnknown ? undefined : false;
}

/** Whether a code is in a value set; undefined: that cannot be decided. */
export async function isMember(
  canonical: string,
  system: string | undefined,
  code: string,
  context: ValueSetContext,
): Promise<boolean | undefined> {
  if (system === undefined) return undefined;
  const membership = await orUndecided(membershipOf({ system, code }, canonical, context));
  return membership === undefined || membership === 'unknown' ? undefined : membership === 'in';
}

/** Undefined: what is asked cannot be decided. */
async function orUndecided<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof FhirError && error.status < 500) return undefined;
    throw error;
  }
}
