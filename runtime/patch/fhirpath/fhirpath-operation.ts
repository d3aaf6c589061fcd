import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import { clip } from '../../fhir/quote.js';
import { MAX_SHOWN, PathFault } from '../../path/expression/path-fault.js';

/** One operation of a patch, its parts by name. https://hl7.org/fhir/R5/fhirpatch.html#format */
export interface Operation {
  readonly type: OperationType;
  readonly path: string;
  /** Name of what is added; for `add`. */
  readonly name?: string;
  /** The part that holds the value; for `add`, `insert`, `replace`. */
  readonly value?: JsonObject;
  /** Positions, from 0. */
  readonly index?: number;
  readonly source?: number;
  readonly destination?: number;
}

/** Parts that each type of operation needs besides `type` and `path`. */
export const NEEDS = {
  add: ['name', 'value'],
  insert: ['index', 'value'],
  delete: [],
  replace: ['value'],
  move: ['source', 'destination'],
} as const;

/** Type of an operation: `add`, `insert` and so on. */
export type OperationType = keyof typeof NEEDS;

/** How each part is read. `previousValue` is what a comparison of versions tells besides; it is of no effect. */
const READERS = {
  type: text,
  path: text,
  name: text,
  value: (part: JsonObject) => part,
  index: position,
  source: position,
  destination: position,
  previousValue: () => undefined,
} as const;

/**
 * Reads an operation from its parameter.
 *
 * @throws PathFault for what is missing, twice there, of a wrong type or not known
 */
export function readOperation(parameter: JsonValue): Operation {
  if (!isObject(parameter) || parameter['name'] !== 'operation') {
    throw malformed('each parameter of a patch is named "operation"');
  }
  const parts = parameter['part'];
  if (!Array.isArray(parts)) throw malformed('an operation has parts');
  const read: Record<string, unknown> = {};
  for (const part of parts) {
    const name = isObject(part) ? part['name'] : undefined;
    if (!isObject(part) || typeof name !== 'string' || !Object.hasOwn(READERS, name)) {
      const known = `there are ${Object.keys(READERS).join(', ')}`;
      if (typeof name !== 'string') throw malformed(`a part has no name; ${known}`);
      throw malformed(`there is no part ${clip(name, MAX_SHOWN)}; ${known}`, name);
    }
    if (Object.hasOwn(read, name)) throw malformed(`the part ${name} is there twice`, name);
    read[name] = READERS[name as keyof typeof READERS](part, name);
  }
  const type = read['type'];
  if (typeof type !== 'string' || !Object.hasOwn(NEEDS, type)) {
    throw malformed(`the type is one of ${Object.keys(NEEDS).join(', ')}`, 'type');
  }
  for (const need of ['path', ...NEEDS[type as OperationType]]) {
    if (read[need] === undefined) throw malformed(`${type} needs the part ${need}`);
  }
  return read as unknown as Operation;
}

/** A text, whatever primitive type is said to have it. */
function text(part: JsonObject, name: string): string {
  const value = valueOf(part);
  if (typeof value !== 'string') throw malformed(`the part ${name} has to be a string`, name);
  return value;
}

function position(part: JsonObject, name: string): number {
  const value = valueOf(part);
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw malformed(`the part ${name} has to be an integer from 0 on`, name);
  }
  return value;
}

function valueOf(part: JsonObject): JsonValue | undefined {
  const key = Object.keys(part).find((each) => each.startsWith('value'));
  return key === undefined ? undefined : part[key];
}

function malformed(message: string, part?: string): PathFault {
  return new PathFault(message, part, 'patch-invalid');
}
