import { jsonName } from '../contract/json-name.js';
import { elementsOf, type TypeRows } from '../contract/type-rows.js';
import type { PathStep, SearchType } from '../contract/search.js';
import type { ElementRow } from '../contract/types.js';
import type { MinimalValues } from './minimal-resource.js';
import { sampleOf, type SampleValue } from './sample-values.js';

type MutableJson = Record<string, unknown>;

/** Parameters of filling in a path: the tables, the sample values and the types to reach. */
export interface Filling {
  readonly rows: TypeRows;
  readonly minimal: MinimalValues;
  readonly search: SearchType;
  readonly word: string;
  /** Returns the reference to write where one is wanted, to one of some types (absent: any), which a search has to say then. */
  readonly reference: (targets: readonly string[] | undefined) => string;
  /** Types that the values at the end of the path have. */
  readonly types: readonly string[];
}

/** A place in a resource where the walk along a path is. */
interface Place {
  readonly holder: MutableJson;
  readonly key: string;
  readonly element: ElementRow;
  readonly type: string;
}

/**
 * Puts a value where a search parameter reads it, and all that has to be around it.
 *
 * @param node changed: the resource, or an element
 * @returns what finds it; undefined: the path leads where this cannot follow
 */
export function fillPath(
  node: MutableJson,
  type: string,
  steps: readonly PathStep[],
  filling: Filling,
): SampleValue | undefined {
  const [step, ...rest] = steps;
  if (step === undefined) return undefined;
  if ('is' in step || 'index' in step || 'refers' in step) return fillPath(node, type, rest, filling);
  if ('union' in step) return fillPath(node, type, [...(step.union[0] ?? []), ...rest], filling);
  if ('where' in step) {
    const [first] = step.where;
    if (step.equals !== undefined) set(node, type, step.where, step.equals, filling);
    else if (first !== undefined && 'extension' in first)
      addExtension(node, { url: first.extension, valueBoolean: true });
    return fillPath(node, type, rest, filling);
  }
  if ('extension' in step) return fillExtension(node, step.extension, rest, filling);
  if ('notFalse' in step) return undefined;
  const place = placeOf(node, type, step, filling);
  if (place === undefined) return undefined;
  if (!rest.some(isDeeper)) return fillEnd(place, rest, filling);
  const existing = place.holder[place.key];
  const inner = (Array.isArray(existing) ? existing[0] : existing) as MutableJson | undefined;
  const next = inner ?? (filling.minimal.valueOf({ ...place.element, types: [place.type] }) as MutableJson);
  write(place, next);
  return fillPath(next, place.type, rest, filling);
}

function isDeeper(step: PathStep): boolean {
  return 'get' in step || 'choose' in step || 'extension' in step || 'union' in step;
}

function placeOf(node: MutableJson, type: string, step: PathStep, { rows, types }: Filling): Place | undefined {
  const elements = elementsOf(type, rows);
  if ('get' in step) {
    const element = elements.find(({ name, choice }) => name === step.get && choice !== true);
    const [own] = element?.types ?? [];
    if (element !== undefined && own !== undefined) return { holder: node, key: step.get, element, type: own };
  }
  const names = 'get' in step ? [step.get] : 'choose' in step ? Object.keys(step.choose) : [];
  const places = elements.flatMap((element) =>
    element.types.map((own) => ({ holder: node, key: jsonName(element, own), element, type: own })),
  );
  const possible = places.filter(({ key }) => names.includes(key));
  const place = possible.find((each) => types.includes(each.type)) ?? possible[0];
  // A choice has one value.
  for (const { element, key } of places) if (element === place?.element && element.choice === true) delete node[key];
  return place;
}

/** Values of types that have a coding. */
const CODED: Readonly<Record<string, (coding: object) => unknown>> = {
  Coding: (coding) => coding,
  CodeableConcept: (coding) => ({ coding: [coding] }),
  CodeableReference: (coding) => ({ concept: { coding: [coding] } }),
};

/** @param rest conditions on the value, `where(system = 'phone')`, which hold once it is there */
function fillEnd(place: Place, rest: readonly PathStep[], filling: Filling): SampleValue | undefined {
  const { minimal, search, word, reference, rows } = filling;
  const bound = minimal.codeOf(place.element);
  const coding = minimal.codingOf(place.element);
  let sample: SampleValue | undefined;
  if (place.type === 'Reference') {
    const finds = reference(place.element.targets?.['Reference']);
    sample = { value: { reference: finds }, finds, misses: `${finds.split('/')[0]}/${word}-other` };
  } else if (coding !== undefined && CODED[place.type] !== undefined) {
    const finds = `${coding.system}|${coding.code}`;
    sample = { value: CODED[place.type]?.(coding), finds, misses: `${finds}-other` };
  } else if (bound !== undefined && !rows.has(place.type))
    sample = { value: bound, finds: bound, misses: `${bound}-other` };
  else sample = sampleOf(place.type, search, word);
  if (sample === undefined) return undefined;
  const value = typeof sample.value === 'object' ? structuredClone(sample.value) : sample.value;
  for (const step of rest) {
    if ('where' in step && step.equals !== undefined && typeof value === 'object')
      set(value as MutableJson, place.type, step.where, step.equals, filling);
  }
  write(place, value);
  return sample;
}

function fillExtension(
  node: MutableJson,
  url: string,
  rest: readonly PathStep[],
  filling: Filling,
): SampleValue | undefined {
  const type = filling.types[0] ?? '';
  const names = rest.flatMap((step) => ('choose' in step ? Object.keys(step.choose) : 'get' in step ? [step.get] : []));
  if (rest.filter(isDeeper).length > 1) return undefined;
  const key = names.find((name) => name === `value${type.charAt(0).toUpperCase()}${type.slice(1)}`) ?? names[0];
  const value = sampleOf(type, filling.search, filling.word);
  if (value === undefined || key === undefined) return undefined;
  addExtension(node, { url, [key]: value.value });
  return value;
}

function addExtension(node: MutableJson, extension: MutableJson): void {
  ((node['extension'] ??= []) as unknown[]).push(extension);
}

/** Puts a value at the end of a path of plain names. */
function set(
  node: MutableJson,
  type: string,
  steps: readonly PathStep[],
  value: string | boolean,
  filling: Filling,
): void {
  const [step, ...rest] = steps;
  if (step === undefined) return;
  const place = placeOf(node, type, step, filling);
  if (place === undefined) return;
  if (rest.length === 0) return write(place, value);
  const existing = place.holder[place.key];
  const inner = (Array.isArray(existing) ? existing[0] : existing) as MutableJson | undefined;
  const next = inner ?? {};
  write(place, next);
  set(next, place.type, rest, value, filling);
}

function write({ holder, key, element }: Place, value: unknown): void {
  const before = holder[key];
  holder[key] = element.max !== '*' ? value : Array.isArray(before) ? [value, ...before.slice(1)] : [value];
}
