/**
 * Regular expressions whose time is linear in the length of the text, whatever the expression: all ways are followed at once, none is
 * tried again. (The expressions of JavaScript go back and try, which can take time without end.) Understood are characters, `.`, classes,
 * `\d \w \s \D \W \S`, groups, `|`, `* + ? {n} {n,} {n,m}`, lazy or not, and `^ $`; look-around and back-references are refused.
 */
export interface LinearRegex {
  /**
   * Whether the expression matches the whole text.
   *
   * @param effort what that may cost, and what is left of it afterwards
   * @throws RegexFault where it costs more
   */
  matches(text: string, effort: Effort): boolean;
}

/** Steps of automata that are allowed still: forty million take about a second. */
export interface Effort {
  left: number;
}

/** A text is no regular expression, or one that is not understood, too large, or too costly on a text. */
export class RegexFault extends Error {}

/** Limits: characters of an expression, and states of its automaton. */
const MOST = { pattern: 1000, states: 5000 };

type Test = (unit: string) => boolean;

/** What an automaton does: test a character, go two ways, or be at an end of the text. Numbers are states. */
type State =
  | { readonly is: 'char'; readonly test: Test; next: number }
  | { readonly is: 'split'; one: number; other: number }
  | { readonly is: 'begin' | 'end'; next: number }
  | { readonly is: 'match' };

/**
 * @param dot what `.` is: any character, or any but ends of lines
 * @throws RegexFault where the text is no expression, or one that is not understood, or too large
 */
export function linearRegex(pattern: string, dot: 'any' | 'in-line' = 'in-line'): LinearRegex {
  if (pattern.length > MOST.pattern) throw new RegexFault(`a regular expression may have ${MOST.pattern} characters`);
  const parser = new Parser([...pattern], dot === 'any');
  const tree = parser.parse();
  const states: State[] = [];
  const start = build(tree, add(states, { is: 'match' }), states);
  return { matches: (text, effort) => run(states, start, text, effort) };
}

type Node =
  | { readonly is: 'char'; readonly test: Test }
  | { readonly is: 'begin' | 'end' }
  | { readonly is: 'all' | 'any'; readonly of: readonly Node[] }
  | { readonly is: 'repeat'; readonly of: Node; readonly min: number; readonly max: number };

class Parser {
  private at = 0;

  constructor(
    private readonly units: readonly string[],
    private readonly isDotAny: boolean,
  ) {}

  parse(): Node {
    const node = this.alternatives();
    if (this.at < this.units.length) throw this.fault(`"${this.units[this.at]}" closes nothing`);
    return node;
  }

  private alternatives(): Node {
    const of = [this.sequence()];
    while (this.take('|')) of.push(this.sequence());
    return of.length === 1 ? of[0]! : { is: 'any', of };
  }

  private sequence(): Node {
    const of: Node[] = [];
    while (this.at < this.units.length && this.units[this.at] !== '|' && this.units[this.at] !== ')') of.push(this.repeated()); // prettier-ignore
    return { is: 'all', of };
  }

  private repeated(): Node {
    let node = this.atom();
    for (let range = this.range(); range !== undefined; range = this.range()) {
      node = { is: 'repeat', of: node, ...range };
      this.take('?');
    }
    return node;
  }

  private range(): { min: number; max: number } | undefined {
    if (this.take('*')) return { min: 0, max: Infinity };
    if (this.take('+')) return { min: 1, max: Infinity };
    if (this.take('?')) return { min: 0, max: 1 };
    const found = /^\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/.exec(this.units.slice(this.at, this.at + 12).join(''));
    if (found === null) return undefined;
    this.at += found[0].length;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === undefined ? Infinity : Number(found[3]);
    if (max < min) throw this.fault(`${found[0]} ends before it begins`);
    return { min, max };
  }

  private atom(): Node {
    const unit = this.units[this.at++]!;
    switch (unit) {
      case '(':
        return this.group();
      case '[':
        return { is: 'char', test: this.class() };
      case '.':
        return { is: 'char', test: (each) => this.isDotAny || (each !== '\n' && each !== '\r') };
      case '^':
        return { is: 'begin' };
      case '$':
        return { is: 'end' };
      case '*':
      case '+':
      case '?':
        throw this.fault(`"${unit}" repeats nothing`);
      case '\\':
        return { is: 'char', test: this.escaped() };
      default:
        return { is: 'char', test: (each) => each === unit };
    }
  }

  private group(): Node {
    if (this.take('?') && !this.take(':')) throw this.fault('look-around and named groups are not supported');
    const node = this.alternatives();
    if (!this.take(')')) throw this.fault('a group is not closed');
    return node;
  }

  private escaped(): Test {
    const unit = this.units[this.at++];
    if (unit === undefined) throw this.fault('it ends with a backslash');
    const known = CLASSES[unit];
    if (known !== undefined) return known;
    if (/[1-9bBkpPuxc]/.test(unit)) throw this.fault(`\\${unit} is not supported`);
    const literal = CONTROLS[unit] ?? unit;
    return (each) => each === literal;
  }

  private class(): Test {
    const isNot = this.take('^');
    const tests: Test[] = [];
    for (let isFirst = true; isFirst || this.units[this.at] !== ']'; isFirst = false) {
      const unit = this.units[this.at++];
      if (unit === undefined) throw this.fault('a class is not closed');
      if (unit === '\\') {
        tests.push(this.escaped());
        continue;
      }
      const until = this.units[this.at + 1];
      if (this.units[this.at] === '-' && until !== undefined && until !== ']') {
        this.at += 2;
        const last = until === '\\' ? this.units[this.at++]! : until;
        const [low, high] = [unit.codePointAt(0)!, last.codePointAt(0)!];
        if (high < low) throw this.fault(`the range ${unit}-${last} ends before it begins`);
        tests.push((each) => each.codePointAt(0)! >= low && each.codePointAt(0)! <= high);
      } else tests.push((each) => each === unit);
    }
    this.at++;
    return (each) => tests.some((test) => test(each)) !== isNot;
  }

  private take(unit: string): boolean {
    if (this.units[this.at] !== unit) return false;
    this.at++;
    return true;
  }

  private fault(why: string): RegexFault {
    return new RegexFault(`${JSON.stringify(this.units.join('').slice(0, 128))} is no regular expression: ${why}`);
  }
}

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', 0: '\0' };

const CLASSES: Readonly<Record<string, Test>> = {
  d: (unit) => /^\d$/.test(unit),
  D: (unit) => !/^\d$/.test(unit),
  w: (unit) => /^\w$/.test(unit),
  W: (unit) => !/^\w$/.test(unit),
  s: (unit) => /^\s$/.test(unit),
  S: (unit) => !/^\s$/.test(unit),
};

/** The state that a node begins with, when `next` follows it. */
function build(node: Node, next: number, states: State[]): number {
  switch (node.is) {
    case 'char':
      return add(states, { is: 'char', test: node.test, next });
    case 'begin':
    case 'end':
      return add(states, { is: node.is, next });
    case 'all':
      return node.of.reduceRight((after, each) => build(each, after, states), next);
    case 'any':
      return node.of.map((each) => build(each, next, states)).reduceRight((other, one) => add(states, { is: 'split', one, other })); // prettier-ignore
    case 'repeat': {
      let start = next;
      if (node.max === Infinity) {
        const loop: State = { is: 'split', one: next, other: next };
        start = add(states, loop);
        loop.one = build(node.of, start, states);
      } else {
        for (let i = node.min; i < node.max; i++) start = add(states, { is: 'split', one: build(node.of, start, states), other: next }); // prettier-ignore
      }
      for (let i = 0; i < node.min; i++) start = build(node.of, start, states);
      return start;
    }
  }
}

function add(states: State[], state: State): number {
  if (states.length >= MOST.states) throw new RegexFault('a regular expression repeats too much');
  return states.push(state) - 1;
}

function run(states: readonly State[], start: number, text: string, effort: Effort): boolean {
  const units = [...text];
  const marks = new Int32Array(states.length).fill(-1);
  let current: number[] = [];
  const enter = (from: number, at: number, into: number[]): void => {
    const open = [from];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (--effort.left < 0) throw new RegexFault('a regular expression takes too long on a text');
      if (marks[index] === at) continue;
      marks[index] = at;
      const state = states[index]!;
      if (state.is === 'split') open.push(state.other, state.one);
      else if (state.is === 'begin') {
        if (at === 0) open.push(state.next);
      } else if (state.is === 'end') {
        if (at === units.length) open.push(state.next);
      } else into.push(index);
    }
  };
  enter(start, 0, current);
  for (let at = 0; at < units.length && current.length > 0; at++) {
    const next: number[] = [];
    effort.left -= current.length;
    for (const index of current) {
      const state = states[index]!;
      if (state.is === 'char' && state.test(units[at]!)) enter(state.next, at + 1, next);
    }
    current = next;
  }
  return current.some((index) => states[index]!.is === 'match');
}
