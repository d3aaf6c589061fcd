import { ALIASES, ATOMS, BASES, PREFIXES, SCALES } from './atoms.js';

/** A unit as a multiple of a product of dimensions: equal `unit` means comparable. */
export interface CanonicalUnit {
  /** The dimensions with their exponents, in one order: `g.m-3`; `1` where there are none. */
  readonly unit: string;
  /** Value in `unit` = (value + `offset`) × `factor`. */
  readonly factor: number;
  readonly offset: number;
}

/** Codes that were met, and what they are; more than anybody uses. */
const known = new Map<string, CanonicalUnit | null>();
const KNOWN_AT_MOST = 5000;

/** No unit is written with more. */
const MAX_LENGTH = 100;
const MAX_EXPONENT = 30;

/**
 * Reads the unit that a UCUM code is for: terms with `.` and `/`, exponents, prefixes, parentheses, and annotations
 * (which mean nothing). Undefined for text that is no UCUM code, and for units that are no multiple of others
 * (logarithms, pH).
 * https://ucum.org/ucum
 */
export function canonicalUnit(code: string): CanonicalUnit | undefined {
  let found = known.get(code);
  if (found === undefined) {
    found = code.length > MAX_LENGTH ? null : (readUnit(code) ?? null);
    if (known.size >= KNOWN_AT_MOST) known.clear();
    // A copy: a slice of a request would keep all of its text.
    known.set(Buffer.from(code).toString(), found);
  }
  return found ?? undefined;
}

/** A value in the canonical unit, rounded so that what is equal in decimals is equal. */
export function toCanonical(value: number, { factor, offset }: CanonicalUnit): number {
  const converted = (value + offset) * factor;
  return Number.isFinite(converted) ? Number(converted.toPrecision(13)) : converted;
}

interface Product {
  readonly factor: number;
  readonly exponents: ReadonlyMap<string, number>;
}

const ONE: Product = { factor: 1, exponents: new Map() };

function readUnit(code: string): CanonicalUnit | undefined {
  const scale = Object.hasOwn(SCALES, code) ? SCALES[code] : undefined;
  if (scale !== undefined) return { unit: 'K', offset: scale[0], factor: scale[1] };
  const product = new Reader(code).whole();
  if (product === undefined || !(product.factor > 0) || !Number.isFinite(product.factor)) return undefined;
  const exponents = [...product.exponents].filter(([, n]) => n !== 0).sort(([a], [b]) => (a < b ? -1 : 1));
  const unit = exponents.map(([name, n]) => (n === 1 ? name : `${name}${n}`)).join('.') || '1';
  return { unit, factor: product.factor, offset: 0 };
}

/** Reads an expression; undefined where it is none. */
class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  whole(): Product | undefined {
    const product = this.term();
    return this.at === this.text.length ? product : undefined;
  }

  /** Components with `.` and `/` between them, from left to right; a `/` may come first. */
  private term(): Product | undefined {
    let product: Product | undefined = ONE;
    let divides = this.take('/');
    for (;;) {
      const component = this.component();
      if (component === undefined) return undefined;
      product = multiply(product, component, divides ? -1 : 1);
      if (this.take('.')) divides = false;
      else if (this.take('/')) divides = true;
      else return product;
    }
  }

  private component(): Product | undefined {
    if (this.take('(')) {
      const inner = this.term();
      return this.take(')') ? inner : undefined;
    }
    const [annotation] = this.match(/\{[^{}]*\}/y);
    if (annotation !== undefined) return ONE;
    const [word] = this.match(/(?:\[[^[\]]*\]|10[*^]|[^\s./(){}[\]0-9+-])+/y);
    if (word === undefined) {
      const [number] = this.match(/\d+/y);
      return number === undefined ? undefined : { factor: Number(number), exponents: new Map() };
    }
    const [exponent] = this.match(/[+-]?\d+/y);
    this.match(/\{[^{}]*\}/y);
    const simple = simpleUnit(word);
    const n = Number(exponent ?? 1);
    return simple === undefined || Math.abs(n) > MAX_EXPONENT ? undefined : power(simple, n);
  }

  private take(character: string): boolean {
    if (this.text.charAt(this.at) !== character) return false;
    this.at++;
    return true;
  }

  private match(pattern: RegExp): readonly (string | undefined)[] {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) return [];
    this.at = pattern.lastIndex;
    return found;
  }
}

const bases = new Map(BASES.map((base) => [base.replace('*', ''), base.endsWith('*')]));
const atoms = new Map(
  Object.entries(ATOMS).map(([code, definition]) => {
    const isMetric = code.endsWith('*') && code !== '10*';
    return [isMetric ? code.slice(0, -1) : code, { isMetric, definition }] as const;
  }),
);
const prefixes = Object.entries(PREFIXES);

/** A unit by its code, or one with a prefix before it. A code of its own counts before a prefix (`cd`, `Pa`, `min`). */
function simpleUnit(word: string): Product | undefined {
  const whole = atom(word, false);
  if (whole !== undefined) return whole;
  for (const [prefix, factor] of prefixes) {
    if (!word.startsWith(prefix) || word.length === prefix.length) continue;
    const unit = atom(word.slice(prefix.length), true);
    if (unit !== undefined) return { factor: factor * unit.factor, exponents: unit.exponents };
  }
  return undefined;
}

function atom(code: string, isPrefixed: boolean): Product | undefined {
  const name = Object.hasOwn(ALIASES, code) ? (ALIASES[code] ?? code) : code;
  const isMetricBase = bases.get(name);
  if (isMetricBase !== undefined) {
    return isPrefixed && !isMetricBase ? undefined : { factor: 1, exponents: new Map([[name, 1]]) };
  }
  const found = atoms.get(name);
  if (found === undefined || (isPrefixed && !found.isMetric)) return undefined;
  const [factor, unit] = found.definition;
  const product = new Reader(unit).whole();
  return product && { factor: factor * product.factor, exponents: product.exponents };
}

function multiply(a: Product, b: Product, sign: 1 | -1): Product {
  const exponents = new Map(a.exponents);
  for (const [name, n] of b.exponents) exponents.set(name, (exponents.get(name) ?? 0) + sign * n);
  return { factor: sign === 1 ? a.factor * b.factor : a.factor / b.factor, exponents };
}

function power(product: Product, n: number): Product {
  return {
    factor: product.factor ** n,
    exponents: new Map([...product.exponents].map(([name, exponent]) => [name, exponent * n])),
  };
}
