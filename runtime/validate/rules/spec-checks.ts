import { createHash } from 'node:crypto';

import type { Json } from '../../path/evaluate/item.js';
import type { RuleRun } from './rule-run.js';

/** Checks a value of a type; the run is at it. */
type SpecCheck = (value: Json, run: RuleRun) => void;

/**
 * Checks of requirements that the text of the specification has and no invariant expresses, by name of the type. Only
 * `$validate` makes them.
 */
export const SPEC_CHECKS: ReadonlyMap<string, SpecCheck> = new Map<string, SpecCheck>([
  ['Coding', checkCodingSystem],
  ['Attachment', checkAttachment],
  ['ValueSet.compose.include', checkIncludedSystem],
]);

/** Where the value sets of HL7 are defined. */
const VALUE_SETS_OF_HL7 = /^http:\/\/(?:hl7\.org\/fhir|terminology\.hl7\.org)\/ValueSet\//;

/** `Coding.system` names a code system: https://hl7.org/fhir/R5/datatypes.html#Coding */
function checkCodingSystem({ system }: Json, run: RuleRun): void {
  if (typeof system === 'string' && isValueSet(system, run)) report(`${shown(system)} is a value set and no code system`, 'system', run); // prettier-ignore
}

/** https://hl7.org/fhir/R5/valueset-definitions.html#ValueSet.compose.include.system */
function checkIncludedSystem({ system }: Json, run: RuleRun): void {
  if (typeof system !== 'string') return;
  if (isValueSet(system, run))
    report(`${shown(system)} is a value set; as such it is imported by "valueSet"`, 'system', run); // prettier-ignore
  else if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(system)) {
    report(`the URL of a code system is absolute, and ${shown(system)} is relative`, 'system', run);
  }
}

function isValueSet(url: string, { tools }: RuleRun): boolean {
  return VALUE_SETS_OF_HL7.test(url) || tools.codeTest(url) !== undefined;
}

/** Size and hash are those of the data: https://hl7.org/fhir/R5/datatypes-definitions.html#Attachment.hash */
function checkAttachment({ data, size, hash }: Json, run: RuleRun): void {
  if (typeof data !== 'string' || (size === undefined && hash === undefined)) return;
  const bytes = Buffer.from(data, 'base64');
  const said = size === undefined ? undefined : Number(String(size));
  if (said !== undefined && said !== bytes.length) report(`the data has ${bytes.length} bytes, and "size" says ${said}`, 'size', run); // prettier-ignore
  if (typeof hash !== 'string') return;
  const own = createHash('sha1').update(bytes).digest('base64');
  if (hash.replace(/\s/g, '') !== own) report(`the SHA-1 of the data is ${own}, and "hash" says another one`, 'hash', run); // prettier-ignore
}

function report(text: string, key: string, run: RuleRun): void {
  run.report('content-inconsistent', key, text);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 128));
}
