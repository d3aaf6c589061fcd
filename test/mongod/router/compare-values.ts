import { Binary, BSON, Decimal128, Long, ObjectId, Timestamp, type Document } from 'mongodb';

/** Types in the order of BSON. https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/ */
function rankOf(value: unknown): number {
  if (value === undefined || value === null) return 2;
  if (typeof value === 'string') return 4;
  if (typeof value === 'boolean') return 9;
  if (value instanceof Date) return 10;
  if (Array.isArray(value)) return 6;
  const { _bsontype: type } = value as { _bsontype?: string };
  switch (type) {
    case 'MinKey':
      return 1;
    case 'Binary':
      return 7;
    case 'ObjectId':
      return 8;
    case 'Timestamp':
      return 11;
    case 'BSONRegExp':
      return 12;
    case 'MaxKey':
      return 13;
    case undefined:
      return typeof value === 'number' || typeof value === 'bigint' ? 3 : 5;
    default:
      return 3;
  }
}

/** Compares two values as the server sorts them, without a collation. */
export function compareValues(a: unknown, b: unknown): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  if (typeof a === 'boolean') return Number(a) - Number(b);
  if (a instanceof Date) return a.getTime() - (b as Date).getTime();
  if (a instanceof Binary) return Buffer.compare(a.buffer, (b as Binary).buffer);
  if (a instanceof ObjectId) return Buffer.compare(a.id, (b as ObjectId).id);
  if (a instanceof Timestamp) return compareTimes(a, b as Timestamp);
  if (rankOf(a) === 3) return compareNumbers(a, b);
  if (Array.isArray(a) || rankOf(a) === 5) return compareDocuments(a as Document, b as Document);
  return 0;
}

function compareNumbers(a: unknown, b: unknown): number {
  if (a instanceof Long && b instanceof Long) return a.compare(b);
  const [x, y] = [a, b].map((each) => Number(each instanceof Decimal128 ? each.toString() : each)) as [number, number];
  return x < y ? -1 : x > y ? 1 : 0;
}

function compareDocuments(a: Document, b: Document): number {
  const [left, right] = [Object.entries(a), Object.entries(b)];
  for (const [i, [name, value]] of left.entries()) {
    const [otherName, other] = right[i] ?? [];
    if (otherName === undefined) return 1;
    const order = rankOf(value) - rankOf(other) || compareValues(name, otherName) || compareValues(value, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Compares two moments of a cluster. */
export function compareTimes(a: Timestamp, b: Timestamp): number {
  return a.compare(b);
}

/** The later of two moments. */
export function laterOf(a: Timestamp | undefined, b: Timestamp | undefined): Timestamp | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareTimes(a, b) < 0 ? b : a;
}

/** The bytes of a value: the same for two that are equal, where both have one type. */
export function bytesOf(value: unknown): Uint8Array {
  return BSON.serialize({ value });
}
