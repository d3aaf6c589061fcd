import type { JsonPath } from '../fhir/errors.js';

/** Line and column from 1; columns count UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * Where these places are in a JSON text: a property at its name, an item of an array and the whole at its value;
 * undefined for a place that the text does not have. One pass over the text serves all paths, and it stops at the last
 * one; it is meant for text that has been read already, and for faults only. Text that is no JSON gives no positions
 * from where it goes wrong.
 */
export function locatePaths(text: string, paths: readonly JsonPath[]): readonly (Position | undefined)[] {
  const root: Place = { below: new Map(), at: -1 };
  const places = paths.map((path) => path.reduce(step, root));
  new Scanner(text, new Set(places).size).value(root);
  const positions = positionsOf(
    text,
    places.map(({ at }) => at),
  );
  return places.map(({ at }) => positions.get(at));
}

/** A place that was asked for, or one on the way to such. */
interface Place {
  readonly below: Map<string | number, Place>;
  /** Its offset in the text; -1 until it is found. */
  at: number;
}

function step(place: Place, name: string | number): Place {
  let below = place.below.get(name);
  if (below === undefined) place.below.set(name, (below = { below: new Map(), at: -1 }));
  return below;
}

const SPACE = /[ \t\r\n]*/y;
const SCALAR = /[^,\]}\s]*/y;
/** What a value that is not asked for can only end or go deeper with. */
const STRUCTURE = /["{}[\]]/g;

class Scanner {
  private at = 0;

  constructor(
    private readonly text: string,
    /** How many places are still to be found; a place on the way counts at most as one of them, so none is missed. */
    private left: number,
  ) {}

  /** Steps over the value that comes next, and notes where the places in it are. */
  value(place: Place): void {
    this.hop(SPACE);
    if (place.at < 0) place.at = this.at;
    if (place.below.size === 0) {
      this.left--;
      this.skip();
      return;
    }
    const first = this.text.charAt(this.at);
    if (first === '{') this.members(place);
    else if (first === '[') this.items(place);
    else this.skip();
  }

  private members(place: Place): void {
    do {
      this.at++;
      this.hop(SPACE);
      const start = this.at;
      if (this.text.charAt(start) !== '"') break;
      this.skipText();
      const name = nameOf(this.text.slice(start, this.at));
      this.hop(SPACE);
      this.at++;
      const below = name === undefined ? undefined : place.below.get(name);
      if (below !== undefined && below.at < 0) {
        below.at = start;
        this.value(below);
      } else this.skip();
      this.hop(SPACE);
    } while (this.left > 0 && this.text.charAt(this.at) === ',');
    this.at++;
  }

  private items(place: Place): void {
    let index = 0;
    do {
      this.at++;
      const below = place.below.get(index++);
      if (below === undefined) this.skip();
      else this.value(below);
      this.hop(SPACE);
    } while (this.left > 0 && this.text.charAt(this.at) === ',');
    this.at++;
  }

  private skip(): void {
    this.hop(SPACE);
    const first = this.text.charAt(this.at);
    if (first === '"') this.skipText();
    else if (first === '{' || first === '[') this.skipNested();
    else this.hop(SCALAR);
  }

  private skipNested(): void {
    for (let depth = 0; ;) {
      STRUCTURE.lastIndex = this.at;
      const found = STRUCTURE.exec(this.text);
      this.at = found?.index ?? this.text.length;
      if (found === null) return;
      if (found[0] === '"') {
        this.skipText();
        continue;
      }
      this.at++;
      depth += found[0] === '{' || found[0] === '[' ? 1 : -1;
      if (depth === 0) return;
    }
  }

  /** From an opening quote to behind the closing one. */
  private skipText(): void {
    let end = this.text.indexOf('"', this.at + 1);
    while (end > 0 && isEscaped(this.text, end)) end = this.text.indexOf('"', end + 1);
    this.at = end < 0 ? this.text.length : end + 1;
  }

  private hop(pattern: RegExp): void {
    pattern.lastIndex = this.at;
    pattern.test(this.text);
    this.at = Math.max(this.at, pattern.lastIndex);
  }
}

function isEscaped(text: string, quote: number): boolean {
  let start = quote;
  while (text.charAt(start - 1) === '\\') start--;
  return (quote - start) % 2 === 1;
}

function nameOf(quoted: string): string | undefined {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}

/** The positions of these offsets, found in one pass over the lines. */
function positionsOf(text: string, offsets: readonly number[]): ReadonlyMap<number, Position> {
  const positions = new Map<number, Position>();
  let line = 1;
  let start = 0;
  for (const offset of [...new Set(offsets)].sort((a, b) => a - b)) {
    if (offset < 0) continue;
    for (let end = text.indexOf('\n', start); end >= 0 && end < offset; end = text.indexOf('\n', start)) {
      line++;
      start = end + 1;
    }
    positions.set(offset, { line, column: offset - start + 1 });
  }
  return positions;
}
