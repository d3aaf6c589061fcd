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

/** What it costs to read a character of an expression and to make a state, in steps of an automaton. */
const BUILD_STEPS = 10;

type Test = (unit: string) => boolean;

/** What an automaton does: test a character, go two ways, or be at an end of the text. Numbers are states. */
type State =
  | { readonly is: 'char'; readonly test: Test; next: number }
  | { readonly is: 'split'; one: number; other: number }
  | { readonly is: 'begin' | 'end'; next: number }
  | { readonly is: 'match' };

/**
 * Reads a regular expression and builds its automaton.
 *
 * @param effort what that may cost, and what is left of it afterwards
 * @param dot what `.` is: any character, or any but ends of lines
 * @throws RegexFault where the text is no expression, or one that is not understood, too large, or costs more
 */
export function linearRegex(pattern: string, effort: Effort, dot: 'any' | 'in-line' = 'in-line'): LinearRegex {
  if (pattern.length > MOST.pattern) throw new RegexFault(`a regular expression may have ${MOST.pattern} characters`);
  spend(effort, pattern.length * BUILD_STEPS);
  const tree = new Parser([...pattern], dot === 'any').parse();
  // Before a state is made: each counted repetition multiplies what is in it.
  const size = 1 + sizeOf(tree);
  if (size > MOST.states) {
    const text = `a regular expression may have ${MOST.states} states, and this one has ${size > 1e9 ? 'more than a billion' : size}: {n} and {n,m} multiply what they repeat`;
    throw new RegexFault(text);
  }
  spend(effort, size * BUILD_STEPS);
  const states: State[] = [];
  const start = build(tree, add(states, { is: 'match' }), states);
  return { matches: (text, left) => run(states, start, text, left) };
}

/** @throws RegexFault where more is spent than is left */
function spend(effort: Effort, steps: number): void {
  effort.left -= steps;
  if (effort.left < 0) throw new RegexFault('regular expressions take too long');
}

type Node =
  | { readonly is: 'char'; readonly test: Test }
  | { readonly is: 'begin' | 'end' }
  | { readonly is: 'all' | 'any'; readonly of: readonly Node[] }
  | { readonly is: 'repeat'; readonly of: Node; readonly min: number; readonly max: number };

/** What matches the empty text alone, and takes no state. */
const EMPTY: Node = { is: 'all', of: [] };

/** One after the other. What is empty is left out, so that nothing empty is ever repeated. */
function sequenceOf(nodes: readonly Node[]): Node {
  const of = nodes.filter((each) => each !== EMPTY);
  return of.length === 0 ? EMPTY : of.length === 1 ? of[0]! : { is: 'all', of };
}

function repeated(of: Node, { min, max }: { readonly min: number; readonly max: number }): Node {
  if (of === EMPTY || max === 0) return EMPTY;
  return min === 1 && max === 1 ? of : { is: 'repeat', of, min, max };
}

/** States that a node takes; `build` makes as many. */
function sizeOf(node: Node): number {
  switch (node.is) {
    case 'char':
    case 'begin':
    case 'end':
      return 1;
    case 'all':
      return sumOf(node.of);
    case 'any':
      return sumOf(node.of) + node.of.length - 1;
    case 'repeat': {
      const { of, min, max } = node;
      const optional = max === Infinity ? 1 : max - min;
      return sizeOf(of) * (min + optional) + optional;
    }
  }
}

function sumOf(nodes: readonly Node[]): number {
  return nodes.reduce((sum, each) => sum + sizeOf(each), 0);
}

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
    return sequenceOf(of);
  }

  private repeated(): Node {
    let node = this.atom();
    for (let range = this.range(); range !== undefined; range = this.range()) {
      node = repeated(node, range);
      this.take('?');
    }
    return node;
  }

  private range(): { min: number; max: number } | undefined {
    if (this.take('*')) return { min: 0, max: Infinity };
    if (this.take('+')) return { min: 1, max: Infinity };
    if (this.take('?')) return { min: 0, max: 1 };
    if (this.units[this.at] !== '{') return undefined;
    const found = /^\{(\d+)(?:(,)(\d+)?)?\}/.exec(this.units.slice(this.at).join(''));
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
        return { is: 'char', test: testOf(this.escaped()) };
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

  private escaped(): readonly Range[] {
    const unit = this.units[this.at++];
    if (unit === undefined) throw this.fault('it ends with a backslash');
    const known = CLASSES[unit];
    if (known !== undefined) return known;
    if (/[1-9bBkpPuxc]/.test(unit)) throw this.fault(`\\${unit} is not supported`);
    return [only(CONTROLS[unit] ?? unit)];
  }

  private class(): Test {
    const isNot = this.take('^');
    const ranges: Range[] = [];
    for (let isFirst = true; isFirst || this.units[this.at] !== ']'; isFirst = false) {
      const unit = this.units[this.at++];
      if (unit === undefined) throw this.fault('a class is not closed');
      if (unit === '\\') {
        for (const range of this.escaped()) ranges.push(range);
        continue;
      }
      const until = this.units[this.at + 1];
      if (this.units[this.at] === '-' && until !== undefined && until !== ']') {
        this.at += 2;
        const last = until === '\\' ? this.units[this.at++]! : until;
        const [low, high] = [unit.codePointAt(0)!, last.codePointAt(0)!];
        if (high < low) throw this.fault(`the range ${unit}-${last} ends before it begins`);
        ranges.push([low, high]);
      } else ranges.push(only(unit));
    }
    this.at++;
    return testOf(isNot ? complement(ranges) : ranges);
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

/** Code points from one to another, both included. */
type Range = readonly [low: number, high: number];

const LAST = 0x10ffff;

function only(unit: string): Range {
  const point = unit.codePointAt(0)!;
  return [point, point];
}

/** In ascending order, none touching the next. */
function merged(ranges: readonly Range[]): readonly Range[] {
  const found: [number, number][] = [];
  for (const [low, high] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else found.push([low, high]);
  }
  return found;
}

function complement(ranges: readonly Range[]): readonly Range[] {
  const found: Range[] = [];
  let from = 0;
  for (const [low, high] of merged(ranges)) {
    if (low > from) found.push([from, low - 1]);
    from = high + 1;
  }
  if (from <= LAST) found.push([from, LAST]);
  return found;
}

/** Whether a character is in one of some ranges: in a few steps, however many there are. */
function testOf(ranges: readonly Range[]): Test {
  const all = merged(ranges);
  if (all.length === 1) {
    const [[low, high]] = all as readonly [Range];
    return (unit) => unit.codePointAt(0)! >= low && unit.codePointAt(0)! <= high;
  }
  return (unit) => {
    const point = unit.codePointAt(0)!;
    let [from, to] = [0, all.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const [low, high] = all[middle]!;
      if (point < low) to = middle;
      else if (point > high) from = middle + 1;
      else return true;
    }
    return false;
  };
}

const DIGITS: readonly Range[] = [['0'.charCodeAt(0), '9'.charCodeAt(0)]];
const WORD: readonly Range[] = [...DIGITS, [0x41, 0x5a], only('_'), [0x61, 0x7a]];
/** As `\s` of JavaScript. */
const BLANK: readonly Range[] = [[0x9, 0xd], only(' '), [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f], [0x205f, 0x205f], [0x3000, 0x3000], [0xfeff, 0xfeff]]; // prettier-ignore

const CLASSES: Readonly<Record<string, readonly Range[]>> = {
  ...{ d: DIGITS, D: complement(DIGITS) },
  ...{ w: WORD, W: complement(WORD) },
  ...{ s: BLANK, S: complement(BLANK) },
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
  return states.push(state) - 1;
}

function run(states: readonly State[], start: number, text: string, effort: Effort): boolean {
  spend(effort, states.length + text.length);
  const units = [...text];
  const marks = new Int32Array(states.length).fill(-1);
  let current: number[] = [];
  const enter = (from: number, at: number, into: number[]): void => {
    const open = [from];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      spend(effort, 1);
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
    spend(effort, current.length);
    for (const index of current) {
      const state = states[index]!;
      if (state.is === 'char' && state.test(units[at]!)) enter(state.next, at + 1, next);
    }
    current = next;
  }
  return current.some((index) => states[index]!.is === 'match');
}
