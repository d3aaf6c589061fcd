import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { canonicalText } from '../../patch/diff/diff-canonical.js';

/** One place where two versions of a resource differ. */
export interface Difference {
  /** Below the resource: `concept[code=icu].display`. */
  readonly path: string;
  /** Absent: it was not there. */
  readonly before?: JsonValue;
  /** Absent: it is not there any more. */
  readonly after?: JsonValue;
}

/** Members by which the items of a list are distinguished. */
const KEYS = ['id', 'code', 'url', 'key', 'name', 'linkId'] as const;

/**
 * Lists where two versions of a resource differ, for people. Of a definition with a differential the snapshot is left out where both
 * differ: it says the same again.
 */
export function differencesOf(before: Resource, after: Resource): readonly Difference[] {
  const all = [...compare('', comparable(before), comparable(after))];
  const own = all.filter(({ path }) => !/^snapshot(?:\.|$)/.test(path));
  return own.some(({ path }) => /^differential(?:\.|$)/.test(path)) ? own : all;
}

/** Its place and what is beside its content is not compared. */
function comparable({ id: _id, meta: _meta, ...rest }: Resource): JsonObject {
  return rest;
}

function* compare(path: string, before: JsonValue | undefined, after: JsonValue | undefined): Generator<Difference> {
  if (before === undefined || after === undefined) {
    yield { path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
  } else if (canonicalText(before) === canonicalText(after)) return;
  else if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (canonicalOf(before[name]) === canonicalOf(after[name])) continue;
      yield* compare(path === '' ? name : `${path}.${name}`, before[name], after[name]);
    }
  } else if (Array.isArray(before) && Array.isArray(after)) yield* compareLists(path, before, after);
  else yield { path, before, after };
}

/** Items with a key are paired by it, others by what they say; those that are left in order, where there are as many. */
function* compareLists(path: string, before: readonly JsonValue[], after: readonly JsonValue[]): Generator<Difference> {
  const key = KEYS.find((name) => isKey(name, before) && isKey(name, after));
  const nameOf = (item: JsonValue): string =>
    key === undefined ? canonicalText(item) : String((item as JsonObject)[key]);
  const old = new Map(before.map((item) => [nameOf(item), item]));
  const fresh = new Map(after.map((item) => [nameOf(item), item]));
  const gone = [...old].filter(([name]) => !fresh.has(name));
  const come = [...fresh].filter(([name]) => !old.has(name));
  const place = (item: JsonValue, list: readonly JsonValue[]): string =>
    key === undefined ? `${path}[${list.indexOf(item)}]` : `${path}[${key}=${nameOf(item)}]`;
  for (const [name, item] of old) {
    const other = fresh.get(name);
    if (other !== undefined) yield* compare(place(item, before), item, other);
  }
  if (key === undefined && gone.length === come.length) {
    for (const [i, [, item]] of gone.entries()) yield* compare(place(item, before), item, come[i]![1]);
  } else {
    for (const [, item] of gone) yield { path: place(item, before), before: item };
    for (const [, item] of come) yield { path: place(item, after), after: item };
  }
  if (gone.length + come.length === 0 && [...old.keys()].join() !== [...fresh.keys()].join())
    yield { path: `${path} (order)`, before: [...old.keys()], after: [...fresh.keys()] };
}

/** Whether each item is known by a text of this name, and none twice. */
function isKey(name: string, items: readonly JsonValue[]): boolean {
  const values = items.map((item) => (isObject(item) ? item[name] : undefined));
  return values.every((value) => typeof value === 'string') && new Set(values).size === items.length;
}

function canonicalOf(value: JsonValue | undefined): string | undefined {
  return value === undefined ? undefined : canonicalText(value);
}
