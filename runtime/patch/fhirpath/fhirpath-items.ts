import type { JsonObject, JsonValue } from '../../fhir/resource.js';
import { isObject } from '../../fhir/resource.js';

/**
 * One value of an element. A primitive has its id and extensions in `twin` (in JSON under the name with a `_`), and
 * then perhaps no value. https://hl7.org/fhir/R5/json.html#primitive
 */
export interface PatchItem {
  readonly value?: JsonValue;
  readonly twin?: JsonObject;
}

/** The values under a JSON name, and under the same name with a `_`. */
export function readItems(holder: JsonObject, key: string): readonly PatchItem[] {
  const values = own(holder, key);
  const twins = own(holder, `_${key}`);
  if (!Array.isArray(values) && !Array.isArray(twins)) {
    return values === undefined && twins === undefined ? [] : [itemOf(values, twins)];
  }
  return Array.from({ length: countItems(holder, key) }, (_, i) => itemOf(at(values, i), at(twins, i)));
}

/** One of the values; undefined where there are not so many. */
export function readItem(holder: JsonObject, key: string, index: number): PatchItem | undefined {
  if (index >= countItems(holder, key)) return undefined;
  return itemOf(at(own(holder, key), index), at(own(holder, `_${key}`), index));
}

/** How many values there are. */
export function countItems(holder: JsonObject, key: string): number {
  return Math.max(lengthOf(own(holder, key)), lengthOf(own(holder, `_${key}`)));
}

/**
 * Returns a copy of the object with `count` of its values removed from a position on, and others put in their place.
 */
export function spliceItems(
  holder: JsonObject,
  key: string,
  list: boolean,
  index: number,
  count: number,
  ...fresh: readonly PatchItem[]
): JsonObject {
  const values = own(holder, key);
  const twins = own(holder, `_${key}`);
  if (!list || (!Array.isArray(values) && !Array.isArray(twins))) {
    return writeItems(holder, key, spliced(readItems(holder, key), index, count, fresh), list);
  }
  const length = countItems(holder, key);
  const isPlain = twins === undefined && fresh.every(({ twin }) => twin === undefined);
  return replaceLists(
    holder,
    key,
    spliced(
      filled(values, length),
      index,
      count,
      fresh.map(({ value }) => value ?? null),
    ),
    isPlain
      ? []
      : spliced(
          filled(twins, length),
          index,
          count,
          fresh.map(({ twin }) => twin ?? null),
        ),
  );
}

/** A copy of a list with other items in the place of some. */
function spliced<T>(items: readonly T[], index: number, count: number, fresh: readonly T[]): T[] {
  return [...items.slice(0, index), ...fresh, ...items.slice(index + count)];
}

/** As many as there are of the values and of what goes with them, with `null` for those that are not there. */
function filled(list: JsonValue | undefined, length: number): readonly JsonValue[] {
  return Array.isArray(list) && list.length === length
    ? list
    : Array.from({ length }, (_, i) => (Array.isArray(list) ? (list[i] ?? null) : null));
}

function replaceLists(
  holder: JsonObject,
  key: string,
  values: readonly JsonValue[],
  twins: readonly JsonValue[],
): JsonObject {
  const lists = [[key, values] as const, [`_${key}`, twins] as const];
  const entries = lists.filter(([, list]) => list.some((each) => each !== null));
  return replaceKeys(holder, [key], entries as [string, JsonValue][]);
}

/**
 * Returns a copy of the object with these values under a JSON name, at the position that the name had before. In arrays
 * `null` means an absent item. An array without any other item is left out.
 */
export function writeItems(holder: JsonObject, key: string, items: readonly PatchItem[], list: boolean): JsonObject {
  const values = items.map(({ value }) => value ?? null);
  const twins = items.map(({ twin }) => twin ?? null);
  const entries: [string, JsonValue][] = [];
  if (values.some((value) => value !== null)) entries.push([key, list ? values : (values[0] ?? null)]);
  if (twins.some((twin) => twin !== null)) entries.push([`_${key}`, list ? twins : (twins[0] ?? null)]);
  return replaceKeys(holder, [key], entries);
}

/**
 * Returns a copy of the object with other properties in the place of some. Each name also means the one with a `_`
 * before it.
 */
export function replaceKeys(
  holder: JsonObject,
  names: readonly string[],
  entries: readonly (readonly [string, JsonValue])[],
): JsonObject {
  const result: JsonObject = {};
  let written = false;
  const write = (): void => {
    if (!written) for (const [name, value] of entries) result[name] = value;
    written = true;
  };
  for (const name of Object.keys(holder)) {
    if (names.some((each) => name === each || name === `_${each}`)) write();
    else result[name] = holder[name] ?? null;
  }
  write();
  return result;
}

function own(holder: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(holder, key) ? holder[key] : undefined;
}

function itemOf(value: JsonValue | undefined, twin: JsonValue | undefined): PatchItem {
  return { ...(value === undefined || value === null ? {} : { value }), ...(isObject(twin) ? { twin } : {}) };
}

function lengthOf(value: JsonValue | undefined): number {
  return Array.isArray(value) ? value.length : value === undefined ? 0 : 1;
}

function at(value: JsonValue | undefined, index: number): JsonValue | undefined {
  return Array.isArray(value) ? value[index] : index === 0 ? value : undefined;
}
