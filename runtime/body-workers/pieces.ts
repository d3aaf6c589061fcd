import { Decimal } from '../fhir/decimal.js';
import type { JsonObject, JsonValue } from '../fhir/resource.js';
import { writeJson } from '../format/write-json.js';

/** One step of putting a tree together; containers are numbered in the order in which they are opened, from 0. */
export type Step =
  /** An array or object that is too large for one piece; the first is the tree itself. */
  | { readonly open: 'array' | 'object'; readonly into?: number; readonly name?: string }
  /** `[members or items, numbers whose text counts]` as JSON; the latter as `[name or place, …, text]`. */
  | { readonly into: number; readonly text: string };

/** Some steps, together about as large as they may be. */
export type Piece = readonly Step[];

/** Cuts a tree into pieces of so many characters; only a string that is longer by itself makes a longer one. */
export function* cutTree(tree: JsonValue, size: number): Generator<Piece> {
  const cutter = new Cutter(size);
  let piece: Step[] = [];
  let length = 0;
  for (const step of cutter.steps(tree)) {
    piece.push(step);
    length += 'text' in step ? step.text.length : OVERHEAD;
    if (length < size) continue;
    yield piece;
    piece = [];
    length = 0;
  }
  if (piece.length > 0) yield piece;
}

/** Characters that a step counts beside its text. */
const OVERHEAD = 64;

/** Longest values: characters of their text, quotes and commas included. */
class Cutter {
  /** Those of containers that are larger than a piece. */
  private readonly large = new Map<JsonValue, number>();
  private opened = 0;

  constructor(private readonly size: number) {}

  *steps(tree: JsonValue): Generator<Step> {
    this.measure(tree);
    // The tree is opened in any case; a value that is no tree is in an array of its own.
    if (isContainer(tree)) yield* this.open(tree);
    else yield* this.open([tree]);
  }

  private *open(container: JsonValue[] | JsonObject, at: { into?: number; name?: string } = {}): Generator<Step> {
    const into = this.opened++;
    if (Array.isArray(container)) {
      yield { open: 'array', ...at };
      yield* this.items(container, into);
    } else {
      yield { open: 'object', ...at };
      yield* this.members(container, into);
    }
  }

  private *items(array: JsonValue[], into: number): Generator<Step> {
    let from = 0;
    let length = 0;
    for (const [i, item] of array.entries()) {
      const isLarge = isContainer(item) && this.large.has(item);
      if (from < i && (isLarge || length >= this.size)) {
        yield { into, text: pack(array.slice(from, i)) };
        from = i;
        length = 0;
      }
      if (isLarge) {
        yield* this.open(item, { into });
        from = i + 1;
      } else length += this.measure(item);
    }
    if (from < array.length) yield { into, text: pack(array.slice(from)) };
  }

  private *members(object: JsonObject, into: number): Generator<Step> {
    let some: JsonObject = {};
    let length = 0;
    for (const name in object) {
      const value = object[name] as JsonValue;
      const isLarge = isContainer(value) && this.large.has(value);
      if (length > 0 && (isLarge || length >= this.size)) {
        yield { into, text: pack(some) };
        some = {};
        length = 0;
      }
      if (isLarge) yield* this.open(value, { into, name });
      else {
        some[name] = value;
        length += name.length + this.measure(value);
      }
    }
    if (length > 0) yield { into, text: pack(some) };
  }

  /** About how many characters the text of a value has. */
  private measure(value: JsonValue): number {
    if (typeof value === 'string') return value.length + 3;
    if (!isContainer(value)) return 8;
    const known = this.large.get(value);
    if (known !== undefined) return known;
    let length = 3;
    if (Array.isArray(value)) for (const item of value) length += this.measure(item);
    else for (const name in value) length += name.length + 4 + this.measure(value[name] as JsonValue);
    if (length > this.size) this.large.set(value, length);
    return length;
  }
}

/** Whether a value has others in it. */
export function isContainer(value: JsonValue): value is JsonValue[] | JsonObject {
  return typeof value === 'object' && value !== null && !(value instanceof Decimal);
}

function pack(some: JsonValue[] | JsonObject): string {
  const decimals: JsonValue[] = [];
  collect(some, [], decimals);
  return writeJson([some, decimals]);
}

/** Numbers come back as doubles; of those that no double gives back, place and text are sent beside. */
function collect(value: JsonValue, path: (string | number)[], out: JsonValue[]): void {
  if (value instanceof Decimal) out.push([...path, value.text]);
  else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      path.push(i);
      collect(value[i] as JsonValue, path, out);
      path.pop();
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const name in value) {
      path.push(name);
      collect(value[name] as JsonValue, path, out);
      path.pop();
    }
  }
}
