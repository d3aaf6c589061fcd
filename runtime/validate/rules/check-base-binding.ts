import { isJson } from '../../path/evaluate/item.js';
import { CORE } from '../profiles/definition/structure-definition.js';
import type { Binding } from './rule-plan.js';
import type { RuleRun } from './rule-run.js';
import { clip } from '../../fhir/quote.js';

interface Code {
  readonly system?: string;
  readonly code: string;
  /** It is a primitive, whose system is that of the value set. */
  readonly isPlain?: true;
}

/**
 * Checks a coded value against the value set that its element is bound to; the run is at the value. Required value sets
 * are decided by the tables where these have them; others, and extensible ones, are left open for a terminology service.
 * https://hl7.org/fhir/R5/terminologies.html#binding
 */
export function checkBinding(binding: Binding, type: string, value: unknown, run: RuleRun): void {
  const { strength, test, valueSet } = binding;
  if (strength === 'preferred' || (strength === 'extensible' && !run.tools.isThorough)) return;
  const isUri = strength === 'extensible' && type === 'uri' && typeof value === 'string';
  const codes = isUri ? typeCode(value) : codesOf(type, value);
  if (codes === undefined) return;
  if (strength === 'extensible' && codes.length === 0) return;
  if (strength === 'required' && test !== undefined) {
    const isCode = type !== 'CodeableConcept' && type !== 'Coding' && type !== 'CodeableReference';
    if (codes.some(({ code, system }) => (isCode ? test(code) : system !== undefined && test(code, system)))) return;
    run.report('code-not-in-value-set', 'binding', `${describe(codes)} not in the required value set ${valueSet}`);
  } else if (run.tools.isThorough && codes.length > 0) run.leaveOpen({ strength, valueSet, codes });
}

/** The codes of a value; undefined: it is of another form, or there is nothing to be decided. */
function codesOf(type: string, value: unknown): readonly Code[] | undefined {
  if (typeof value === 'string') return [{ code: value, isPlain: true }];
  if (!isJson(value)) return undefined;
  if (type === 'CodeableReference')
    return value['concept'] === undefined ? undefined : codesOf('CodeableConcept', value['concept']);
  if (type !== 'CodeableConcept') return codeOf(value) ?? (type === 'Coding' ? [] : undefined);
  const { coding, extension } = value;
  if (Array.isArray(coding)) return coding.flatMap((each) => codeOf(each) ?? []);
  // A reason for missing data may take the place of a code.
  return value['text'] === undefined && extension !== undefined ? undefined : [];
}

/**
 * A `uri` that is bound to codes is the name of a type, or its URL. A URL of another kind is not among the codes of a value set, and
 * names what they lack. https://hl7.org/fhir/R5/references-definitions.html#Reference.type
 */
function typeCode(value: string): readonly Code[] | undefined {
  const code = value.startsWith(CORE) ? value.slice(CORE.length) : value;
  return code.includes(':') ? undefined : [{ code, isPlain: true }];
}

function codeOf(value: unknown): readonly Code[] | undefined {
  if (!isJson(value) || typeof value['code'] !== 'string') return undefined;
  const { system, code } = value as { system?: unknown; code: string };
  return [{ code, ...(typeof system === 'string' && { system }) }];
}

function describe(codes: readonly Code[]): string {
  if (codes.length === 0) return 'it has no code that is in a value set; there is a text at most, and that is';
  const list = codes
    .slice(0, 3)
    .map(({ code, system }) => `"${clip(system === undefined ? code : `${system}|${code}`)}"`);
  return `${list.join(', ')}${codes.length > 3 ? ', …' : ''} ${codes.length === 1 ? 'is' : 'are'}`;
}
