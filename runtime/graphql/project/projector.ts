import { readReference } from '../../path/reference-text.js';
import type { Member, Projection, ReferenceWay, Slot } from './projection.js';
import type { FoundName } from './member-finder.js';
import { CHAR, endOfName, nextStart, skipValue } from './scan-json.js';

/** What was copied of a resource. */
export interface Projected {
  readonly type: string;
  readonly id: string;
  /** The members of the object of the answer as JSON text; with gaps, those before, between and behind them. */
  readonly segments: readonly string[];
  /** How many values they have. */
  readonly values: number;
  /** The texts of the references that were asked for. */
  readonly references: readonly string[];
}

/**
 * Copies what a query selects from the JSON text of stored resources, without making values of it: so numbers keep their digits. What
 * is asked for as it is stored, in the same order, is copied in one piece.
 */
export class Projector {
  #text = '';
  #values = 0;
  #references: string[] | undefined;
  /** Where the member of each slot begins and ends, and its text where that is not the one of the resource; a stack of objects. */
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #members: (Member | undefined)[] = [];
  readonly #texts: (string | undefined)[] = [];
  #top = 0;
  /** The text of what was read last, where that is not the one of the resource. */
  #changed: string | undefined;

  constructor(private readonly projection: Projection) {}

  /** @returns undefined where the text is none that could be copied from: its values have to be looked at */
  project(text: string, type: string, id: string): Projected | undefined {
    this.#text = text;
    this.#values = 0;
    this.#references = undefined;
    this.#top = this.projection.slots.length;
    if (text.charCodeAt(0) !== CHAR.openObject) return undefined;
    const end = this.#scanMembers(0, this.projection, 0);
    if (end !== text.length) return undefined;
    return {
      type,
      id,
      segments: this.#join(0, this.projection),
      values: this.#values,
      references: this.#references ?? NONE,
    };
  }

  /** Reads an object. @returns the position behind it, or -1; `#changed` has its text in the answer */
  #object(at: number, projection: Projection): number {
    const base = this.#top;
    this.#top += projection.slots.length;
    const end = this.#scanMembers(at, projection, base);
    if (end > 0) {
      this.#changed = this.#isSame ? undefined : `{${this.#join(base, projection).join('')}}`;
    }
    this.#top = base;
    return end;
  }

  /** Whether the members that were read last are in the answer as they are in the resource. */
  #isSame = true;

  /** Notes where the members of an object are. */
  #scanMembers(start: number, { finder, slots }: Projection, base: number): number {
    const text = this.#text;
    let isSame = true;
    for (let slot = base; slot < base + slots.length; slot++) {
      this.#starts[slot] = -1;
      if (slots[slot - base]!.is !== 'member') isSame = false;
    }
    let last = -1;
    let at = start + 1;
    let found: FoundName<Member> | undefined;
    while (text.charCodeAt(at) !== CHAR.closeObject) {
      found = finder.find(text, at, found);
      if (found === undefined) return -1;
      const { member } = found;
      const valueAt = at + found.head.length;
      let end: number;
      if (member === undefined || member.slot < 0) {
        end = skipValue(text, valueAt);
        isSame = false;
      } else {
        const slot = base + member.slot;
        if (this.#starts[slot] !== -1) return -1;
        end = this.#member(valueAt, member);
        if (end === ABSENT) {
          end = skipValue(text, valueAt);
          isSame = false;
        } else {
          const changed = this.#changed;
          this.#starts[slot] = at;
          this.#ends[slot] = end;
          this.#members[slot] = member;
          this.#texts[slot] = changed;
          if (changed !== undefined || member.isRenamed || member.slot < last) isSame = false;
          last = member.slot;
        }
      }
      if (end < 0) return -1;
      if (member?.ways !== undefined && !this.#followAll(valueAt, member.ways)) return -1;
      at = nextStart(text, end, CHAR.closeObject);
      if (at < 0) return -1;
    }
    this.#isSame = isSame;
    return at + 1;
  }

  /** Reads the value of a member that the answer has. @returns the position behind it, -1, or `ABSENT` */
  #member(at: number, { below, isList }: Member): number {
    const text = this.#text;
    const first = text.charCodeAt(at);
    this.#changed = undefined;
    if (below === undefined) {
      if (first === CHAR.null) return ABSENT;
      this.#values++;
      return skipValue(text, at);
    }
    if (isList) return first === CHAR.openList ? this.#list(at, below) : -1;
    if (first !== CHAR.openObject) return -1;
    this.#values++;
    return this.#object(at, below);
  }

  #list(start: number, below: Projection): number {
    const text = this.#text;
    if (text.charCodeAt(start + 1) === CHAR.closeList) return ABSENT;
    /** The text of the items up to here, where that is not the one of the resource. */
    let list: string | undefined;
    let at = start + 1;
    while (text.charCodeAt(at) !== CHAR.closeList) {
      let end: number;
      this.#values++;
      this.#changed = undefined;
      // The place of a primitive value that has no extensions.
      const first = text.charCodeAt(at);
      if (first === CHAR.null) end = skipValue(text, at);
      else if (first === CHAR.openObject) end = this.#object(at, below);
      else return -1;
      if (end < 0) return -1;
      const changed = this.#changed as string | undefined;
      if (list === undefined && changed !== undefined) list = text.slice(start, at) + changed;
      else if (list !== undefined) list = `${list},${changed ?? text.slice(at, end)}`;
      at = nextStart(text, end, CHAR.closeList);
      if (at < 0) return -1;
    }
    this.#changed = list && `${list}]`;
    return at + 1;
  }

  /** The text of the members of an object, from one gap to the next. Members that follow one another are one piece. */
  #join(base: number, { slots }: Projection): string[] {
    const text = this.#text;
    let before: string[] | undefined;
    let joined = '';
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!;
      let piece: string;
      if (slot.is === 'gap') {
        if (before === undefined) before = [joined];
        else before.push(joined);
        joined = '';
        continue;
      } else if (slot.is === 'constant') piece = slot.text;
      else {
        const start = this.#starts[base + i]!;
        if (start < 0) continue;
        let end = this.#ends[base + i]!;
        const changed = this.#texts[base + i];
        const { isRenamed, name, head } = this.#members[base + i]!;
        if (changed !== undefined) piece = head + changed;
        else if (isRenamed) piece = head + text.slice(start + name.length + 3, end);
        else {
          while (this.#follows(base + i + 1, end, slots[i + 1])) end = this.#ends[base + ++i]!;
          piece = text.slice(start, end);
        }
      }
      joined = joined === '' ? piece : `${joined},${piece}`;
    }
    return before === undefined ? [joined] : [...before, joined];
  }

  /** Whether a member is in the resource behind the one that ends here, and goes into the answer as it is. */
  #follows(at: number, end: number, slot: Slot | undefined): boolean {
    if (slot?.is !== 'member' || this.#starts[at] !== end + 1 || this.#texts[at] !== undefined) return false;
    return !this.#members[at]!.isRenamed;
  }

  #followAll(at: number, ways: readonly ReferenceWay[]): boolean {
    for (const way of ways) if (!this.#follow(at, way, 0)) return false;
    return true;
  }

  /** Collects the references at the end of a way from a value. @returns whether the text is as it should be */
  #follow(at: number, way: ReferenceWay, step: number): boolean {
    const text = this.#text;
    const first = text.charCodeAt(at);
    const isEnd = step === way.names.length;
    if (first === CHAR.openList) {
      for (let item = at + 1; text.charCodeAt(item) !== CHAR.closeList;) {
        if (!this.#follow(item, way, step)) return false;
        const end = skipValue(text, item);
        item = end < 0 ? -1 : nextStart(text, end, CHAR.closeList);
        if (item < 0) return false;
      }
      return true;
    }
    if (first === CHAR.quote) {
      const end = skipValue(text, at);
      if (end < 0) return false;
      if (!isEnd) return true;
      const plain = text.slice(at + 1, end - 1);
      const found = plain.includes('\\') ? (JSON.parse(`"${plain}"`) as string) : plain;
      if (way.type !== undefined && readReference(found)?.type !== way.type) return true;
      if (this.#references === undefined) this.#references = [found];
      else this.#references.push(found);
      return true;
    }
    if (first !== CHAR.openObject) return true;
    // A CodeableReference holds the reference in a member of the same name.
    const wanted = isEnd ? 'reference' : way.names[step]!;
    for (let name = at + 1; text.charCodeAt(name) !== CHAR.closeObject;) {
      const nameEnd = endOfName(text, name);
      if (nameEnd < 0) return false;
      const isWanted = nameEnd - name - 1 === wanted.length && text.startsWith(wanted, name + 1);
      if (isWanted && !this.#follow(nameEnd + 2, way, isEnd ? step : step + 1)) return false;
      const end = skipValue(text, nameEnd + 2);
      name = end < 0 ? -1 : nextStart(text, end, CHAR.closeObject);
      if (name < 0) return false;
    }
    return true;
  }
}

const NONE: readonly string[] = [];

/** The answer has nothing of a value. */
const ABSENT = -2;
