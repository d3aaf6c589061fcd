import { Decimal128, Double } from 'mongodb';

import { Decimal } from '../../../fhir/decimal.js';
import { FhirError } from '../../../fhir/errors.js';
import type { JsonObject, JsonValue, Resource } from '../../../fhir/resource.js';
import { isObject } from '../../../fhir/resource.js';
import type { NumberText } from './documents.js';

/** Objects and arrays within each other: MongoDB refuses somewhat more, and puts some of its own around them. */
const MAX_DEPTH = 160;

/** Values that a store writes into the `meta` of a version. */
export interface MetaStamp {
  readonly versionId: string;
  readonly lastUpdated: string;
}

/** A resource as the driver stores it. */
export interface Storable {
  readonly resource: Map<string, unknown>;
  /** Numbers whose text BSON does not give back; absent: it does so with all of them. */
  readonly numbers?: readonly NumberText[];
}

/**
 * The native document of a version, in the order of its text. A number that a double keeps is one, and any other is a
 * Decimal128; where not even that has its text (`1e3`, forty digits), a note has it. So people find each number by its
 * value, and clients get each as it came.
 *
 * @param stamp absent: the content already has it
 * @throws FhirError `json-depth`, `json-forbidden-key`: what BSON cannot hold
 */
export function toStorable(content: Resource, stamp: MetaStamp | undefined): Storable {
  const numbers: NumberText[] = [];
  let count = 0;

  function convert(value: JsonValue, depth: number): unknown {
    switch (typeof value) {
      case 'number':
        count++;
        return value;
      case 'object':
        if (value === null) return value;
        if (value instanceof Decimal) return decimal(value.text);
        if (depth === 0)
          throw new FhirError('json-depth', `MongoDB holds objects and arrays ${MAX_DEPTH} deep at most`);
        return Array.isArray(value) ? convertArray(value, depth) : convertObject(value, depth);
      default:
        return value;
    }
  }

  function decimal(text: string): Decimal128 | Double {
    const place = count++;
    const value = nearest(text);
    if (value instanceof Double || value.toString() !== text) numbers.push([place, text]);
    return value;
  }

  /** The same array where nothing in it has to be changed. */
  function convertArray(array: readonly JsonValue[], depth: number): readonly unknown[] {
    let converted: unknown[] | undefined;
    for (const [i, value] of array.entries()) {
      const other = convert(value, depth - 1);
      if (other === value) continue;
      converted ??= [...array];
      converted[i] = other;
    }
    return converted ?? array;
  }

  /** The same object where nothing in it has to be changed. */
  function convertObject(object: JsonObject, depth: number): unknown {
    let converted: Record<string, unknown> | undefined;
    for (const name in object) {
      checkName(name);
      const value = object[name] as JsonValue;
      const other = convert(value, depth - 1);
      if (other === value) continue;
      converted ??= { ...object };
      converted[name] = other;
    }
    // By this name the driver knows its own types.
    if (Object.hasOwn(object, '_bsontype')) return new Map(Object.entries(converted ?? object));
    return converted ?? object;
  }

  function entriesOf(object: JsonObject, depth: number): [string, unknown][] {
    return Object.entries(object).map(([name, value]) => {
      checkName(name);
      return [name, convert(value, depth)];
    });
  }

  // Maps, because an object would put names like `1` in front of these.
  const { resourceType, id, meta, ...rest } = content;
  const resource = new Map<string, unknown>([['resourceType', resourceType]]);
  if (id !== undefined) resource.set('id', id);
  if (stamp !== undefined || meta !== undefined) {
    const { versionId, lastUpdated, ...others } = { ...(isObject(meta) ? meta : {}), ...stamp };
    const head = Object.entries({ versionId, lastUpdated }).filter(([, value]) => value !== undefined);
    resource.set('meta', new Map<string, unknown>([...head, ...entriesOf(others, MAX_DEPTH - 2)]));
  }
  for (const [name, value] of entriesOf(rest, MAX_DEPTH - 1)) resource.set(name, value);
  return numbers.length === 0 ? { resource } : { resource, numbers };
}

/** The value of a number, as near as BSON can hold it. */
function nearest(text: string): Decimal128 | Double {
  try {
    return Decimal128.fromStringWithRounding(text);
  } catch {
    // Its exponent is too large even for that.
    return new Double(Number(text));
  }
}

/** BSON ends names with the null character. */
function checkName(name: string): void {
  if (!name.includes('\0')) return;
  throw new FhirError('json-forbidden-key', 'A property has the null character in its name, which MongoDB cannot hold');
}
