import { boundariesOf } from '../../path/evaluate/times.js';
import { isJson, isNumber, type Json } from '../../path/evaluate/item.js';
import { forbiddenInNarrative, saysSomething } from './narrative.js';
import type { RuleRun } from './rule-run.js';
import { clip } from '../../fhir/quote.js';

/**
 * Whether a rule holds of a value: true, or what is wrong with it (an empty text: nothing to add to the words of the rule).
 */
export type NativeRule = (value: unknown, run: RuleRun, key: string) => true | string;

/**
 * Rules by hand, by their expression, so that another rule in another package is evaluated as it is written: those that
 * are checked with nearly every resource, those that need more than the values (contained resources, XHTML), and those of
 * boundaries of quantities.
 */
export const NATIVE_RULES: ReadonlyMap<string, NativeRule> = new Map<string, NativeRule>([
  // Resources
  ['contained.contained.empty()', (value) => holds(!contained(value).some((each) => has(each, 'contained')))],
  [
    `contained.where((('#'+id in (%resource.descendants().reference | %resource.descendants().ofType(canonical) | %resource.descendants().ofType(uri) | %resource.descendants().ofType(url))) or descendants().where(reference = '#').exists() or descendants().where(ofType(canonical) = '#').exists() or descendants().where(ofType(canonical) = '#').exists()).not()).trace('unmatched', id).empty()`,
    containedIsReferenced,
  ],
  [
    'contained.meta.versionId.empty() and contained.meta.lastUpdated.empty()',
    (value) => holds(!contained(value).some(({ meta }) => has(meta, 'versionId') || has(meta, 'lastUpdated'))),
  ],
  ['contained.meta.security.empty()', (value) => holds(!contained(value).some(({ meta }) => has(meta, 'security')))],
  ['text.`div`.exists()', (value) => holds(has(member(value, 'text'), 'div'))],
  // Bundles
  [
    // As it is written the rule has no result for a history without entries, which says nothing wrong.
    `type = 'history' implies entry.request.method != 'PATCH'`,
    (value) => holds(member(value, 'type') !== 'history' || !isPatched(member(value, 'entry'))),
  ],
  // Narratives
  ['htmlChecks()', narrative],
  // References
  [
    `reference.exists()  implies (reference.startsWith('#').not() or (reference.substring(1).trace('url') in %rootResource.contained.id.trace('ids')) or (reference='#' and %rootResource!=%resource))`,
    (value, run) => {
      const reference = member(value, 'reference');
      if (typeof reference !== 'string' || !reference.startsWith('#')) return true;
      if (reference === '#') return holds(run.root !== run.resource);
      return run.containedById.has(reference.slice(1)) || `the resource contains no ${JSON.stringify(clip(reference))}`;
    },
  ],
  [
    'reference.exists() or identifier.exists() or display.exists() or extension.exists()',
    (value) =>
      holds(has(value, 'reference') || has(value, 'identifier') || has(value, 'display') || has(value, 'extension')),
  ],
  // Datatypes
  ['code.empty() or system.exists()', (value) => holds(!has(value, 'code') || has(value, 'system'))],
  ['comparator.empty()', (value) => holds(!has(value, 'comparator'))],
  ['value.empty() or system.exists()', (value) => holds(!has(value, 'value') || has(value, 'system'))],
  ['value.exists()', (value) => holds(isJson(value) && has(value, 'value'))],
  [
    'code.exists().not() implies display.exists().not()',
    (value) => holds(has(value, 'code') || !has(value, 'display')),
  ],
  ['data.empty() or contentType.exists()', (value) => holds(!has(value, 'data') || has(value, 'contentType'))],
  [
    'start.hasValue().not() or end.hasValue().not() or (start.lowBoundary() <= end.highBoundary())',
    (value) => periodIsOrdered(member(value, 'start'), member(value, 'end')),
  ],
  [
    'low.value.empty() or high.value.empty() or low.lowBoundary().comparable(high.highBoundary()).not() or (low.lowBoundary() <= high.highBoundary())',
    (value) => holds(quantitiesAreOrdered(member(value, 'low'), member(value, 'high'))),
  ],
  [
    'lowNumerator.hasValue().not() or highNumerator.hasValue().not()  or (lowNumerator.lowBoundary() <= highNumerator.highBoundary())',
    (value) => holds(quantitiesAreOrdered(member(value, 'lowNumerator'), member(value, 'highNumerator'))),
  ],
]);

function holds(is: boolean): true | string {
  return is || '';
}

function member(value: unknown, name: string): unknown {
  return isJson(value) ? value[name] : undefined;
}

/** Whether an element is there: a value, or an id or extensions in its place. */
function has(value: unknown, name: string): boolean {
  return isJson(value) && (value[name] !== undefined || value[`_${name}`] !== undefined);
}

function contained(value: unknown): readonly Json[] {
  const found = member(value, 'contained');
  return Array.isArray(found) ? found.filter(isJson) : [];
}

/** Each contained resource is referred to from outside of it, or refers to what contains it. */
function containedIsReferenced(value: unknown, run: RuleRun): true | string {
  const all = contained(value);
  if (all.length === 0) return true;
  const { linked, linking } = run.localLinks();
  for (const each of all) {
    const { id } = each;
    if ((typeof id === 'string' && linked.has(id)) || linking.has(each)) continue;
    // The expression passes over one without an id; nothing can refer to it.
    return typeof id === 'string' ? `nothing refers to "#${clip(id)}"` : 'one of them has no id';
  }
  return true;
}

/** Two rules have one expression: txt-1 is about what a narrative may have, txt-2 about what it says. */
function narrative(value: unknown, _run: RuleRun, key: string): true | string {
  if (typeof value !== 'string') return true;
  const forbidden = key === 'txt-2' ? undefined : forbiddenInNarrative(value);
  if (forbidden !== undefined) return `it has ${forbidden}`;
  return key === 'txt-1' || holds(saysSomething(value));
}

function periodIsOrdered(start: unknown, end: unknown): true | string {
  if (typeof start !== 'string' || typeof end !== 'string') return true;
  // Of dates alone the zone is unknown, but it is one.
  if (start.length <= 10 && end.length <= 10) {
    const common = Math.min(start.length, end.length);
    return start.slice(0, common) <= end.slice(0, common) || '';
  }
  const [low, high] = [boundariesOf(start), boundariesOf(end)];
  return low === undefined || high === undefined || holds(low[0] <= high[1]);
}

/** Quantities of different units have no order, and those of one have the boundaries of their precision. */
function quantitiesAreOrdered(low: unknown, high: unknown): boolean {
  const [from, to] = [member(low, 'value'), member(high, 'value')];
  if (!isNumber(from) || !isNumber(to)) return true;
  for (const name of ['system', 'code']) if (member(low, name) !== member(high, name)) return true;
  if (!has(low, 'code') && member(low, 'unit') !== member(high, 'unit')) return true;
  return Number(from) - halfStep(from) <= Number(to) + halfStep(to);
}

/** Half of the last digit of a number: `1.50` stands for 1.495 to 1.505. */
function halfStep(number: unknown): number {
  const match = /^-?\d+(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(String(number));
  if (match === null) return 0;
  return 0.5 * 10 ** (Number(match[2] ?? 0) - (match[1] ?? '').length);
}

/** Whether an entry of a history says that it was patched. */
function isPatched(entries: unknown): boolean {
  return Array.isArray(entries) && entries.some((each) => member(member(each, 'request'), 'method') === 'PATCH');
}
