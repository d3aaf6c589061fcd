import { endOfName } from './scan-json.js';

/** A name of objects of one kind. */
export interface FoundName<Member> {
  /** The name in quotes, and a colon. */
  readonly head: string;
  /** Absent: it is not looked at. */
  readonly member: Member | undefined;
  /** What came behind it last. */
  next: FoundName<Member> | undefined;
}

/** Names that are remembered; no type has as many, but what is stored need not be valid. */
const MOST = 1000;

/** Finds members by their names. Most objects of a kind have the same ones in the same order, so that is tried first. */
export class MemberFinder<Member> {
  readonly #found = new Map<string, FoundName<Member>>();
  #first: FoundName<Member> | undefined;

  constructor(private readonly members: ReadonlyMap<string, Member>) {}

  /**
   * The member that begins at a position.
   *
   * @param before the one before it in the object
   * @returns undefined where none begins there
   */
  find(text: string, at: number, before: FoundName<Member> | undefined): FoundName<Member> | undefined {
    const guess = before === undefined ? this.#first : before.next;
    if (guess !== undefined && text.startsWith(guess.head, at)) return guess;
    const end = endOfName(text, at);
    if (end < 0) return undefined;
    const name = text.slice(at + 1, end);
    let found = this.#found.get(name);
    if (found === undefined) {
      found = { head: `"${name}":`, member: this.members.get(name), next: undefined };
      if (this.#found.size < MOST) this.#found.set(name, found);
    }
    if (before === undefined) this.#first = found;
    else before.next = found;
    return found;
  }
}
