/**
 * Parser for the part of FHIRPath that search parameters use. What it cannot read it refuses by name and place:
 * an expression that generates nothing must never look like one that matches nothing.
 * https://hl7.org/fhir/R5/search.html#expression, http://hl7.org/fhirpath/N1/
 */
import { ExpressionError } from './expression-error.js';
import { tokenize, type Token } from './tokenize.js';

/** FHIRPath as a tree; `of` is what a name, call or index is applied to. */
export type Expression =
  | { readonly kind: 'name'; readonly name: string; readonly start: number; readonly of?: Expression }
  | { readonly kind: 'call'; readonly name: string; readonly of?: Expression; readonly args: readonly Expression[] }
  | { readonly kind: 'index'; readonly of: Expression; readonly at: number }
  | { readonly kind: 'union'; readonly of: readonly Expression[] }
  | { readonly kind: 'type'; readonly operator: 'as' | 'is'; readonly of: Expression; readonly type: string }
  | {
      readonly kind: 'binary';
      readonly operator: '=' | '!=' | 'and';
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'literal'; readonly value: string | boolean };

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

class Parser {
  private readonly tokens: readonly Token[];
  private next = 0;
  private depth = 0;

  constructor(private readonly text: string) {
    this.tokens = tokenize(text);
  }

  whole(): Expression {
    const expression = this.and();
    this.expect('');
    return expression;
  }

  private and(): Expression {
    if (++this.depth > DEEPEST) throw new RangeError('brackets are nested too deeply');
    let left = this.equality();
    while (this.accept('and')) left = { kind: 'binary', operator: 'and', left, right: this.equality() };
    this.depth--;
    return left;
  }

  private equality(): Expression {
    const left = this.union();
    const { text: operator, kind } = this.at(this.next);
    if (kind === 'string' || (operator !== '=' && operator !== '!=')) return left;
    this.next++;
    return { kind: 'binary', operator, left, right: this.union() };
  }

  private union(): Expression {
    const of = [this.typed()];
    while (this.accept('|')) of.push(this.typed());
    return of.length === 1 ? (of[0] as Expression) : { kind: 'union', of };
  }

  private typed(): Expression {
    let of = this.invocation();
    for (;;) {
      const { text: operator, kind } = this.at(this.next);
      if (kind === 'string' || (operator !== 'as' && operator !== 'is')) return of;
      this.next++;
      of = { kind: 'type', operator, of, type: this.name() };
    }
  }

  private invocation(): Expression {
    let of = this.term();
    for (;;) {
      if (this.accept('.')) of = this.member(of);
      else if (this.accept('[')) {
        const token = this.at(this.next++);
        if (token.kind !== 'number') this.refuse(token, 'a number');
        of = { kind: 'index', of, at: Number(token.text) };
        this.expect(']');
      } else return of;
    }
  }

  private term(): Expression {
    const token = this.at(this.next);
    if (token.kind === 'string') {
      this.next++;
      return { kind: 'literal', value: token.text };
    }
    if (token.text === 'true' || token.text === 'false') {
      this.next++;
      return { kind: 'literal', value: token.text === 'true' };
    }
    if (this.accept('(')) {
      const inner = this.and();
      this.expect(')');
      return inner;
    }
    return this.member(undefined);
  }

  private member(of: Expression | undefined): Expression {
    const { start } = this.at(this.next);
    const name = this.name();
    const held = of === undefined ? {} : { of };
    if (!this.accept('(')) return { kind: 'name', name, start, ...held };
    const args: Expression[] = [];
    if (!this.accept(')')) {
      do args.push(this.and());
      while (this.accept(','));
      this.expect(')');
    }
    return { kind: 'call', name, args, ...held };
  }

  private name(): string {
    const token = this.at(this.next++);
    if (token.kind !== 'name') this.refuse(token, 'a name');
    return token.text;
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
