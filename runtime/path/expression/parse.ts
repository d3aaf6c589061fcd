/**
 * Parser for FHIRPath. What it cannot read it refuses by name and place:
 * an expression that generates nothing must never look like one that matches nothing.
 * https://hl7.org/fhir/R5/search.html#expression, http://hl7.org/fhirpath/N1/
 */
import { ExpressionError } from './expression-error.js';
import { tokenize, type Token } from './tokenize.js';

/** FHIRPath as a tree; `of` is what a name, call or index is applied to. */
export type Expression =
  | { readonly kind: 'name'; readonly name: string; readonly start: number; readonly of?: Expression }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly start: number;
      readonly of?: Expression;
      readonly args: readonly Expression[];
    }
  | { readonly kind: 'index'; readonly of: Expression; readonly at: number }
  | { readonly kind: 'union'; readonly of: readonly Expression[] }
  | {
      readonly kind: 'type';
      readonly operator: 'as' | 'is';
      readonly of: Expression;
      /** Those of FHIR without their namespace. */
      readonly type: string;
      readonly named: TypeName;
    }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'negative'; readonly of: Expression }
  | { readonly kind: 'literal'; readonly value: string | boolean }
  | { readonly kind: 'number'; readonly text: string }
  /** `@2020-01-01`, without the `@`. */
  | { readonly kind: 'time'; readonly text: string }
  | { readonly kind: 'quantity'; readonly text: string; readonly unit: string }
  | { readonly kind: 'variable'; readonly name: string; readonly start: number }
  | { readonly kind: 'this' }
  /** `$index` */
  | { readonly kind: 'position' }
  /** `$total` */
  | { readonly kind: 'total' }
  | { readonly kind: 'nothing' };

/** The name of a type as it is written, with its namespace: `Patient`, `FHIR.Patient`, `System.String`. */
export interface TypeName {
  readonly text: string;
  readonly start: number;
}

/** Operators with two operands; those of types and unions have kinds of their own. */
export type BinaryOperator =
  | 'implies' | 'or' | 'xor' | 'and' | 'in' | 'contains' | '=' | '!=' | '~' | '!~' | '<' | '<=' | '>' | '>='
  | '+' | '-' | '&' | '*' | '/' | 'div' | 'mod'; // prettier-ignore

/** Operators that bind less tightly than a union, the loosest first. http://hl7.org/fhirpath/N1/#operator-precedence */
const LOOSE: readonly (readonly BinaryOperator[])[] = [
  ['implies'],
  ['or', 'xor'],
  ['and'],
  ['in', 'contains'],
  ['=', '!=', '~', '!~'],
  ['<', '<=', '>', '>='],
];

/** Operators that bind more tightly than a type test. */
const TIGHT: readonly (readonly BinaryOperator[])[] = [
  ['+', '-', '&'],
  ['*', '/', 'div', 'mod'],
];

/** Units that are written without quotation marks. http://hl7.org/fhirpath/N1/#time-valued-quantities */
const CALENDAR_UNIT = /^(?:year|month|week|day|hour|minute|second|millisecond)s?$/;

/** Brackets within each other, at most: so many that the stack holds them wherever it is read. */
const DEEPEST = 200;

/**
 * Reads one expression.
 *
 * @throws ExpressionError with the expression and the place
 * @throws RangeError where brackets are nested too deeply
 */
export function parseExpression(text: string): Expression {
  return new Parser(text).whole();
}

/** Returns the direct operands of an expression: the one that it is applied to, and those within it. */
export function operandsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'name':
      return expression.of === undefined ? [] : [expression.of];
    case 'call':
      return [...(expression.of === undefined ? [] : [expression.of]), ...expression.args];
    case 'index':
    case 'type':
    case 'negative':
      return [expression.of];
    case 'union':
      return expression.of;
    case 'binary':
      return [expression.left, expression.right];
    default:
      return [];
  }
}

class Parser {
  private readonly tokens: readonly Token[];
  private next = 0;
  private depth = 0;

  constructor(private readonly text: string) {
    this.tokens = tokenize(text);
  }

  whole(): Expression {
    const expression = this.expression();
    this.expect('');
    return expression;
  }

  private expression(): Expression {
    if (++this.depth > DEEPEST) throw new RangeError('brackets are nested too deeply');
    const expression = this.loose(0);
    this.depth--;
    return expression;
  }

  private loose(level: number): Expression {
    return this.binary(LOOSE, level, () => this.union());
  }

  private tight(level: number): Expression {
    return this.binary(TIGHT, level, () => this.signed());
  }

  /** Operators of this level, left to right, around those of the levels below. */
  private binary(levels: typeof LOOSE, level: number, innermost: () => Expression): Expression {
    const below = (): Expression =>
      level + 1 < levels.length ? this.binary(levels, level + 1, innermost) : innermost();
    let left = below();
    for (;;) {
      const operator = this.acceptOneOf(levels[level] ?? []);
      if (operator === undefined) return left;
      left = { kind: 'binary', operator, left, right: below() };
    }
  }

  private union(): Expression {
    const of = [this.typed()];
    while (this.accept('|')) of.push(this.typed());
    return of.length === 1 ? (of[0] as Expression) : { kind: 'union', of };
  }

  private typed(): Expression {
    let of = this.tight(0);
    for (;;) {
      const { text: operator, kind } = this.at(this.next);
      if (kind === 'string' || (operator !== 'as' && operator !== 'is')) return of;
      this.next++;
      const named = this.typeName();
      of = { kind: 'type', operator, of, type: named.text.replace(/^FHIR\./, ''), named };
    }
  }

  private typeName(): TypeName {
    const { start } = this.at(this.next);
    let text = this.name();
    while (this.accept('.')) text += `.${this.name()}`;
    return { text, start };
  }

  private signed(): Expression {
    if (this.accept('-')) return { kind: 'negative', of: this.signed() };
    this.accept('+');
    return this.invocation();
  }

  private invocation(): Expression {
    let of = this.term();
    for (;;) {
      if (this.accept('.')) of = this.member(of);
      else if (this.accept('[')) {
        of = this.position(of);
        this.expect(']');
      } else return of;
    }
  }

  /** A position that is calculated skips the values before it. */
  private position(of: Expression): Expression {
    const { start } = this.at(this.next);
    const at = this.expression();
    if (at.kind === 'number') return { kind: 'index', of, at: Number(at.text) };
    const rest: Expression = { kind: 'call', name: 'skip', start, of, args: [at] };
    return { kind: 'call', name: 'first', start, of: rest, args: [] };
  }

  private term(): Expression {
    const token = this.at(this.next);
    if (token.kind === 'string') {
      this.next++;
      return { kind: 'literal', value: token.text };
    }
    if (token.kind === 'number') {
      this.next++;
      return this.quantity(token.text);
    }
    if (token.kind === 'time') {
      this.next++;
      return { kind: 'time', text: token.text };
    }
    if (token.text === 'true' || token.text === 'false') {
      this.next++;
      return { kind: 'literal', value: token.text === 'true' };
    }
    if (this.accept('(')) {
      const inner = this.expression();
      this.expect(')');
      return inner;
    }
    if (this.accept('{')) {
      this.expect('}');
      return { kind: 'nothing' };
    }
    if (this.accept('%')) return { kind: 'variable', name: this.variableName(), start: token.start };
    if (this.accept('$')) {
      if (this.accept('index')) return { kind: 'position' };
      if (this.accept('total')) return { kind: 'total' };
      this.expect('this');
      return { kind: 'this' };
    }
    return this.member(undefined);
  }

  /** A number, with what may follow it as its unit. */
  private quantity(text: string): Expression {
    const { kind, text: unit } = this.at(this.next);
    if (kind !== 'string' && !(kind === 'name' && CALENDAR_UNIT.test(unit))) return { kind: 'number', text };
    this.next++;
    return { kind: 'quantity', text, unit };
  }

  private member(of: Expression | undefined): Expression {
    const { start } = this.at(this.next);
    const name = this.name();
    const held = of === undefined ? {} : { of };
    if (!this.accept('(')) return { kind: 'name', name, start, ...held };
    const args: Expression[] = [];
    if (!this.accept(')')) {
      do args.push(this.expression());
      while (this.accept(','));
      this.expect(')');
    }
    return { kind: 'call', name, start, args, ...held };
  }

  private name(): string {
    const token = this.at(this.next++);
    if (token.kind !== 'name') this.refuse(token, 'a name');
    return token.text;
  }

  private variableName(): string {
    const token = this.at(this.next);
    if (token.kind !== 'string') return this.name();
    this.next++;
    return token.text;
  }

  private acceptOneOf(operators: readonly BinaryOperator[]): BinaryOperator | undefined {
    return operators.find((operator) => this.accept(operator));
  }

  private accept(text: string): boolean {
    const token = this.at(this.next);
    if (token.text !== text || token.kind === 'string') return false;
    this.next++;
    return true;
  }

  private expect(text: string): void {
    const token = this.at(this.next++);
    if (token.text !== text || (text === '' && token.kind !== 'end'))
      this.refuse(token, text === '' ? 'the end' : text);
  }

  private at(index: number): Token {
    return this.tokens[Math.min(index, this.tokens.length - 1)] as Token;
  }

  private refuse(token: Token, expected: string): never {
    const found = token.kind === 'end' ? 'the end' : `"${token.text}"`;
    throw new ExpressionError(
      `${this.text}: expected ${expected} at character ${token.start + 1}, found ${found}`,
      'no-steps',
      token.start,
    );
  }
}
