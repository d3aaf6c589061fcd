import { checkForm } from '../../core/search/pages/page-walk.js';
import type { Call } from '../../core/call.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { rowOf } from '../arguments.js';
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
 */
export function splitCriteria(call: Call, services: Pick<Services, 'tables'>): SplitCall {
  checkForm(call);
  const names = new Set(rowOf(call, services).parameters.flatMap(({ use, name }) => (use === 'in' ? [name] : [])));
  const isOwn = (name: unknown): boolean => names.has(String(name)) || name === '_format' || name === '_pretty';
  const params = new URLSearchParams([...call.params].filter(([name]) => isOwn(name)));
  const criteria: (readonly [string, string])[] = [...call.params].filter(([name]) => !isOwn(name));
  const { body } = call;
  if (!isObject(body) || body['resourceType'] !== 'Parameters' || !Array.isArray(body['parameter'])) {
    return { own: { ...call, params }, criteria };
  }
  const parameter: JsonValue[] = [];
  for (const each of body['parameter']) {
    const value = isObject(each) && !isOwn(each['name']) ? each['valueString'] : undefined;
    if (isObject(each) && typeof value === 'string') criteria.push([String(each['name']), value]);
    else parameter.push(each);
  }
  const { parameter: _all, ...rest } = body;
  const left = { ...rest, ...(parameter.length > 0 && { parameter }) } as Resource;
  // The text that the body was read from is that of all parameters.
  const { text: _text, ...others } = call;
  return { own: { ...others, params, body: left }, criteria };
}

/** What an Observation is grouped by: its first coding, or the text of its code. */
export function codeKeyOf({ code }: Resource): string {
  if (!isObject(code)) return '';
  const [coding] = Array.isArray(code['coding']) ? code['coding'].filter(isObject) : [];
  return coding === undefined
    ? `text ${String(code['text'] ?? '').toLowerCase()}`
    : `code ${String(coding['system'] ?? '')}|${String(coding['code'] ?? '')}`;
}
