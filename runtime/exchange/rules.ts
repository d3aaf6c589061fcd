import type { Issue } from '../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { elementsAt, hasCode, objectsOf, textOf } from './elements.js';
import { IDENTIFIER_TYPES, type SharingCode } from './mhd.js';

/** How often an element has to be there, in each element that could have it. */
export interface ExchangeRule {
  /** Below the resource. */
  readonly path: string;
  readonly min?: 1;
  readonly max?: 0 | 1;
  /** The values of which it has to have one, where it is there. */
  readonly values?: readonly string[];
  /** The type of the identifiers that are counted. */
  readonly type?: 'uniqueId' | 'entryUUID';
  /** The URL of the extensions that are counted. */
  readonly url?: string;
  /** The text that the value of each identifier that is counted begins with. */
  readonly prefix?: string;
  /** Absent: XDSRegistryMetadataError. */
  readonly code?: SharingCode;
}

/** Returns an issue for each rule that a resource breaks, where it breaks it. */
export function brokenRules(resource: Resource, rules: readonly ExchangeRule[]): readonly Issue[] {
  return rules
    .flatMap((rule) => faultsOf(resource, rule))
    .filter(
      ({ expression, text }, i, all) =>
        all.findIndex((each) => each.expression === expression && each.text === text) === i,
    );
}

/** Returns that an element of a document that is published is wrong. */
export function fault(expression: string, text: string, sharing: SharingCode = 'XDSRegistryMetadataError'): Issue {
  return { code: 'publication-invalid', text: `${expression}: ${text}`, expression, sharing };
}

function faultsOf(resource: Resource, rule: ExchangeRule): readonly Issue[] {
  const { min = 0, max = Infinity, values, prefix, code } = rule;
  const names = rule.path.split('.');
  const name = names.pop() ?? '';
  const what = `${name}${rule.type === undefined ? '' : ` of type ${rule.type}`}${rule.url === undefined ? '' : ` ${rule.url}`}`;
  return elementsAt(resource, names).flatMap(({ element, at }) => {
    const counted = countedIn(element, name, rule);
    const expression = `${at}.${name}`;
    if (counted.length < min) return [fault(expression, `a document that is published needs ${what}`, code)];
    if (counted.length > max) {
      const text = max === 0 ? `a document that is published has no ${what}` : `only one ${what} may be there`;
      return [fault(expression, text, code)];
    }
    if (prefix !== undefined && !counted.every((each) => textOf(each, 'value')?.startsWith(prefix)))
      return [fault(expression, `the value of a ${rule.type} has to begin with ${prefix}`, code)];
    const isFit = values === undefined || counted.every((each) => values.some((value) => value === each));
    return isFit ? [] : [fault(expression, `has to be ${values.join(' or ')}`, code)];
  });
}

function countedIn(element: JsonValue, name: string, { type, url }: ExchangeRule): readonly JsonValue[] {
  const value = isObject(element) ? element[name] : undefined;
  if (url !== undefined) return objectsOf(element, name).filter((each) => each['url'] === url);
  if (type !== undefined)
    return objectsOf(element, name).filter((each) => hasCode(each['type'], IDENTIFIER_TYPES, type));
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
