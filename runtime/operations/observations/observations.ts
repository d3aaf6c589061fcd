import { isInclude } from '../../search-execution/parse/read-include.js';
import { FORM, RESULT_PARAMETERS } from '../../search/control-parameters.js';
import { checkForm } from '../../search-execution/pages/page-walk.js';
import type { Call } from '../../core/call.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { rowOf } from '../common/arguments.js';
import type { Services } from '../../core/services.js';

/** The parameters of a call that are the operation's own, and the others, which are criteria of a search. */
export interface SplitCall {
  /** The call with the operation's own parameters only. */
  readonly own: Call;
  /** Names and values of the criteria. */
  readonly criteria: readonly (readonly [string, string])[];
}

/**
 * Separates the operation's own parameters from criteria of a search, in the query and in a Parameters body, where criteria are
 * strings under the name of the search parameter.
 *
 * @throws FhirError `parameter-invalid` for criteria that shape the result: the operation does
 */
export function splitCriteria(call: Call, services: Pick<Services, 'tables'>): SplitCall {
  checkForm(call);
  const names = new Set(rowOf(call, services).parameters.flatMap(({ use, name }) => (use === 'in' ? [name] : [])));
  const isOwn = (name: unknown): boolean => names.has(String(name)) || FORM.has(String(name));
  const params = new URLSearchParams([...call.params].filter(([name]) => isOwn(name)));
  const criteria: (readonly [string, string])[] = [...call.params].filter(([name]) => !isOwn(name));
  const { body } = call;
  if (!isObject(body) || body['resourceType'] !== 'Parameters' || !Array.isArray(body['parameter'])) {
    checkCriteria(criteria);
    return { own: { ...call, params }, criteria };
  }
  const parameter: JsonValue[] = [];
  for (const each of body['parameter']) {
    const value = isObject(each) && !isOwn(each['name']) ? each['valueString'] : undefined;
    if (isObject(each) && typeof value === 'string') criteria.push([String(each['name']), value]);
    else parameter.push(each);
  }
  checkCriteria(criteria);
  const { parameter: _all, ...rest } = body;
  const left = { ...rest, ...(parameter.length > 0 && { parameter }) } as Resource;
  // The text that the body was read from is that of all parameters.
  const { text: _text, ...others } = call;
  return { own: { ...others, params, body: left }, criteria };
}

function checkCriteria(criteria: SplitCall['criteria']): void {
  const [shaping] = criteria.find(([name]) => Object.hasOwn(RESULT_PARAMETERS, name) || isInclude(name)) ?? [];
  if (shaping === undefined) return;
  throw new FhirError(
    'parameter-invalid',
    `The parameter "${shaping}" shapes a search, and is of no use here; leave it out`,
  );
}
