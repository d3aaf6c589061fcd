import { Decimal } from '../fhir/decimal.js';
import type { JsonObject, JsonValue } from '../fhir/resource.js';

/**
 * A piece of a tree, as JSON: the number of the container that it is of, the names or places of the containers in it that come
 * empty, since they are too large for one piece, and some items or members. Containers are numbered in the order in which they come.
 */
export type Piece = string;

/** A tree that comes in pieces. */
export interface Assembly {
  add(piece: Piece): void;
  /** The tree, once all pieces have come. */
  readonly tree: JsonValue;
}

type Container = JsonValue[] | JsonObject;

/** Before the text of a number that no double gives back, and twice before a text that begins with it. */
const MARK = '\u0000';

/** Cuts a tree into pieces of about so many characters; only a string that is longer by itself makes a longer one. */
export function* cutTree(tree: JsonValue, size: number): Generator<Piece> {
  const large = new Map<JsonValue, number>();
  measure([tree], size, large);
  const containers: Container[] = [[tree]];
  for (const [into, container] of containers.entries()) {
    const isArray = Array.isArray(container);
    let opened: (string | number)[] = [];
    let some: Container = isArray ? [] : {};
    let length = 0;
    for (const name in container) {
      const value = (container as JsonObject)[name]!;
      const isLarge = large.has(value);
      if (isLarge) {
        opened.push(isArray ? (some as JsonValue[]).length : name);
        containers.push(value as Container);
      }
      const sent = isLarge ? (Array.isArray(value) ? [] : {}) : value;
      if (Array.isArray(some)) some.push(sent);
      else some[name] = sent;
      length += name.length + 1 + (isLarge ? 0 : measure(value, size, large));
      if (length < size) continue;
      yield pack([into, opened, some]);
      [opened, some, length] = [[], isArray ? [] : {}, 0];
    }
    if (length > 0) yield pack([into, opened, some]);
  }
}

/** Begins to put a tree together that `cutTree` has cut. */
export function assemble(): Assembly {
  const containers: Container[] = [[]];
  return {
    add(piece) {
      const [into, opened, some] = JSON.parse(piece) as Unpacked;
      if (piece.includes('"\\u0000')) unmark(some);
      const container = containers[into];
      if (Array.isArray(container)) for (const item of some as JsonValue[]) container.push(item);
      else if (container !== undefined) Object.assign(container, some);
      for (const name of opened) containers.push((some as JsonObject)[name] as Container);
    },
    get tree() {
      const [tree] = containers[0] as JsonValue[];
      if (tree === undefined) throw new Error('a tree without a root');
      return tree;
    },
  };
}

type Unpacked = readonly [into: number, opened: readonly (string | number)[], some: Container];

function pack(some: Unpacked): Piece {
  return JSON.stringify(some, (_name, value: JsonValue) => {
    if (value instanceof Decimal) return MARK + value.text;
    return typeof value === 'string' && value.startsWith(MARK) ? MARK + MARK + value : value;
  });
}

/** Puts marked values right, in place: a reviver of `JSON.parse` takes several times as long. */
function unmark(some: Container): void {
  for (const name in some) {
    const value = (some as JsonObject)[name]!;
    if (typeof value === 'object' && value !== null) unmark(value as Container);
    else if (typeof value === 'string' && value.startsWith(MARK)) {
      (some as JsonObject)[name] = value.startsWith(MARK + MARK) ? value.slice(2) : new Decimal(value.slice(1));
    }
  }
}

/** About how many characters the text of a value has, quotes and commas included; notes down the containers that are larger than a piece. */
function measure(value: JsonValue, size: number, large: Map<JsonValue, number>): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null || value instanceof Decimal) return 8;
  const known = large.get(value);
  if (known !== undefined) return known;
  let length = 3;
  if (Array.isArray(value)) for (const item of value) length += measure(item, size, large);
  else for (const name in value) length += name.length + 4 + measure(value[name]!, size, large);
  if (length > size) large.set(value, length);
  return length;
}
