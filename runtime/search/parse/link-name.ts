import { FhirError } from '../../fhir/errors.js';
import type { LinkName, LinkStep } from './link-step.js';
import { quote } from '../../fhir/quote.js';

/** Links in the name of one parameter, chains and reverse chains together, where the configuration says nothing. */
export const MAX_LINKS = 8;

/** Whether a name has links: `subject.name`, `_has:Observation:patient:code`. */
export function isLinkName(name: string): boolean {
  return name.includes('.') || name === '_has' || name.startsWith('_has:');
}

/**
 * Takes a name apart by its form alone: `ref[:Type].…`, `_has:Type:ref:…`, then `code[:modifier]`.
 * https://hl7.org/fhir/R5/search.html#chaining, https://hl7.org/fhir/R5/search.html#has
 *
 * @param most greatest number of links
 * @throws FhirError `parameter-invalid` where a part is missing, or there are more links
 */
export function splitLinkName(name: string, most: number): LinkName {
  const steps: LinkStep[] = [];
  let rest = name;
  for (; isLinkName(rest);) {
    if (steps.length === most) throw tooDeep(name, most);
    const { step, after } = /^_has(?::|$)/.test(rest) ? splitHas(name, rest) : splitChain(name, rest);
    steps.push(step);
    rest = after;
  }
  if (rest === '' || rest.startsWith(':')) throw invalid(`ends without a parameter: ${CHAIN_FORM}`, name);
  return { steps, last: rest };
}

const CHAIN_FORM = 'it is written reference.parameter or reference:Type.parameter, as in subject:Patient.name';
const HAS_FORM = 'it is written _has:Type:reference:parameter, as in _has:Observation:patient:code';

function splitChain(name: string, rest: string): { readonly step: LinkStep; readonly after: string } {
  const dot = rest.indexOf('.');
  const [code = '', ...types] = rest.slice(0, dot).split(':');
  const [type, ...more] = types;
  if (code === '' || type === '' || more.length > 0)
    throw invalid(`has no reference before a dot: ${CHAIN_FORM}`, name);
  return { step: { by: 'chain', code, ...(type !== undefined && { type }) }, after: rest.slice(dot + 1) };
}

function splitHas(name: string, rest: string): { readonly step: LinkStep; readonly after: string } {
  const [, type = '', code = '', after = ''] = /^_has(?::([^:]*)(?::([^:]*)(?::(.*))?)?)?$/s.exec(rest) ?? [];
  if (type === '' || code === '' || after === '') throw invalid(`lacks a part of its _has: ${HAS_FORM}`, name);
  for (const part of [type, code]) {
    if (part.includes('.')) throw invalid(`has the chain ${quote(part)} where its _has names a type and a reference of it: ${HAS_FORM}`, name); // prettier-ignore
  }
  return { step: { by: 'has', type, code }, after };
}

function tooDeep(name: string, most: number): FhirError {
  const text = `goes over more than ${most} links (chains and _has together); search in steps, by the ids found`;
  return invalid(text, name);
}

function invalid(what: string, name: string): FhirError {
  return new FhirError('parameter-invalid', `The parameter ${quote(name)} ${what}`);
}
