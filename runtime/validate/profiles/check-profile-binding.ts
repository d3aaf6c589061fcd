import type { ProfileBindingRow } from '../../contract/profiles.js';
import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import type { ElementValue } from './item.js';
import type { CodeToCheck } from './profile-deps.js';
import type { ItemCheck, ProfileRun } from './profile-run.js';

/** https://hl7.org/fhir/R5/terminologies.html#4.1 */
export function compileBinding({ strength, valueSet }: ProfileBindingRow): ItemCheck {
  const isRequired = strength === 'required';
  return (item, run) => {
    const codes = codesOf(item);
    if (codes === undefined || (codes.length === 0 && !isRequired)) return;
    const isMember = codes.length > 0 && isAnyMember(codes, valueSet, run);
    if (isMember === true) return;
    if (isMember === undefined) {
      if (isRequired) tellUndecided(codes, valueSet, run);
      return;
    }
    const found = codes.length === 0 ? 'there is no code' : `${codes.map(show).join(', ')} is not in it`;
    const text = isRequired
      ? `needs a code of the value set ${valueSet}; ${found}`
      : `should have a code of the value set ${valueSet}, if one fits; ${found}`;
    run.report({ severity: isRequired ? 'error' : 'warning', issue: 'code-invalid', key: 'binding', text });
  };
}

/** Tells of a required binding that was not checked. Extensible ones, often bound to value sets of others, would say little. */
function tellUndecided(codes: readonly CodeToCheck[], valueSet: string, run: ProfileRun): void {
  if (run.deps.bindings === undefined) return;
  const shown = codes.map(show).join(', ');
  const text = `whether ${shown} is in the value set ${valueSet} cannot be decided here, so it was not checked`;
  run.reportOnce(`${valueSet} ${shown}`, { severity: 'warning', issue: 'not-supported', key: 'binding', text });
}

/**
 * Whether one of these is in a value set; undefined: it cannot be decided. A Coding without a system is in none.
 * https://hl7.org/fhir/R5/datatypes.html#Coding
 */
export function isAnyMember(codes: readonly CodeToCheck[], valueSet: string, run: ProfileRun): boolean | undefined {
  let isUnknown = false;
  for (const code of codes) {
    const hasSystem = code.system !== undefined || code.isPlain === true;
    const answer = hasSystem && run.isMember(valueSet, code);
    if (answer === true) return true;
    isUnknown ||= answer === undefined;
  }
  return isUnknown ? undefined : false;
}

/** The codes of a value; undefined: it has none to speak of, or nothing but extensions. */
export function codesOf({ value, type }: ElementValue): CodeToCheck[] | undefined {
  if (typeof value === 'string') return [{ code: value, isPlain: true }];
  if (!isObject(value)) return undefined;
  if (type === 'CodeableReference') return isObject(value['concept']) ? conceptCodes(value['concept']) : undefined;
  return type === 'CodeableConcept' ? conceptCodes(value) : codingCode(value);
}

function conceptCodes(concept: JsonObject): CodeToCheck[] {
  const codings: readonly JsonValue[] = Array.isArray(concept['coding']) ? concept['coding'] : [];
  return codings.filter(isObject).flatMap(codingCode);
}

/** Coding and Quantity: both have a system and a code. */
function codingCode({ system, code }: JsonObject): CodeToCheck[] {
  if (typeof code !== 'string') return [];
  return [typeof system === 'string' ? { system, code } : { code }];
}

function show({ system, code }: CodeToCheck): string {
  return system === undefined ? JSON.stringify(code) : `${system}|${code}`;
}
