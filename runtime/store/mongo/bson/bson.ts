import { Decimal128, Double } from 'mongodb';

/** Types of BSON that our documents hold, and answers of the server around them. https://bsonspec.org/spec.html */
export const TYPE = {
  double: 0x01,
  string: 0x02,
  document: 0x03,
  array: 0x04,
  boolean: 0x08,
  date: 0x09,
  null: 0x0a,
  int32: 0x10,
  timestamp: 0x11,
  int64: 0x12,
  decimal128: 0x13,
} as const;

/** Where a value of a document is. */
export interface Field {
  readonly type: number;
  readonly at: number;
}

/** A document as the driver gives it when it is asked for bytes. */
export type Raw = Buffer;

/** @returns where the value of a name begins: after the zero byte */
export function skipName(bytes: Buffer, at: number): number {
  while (bytes[at] !== 0) at++;
  return at + 1;
}

/** The fields of a document on its first level. */
export function fieldsOf(bytes: Raw): Map<string, Field> {
  const fields = new Map<string, Field>();
  forMembers(bytes, 0, (from, end, value) => fields.set(bytes.toString('utf8', from, end), value));
  return fields;
}

/** The `_id` of a document. */
export function idOf(bytes: Raw): string {
  // The server puts it first.
  const isFirst = bytes.length > 8 && bytes[5] === 0x5f && bytes[6] === 0x69 && bytes[7] === 0x64 && bytes[8] === 0;
  const field = isFirst ? { type: bytes[4]!, at: 9 } : fieldsOf(bytes).get('_id');
  if (field === undefined) throw new Error('a document has no "_id"');
  return readValue(bytes, field) as string;
}

/** Bytes of a value. */
function sizeOf(bytes: Buffer, type: number, at: number): number {
  switch (type) {
    case TYPE.null:
      return 0;
    case TYPE.boolean:
      return 1;
    case TYPE.int32:
      return 4;
    case TYPE.double:
    case TYPE.date:
    case TYPE.timestamp:
    case TYPE.int64:
      return 8;
    case TYPE.decimal128:
      return 16;
    case TYPE.string:
      return 4 + bytes.readInt32LE(at);
    case TYPE.document:
    case TYPE.array:
      return bytes.readInt32LE(at);
    default:
      throw foreign(type);
  }
}

/**
 * A value as the driver writes it back with the same bytes: objects as Maps, because an object puts names like `1` in
 * front, and doubles as such, because the driver makes an integer of `5`.
 */
export function readValue(bytes: Buffer, { type, at }: Field): unknown {
  switch (type) {
    case TYPE.string:
      return bytes.toString('utf8', at + 4, at + 3 + bytes.readInt32LE(at));
    case TYPE.document: {
      const members = new Map<string, unknown>();
      forMembers(bytes, at, (from, end, value) =>
        members.set(bytes.toString('utf8', from, end), readValue(bytes, value)),
      );
      return members;
    }
    case TYPE.array: {
      const elements: unknown[] = [];
      forMembers(bytes, at, (_from, _end, value) => elements.push(readValue(bytes, value)));
      return elements;
    }
    case TYPE.int32:
      return bytes.readInt32LE(at);
    case TYPE.double:
      return new Double(bytes.readDoubleLE(at));
    case TYPE.decimal128:
      // Copied: the bytes belong to an answer that should not live as long.
      return new Decimal128(Uint8Array.from(bytes.subarray(at, at + 16)));
    case TYPE.boolean:
      return bytes[at] !== 0;
    case TYPE.date:
      return new Date(Number(bytes.readBigInt64LE(at)));
    case TYPE.null:
      return null;
    case TYPE.int64:
      return bytes.readBigInt64LE(at);
    default:
      throw foreign(type);
  }
}

/** Calls back with where the name of each member begins and ends, and its value. */
function forMembers(bytes: Buffer, start: number, each: (from: number, end: number, value: Field) => void): void {
  const end = start + bytes.readInt32LE(start) - 1;
  for (let from = start + 4; from < end;) {
    const type = bytes[from]!;
    const at = skipName(bytes, from + 1);
    each(from + 1, at - 1, { type, at });
    from = at + sizeOf(bytes, type, at);
  }
}

function foreign(type: number): Error {
  return new Error(`a document holds the BSON type ${type}, which no resource has; was it edited by hand?`);
}
