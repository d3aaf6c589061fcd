import { didYouMean } from '../fhir/nearest.js';
import {
  StatementError,
  unescaped,
  type OrderItem,
  type SelectItem,
  type Statement,
  type WhereItem,
} from './statement.js';
import { placeOf, tokenize, type Token } from './tokenize.js';

/** An item of SELECT before `*` is expanded, names are given and types are known. */
export interface RawItem extends Pick<SelectItem, 'clause' | 'operator'> {
  readonly alias?: string;
}

/** A statement as it is written. */
export interface RawStatement extends Omit<Statement, 'select'> {
  readonly select: readonly RawItem[];
}

/** The words that begin a clause. */
const CLAUSES: ReadonlySet<string> = new Set(['SELECT', 'FROM', 'WHERE', 'GROUP', 'ORDER', 'LIMIT']);

/** Items of one clause, at most. */
const MOST_ITEMS = 200;

const SEARCH_MATCH = 'SEARCH_MATCH';

/**
 * Reads a statement: clauses in any order, each at most once.
 *
 * @param resourceTypes for FROM
 * @throws StatementError with line and column
 */
export function parseStatement(text: string, resourceTypes: readonly string[]): RawStatement {
  return new Parser(text, resourceTypes).statement();
}

class Parser {
  private readonly tokens: readonly Token[];
  private next = 0;

  constructor(
    private readonly text: string,
    private readonly resourceTypes: readonly string[],
  ) {
    this.tokens = tokenize(text);
  }

  statement(): RawStatement {
    const seen = new Set<string>();
    let select: readonly RawItem[] | undefined;
    let from: string | undefined;
    let where: readonly WhereItem[] = [];
    let groupBy: readonly string[] = [];
    let orderBy: readonly OrderItem[] = [];
    let limit: number | undefined;
    while (this.peek().kind !== 'end') {
      const token = this.take();
      const clause = token.kind === 'word' ? token.text.toUpperCase() : '';
      if (!CLAUSES.has(clause)) throw this.unexpected(token, 'SELECT, FROM, WHERE, GROUP BY, ORDER BY or LIMIT');
      if (seen.has(clause)) throw new StatementError(`There is a second ${clause} ${this.place(token)}`);
      seen.add(clause);
      if (clause === 'GROUP' || clause === 'ORDER') this.expectWord('BY');
      if (clause === 'SELECT') select = this.items(() => this.selectItem());
      else if (clause === 'FROM') from = this.resourceType();
      else if (clause === 'WHERE') where = this.conditions();
      else if (clause === 'GROUP') groupBy = this.items(() => this.expression());
      else if (clause === 'ORDER') orderBy = this.items(() => this.orderItem());
      else limit = this.number();
    }
    if (select === undefined) throw new StatementError('The statement has no SELECT');
    if (from === undefined) throw new StatementError('The statement has no FROM');
    return { select, where, groupBy, orderBy, fromResourceName: from, ...(limit !== undefined && { limit }) };
  }

  private items<T>(read: () => T): T[] {
    const items = [read()];
    while (this.accept(',')) {
      items.push(read());
      if (items.length > MOST_ITEMS) throw new StatementError(`A clause may have ${MOST_ITEMS} items`);
    }
    return items;
  }

  private selectItem(): RawItem {
    if (this.accept('*')) return { clause: '*', operator: 'SELECT' };
    const [token, colon] = [this.peek(), this.peek(1)];
    if (token.kind === 'word' && colon.text === ':' && colon.kind === 'symbol') {
      this.next += 2;
      return { ...this.selected(), alias: unquoted(token.text) };
    }
    const item = this.selected();
    if (!this.acceptWord('AS')) return item;
    const alias = this.take();
    if (alias.kind !== 'word' && alias.kind !== 'string') throw this.unexpected(alias, 'a name');
    return { ...item, alias: unquoted(alias.text) };
  }

  private selected(): RawItem {
    if (!this.isWord('COUNT') || this.peek(1).text !== '(') return { clause: this.expression(), operator: 'SELECT' };
    return { clause: this.counted(), operator: 'COUNT' };
  }

  /** What is within the brackets of COUNT. */
  private counted(): string {
    this.next += 2;
    const clause = this.accept('*') ? '*' : this.expression();
    this.expect(')');
    return clause;
  }

  private resourceType(): string {
    const token = this.take();
    if (token.kind !== 'word') throw this.unexpected(token, 'a resource type');
    if (this.resourceTypes.includes(token.text)) return token.text;
    const hint = didYouMean(token.text, this.resourceTypes);
    throw new StatementError(
      `There is no resource type ${JSON.stringify(token.text.slice(0, 64))} ${this.place(token)}${hint}`,
    );
  }

  private conditions(): WhereItem[] {
    const conditions = [this.condition()];
    while (this.acceptWord('AND')) {
      conditions.push(this.condition());
      if (conditions.length > MOST_ITEMS) throw new StatementError(`A clause may have ${MOST_ITEMS} conditions`);
    }
    const rest = this.peek();
    if (rest.kind === 'word' && rest.text.toUpperCase() === 'OR') {
      const text =
        'HFQL has no OR: write x IN (…), or one condition of FHIRPath in brackets, as in (active = true or deceased = true)';
      throw new StatementError(`${text}; it is ${this.place(rest)}`);
    }
    return conditions;
  }

  private condition(): WhereItem {
    const begin = this.next;
    const left = this.expression({ stopsAtEquals: true });
    if (this.acceptWord('IN')) return this.isIn(left);
    if (this.accept('=')) {
      const literal = this.take();
      const isLiteral = literal.kind === 'string' || literal.text === 'true' || literal.text === 'false';
      if (isLiteral && this.isAtEndOfCondition()) return { left, operator: 'EQUALS', right: [literal.text] };
      if (!isLiteral && literal.kind === 'word' && this.isAtEndOfCondition()) {
        const text = `A text is written in single quotes: '${literal.text}'; only true and false have none`;
        throw new StatementError(`${text}; this is ${this.place(literal)}`);
      }
    }
    // Anything else is FHIRPath.
    this.next = begin;
    return { left: this.expression(), operator: 'UNARY_BOOLEAN', right: [] };
  }

  private isIn(left: string): WhereItem {
    if (this.isWord(SEARCH_MATCH)) {
      const place = this.place(this.take());
      if (left !== 'id') throw new StatementError(`search_match goes with id alone: id IN search_match(…), ${place}`);
      const right = this.literals([',']);
      if (right.length !== 2) {
        throw new StatementError(
          `search_match takes two texts, a parameter and its value, not ${right.length}; ${place}`,
        );
      }
      return { left, operator: SEARCH_MATCH, right };
    }
    return { left, operator: 'IN', right: this.literals([',', '|']) };
  }

  private literals(separators: readonly string[]): string[] {
    this.expect('(');
    const found: string[] = [];
    do {
      const token = this.take();
      if (token.kind !== 'string' && token.text !== 'true' && token.text !== 'false') {
        throw this.unexpected(token, 'a text in single quotes');
      }
      found.push(token.text);
    } while (separators.some((each) => this.accept(each)));
    this.expect(')');
    return found;
  }

  private orderItem(): OrderItem {
    const isCount = this.isWord('COUNT') && this.peek(1).text === '(';
    const clause = isCount ? `COUNT(${this.counted()})` : this.expression();
    const ascending = !this.acceptWord('DESC');
    if (ascending) this.acceptWord('ASC');
    return { clause, ascending };
  }

  private number(): number {
    const token = this.take();
    if (token.kind !== 'number' || !/^[0-9]{1,9}$/.test(token.text))
      throw this.unexpected(token, 'a whole number of at most 9 digits');
    return Number(token.text);
  }

  /** The text of an expression: up to a comma or a word of HFQL outside its brackets. */
  private expression({ stopsAtEquals = false } = {}): string {
    const first = this.peek();
    let depth = 0;
    let last: Token | undefined;
    for (;;) {
      const token = this.peek();
      if (token.kind === 'end') break;
      if (depth === 0 && last !== undefined && this.ends(token, last, stopsAtEquals)) break;
      if (depth === 0 && last === undefined && (token.text === ',' || this.isClause(token))) break;
      if (token.text === '(' || token.text === '[') depth++;
      if (token.text === ')' || token.text === ']') depth--;
      if (depth < 0) break;
      last = this.take();
    }
    if (last === undefined) throw this.unexpected(this.peek(), 'an expression');
    if (depth > 0) throw new StatementError(`A bracket of the expression ${this.place(first)} is not closed`);
    return this.text.slice(first.start, last.end);
  }

  /** Whether a token outside of brackets is no part of the expression before it. */
  private ends(token: Token, last: Token, stopsAtEquals: boolean): boolean {
    if (token.kind === 'symbol') {
      return token.text === ',' || token.text === ':' || (stopsAtEquals && token.text === '=');
    }
    // A name after a dot, an operator or a unary sign belongs to the expression.
    if (token.kind !== 'word' || (last.kind === 'symbol' && !/^[)\]]$/.test(last.text))) return false;
    const upper = token.text.toUpperCase();
    if (this.isClause(token)) return true;
    return ['AND', 'OR', 'AS', 'ASC', 'DESC'].includes(upper) || (stopsAtEquals && upper === 'IN');
  }

  /** GROUP and ORDER begin a clause only before BY: elements have such names. */
  private isClause(token: Token): boolean {
    const upper = token.kind === 'word' ? token.text.toUpperCase() : '';
    if (!CLAUSES.has(upper)) return false;
    if (upper !== 'GROUP' && upper !== 'ORDER') return true;
    return this.tokens[this.tokens.indexOf(token) + 1]?.text.toUpperCase() === 'BY';
  }

  private isAtEndOfCondition(): boolean {
    const token = this.peek();
    return token.kind === 'end' || this.isClause(token) || this.isWord('AND') || this.isWord('OR');
  }

  private peek(ahead = 0): Token {
    return this.tokens[Math.min(this.next + ahead, this.tokens.length - 1)] as Token;
  }

  private take(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.next++;
    return token;
  }

  private accept(symbol: string): boolean {
    const token = this.peek();
    if (token.kind !== 'symbol' || token.text !== symbol) return false;
    this.next++;
    return true;
  }

  private isWord(word: string): boolean {
    const token = this.peek();
    return token.kind === 'word' && token.text.toUpperCase() === word;
  }

  private acceptWord(word: string): boolean {
    if (!this.isWord(word)) return false;
    this.next++;
    return true;
  }

  private expect(symbol: string): void {
    if (!this.accept(symbol)) throw this.unexpected(this.peek(), JSON.stringify(symbol));
  }

  private expectWord(word: string): void {
    if (!this.acceptWord(word)) throw this.unexpected(this.peek(), word);
  }

  private place(token: Token): string {
    return placeOf(this.text, token.start);
  }

  private unexpected(token: Token, wanted: string): StatementError {
    const found = token.kind === 'end' ? 'the statement ends' : `there is ${JSON.stringify(token.text.slice(0, 64))}`;
    return new StatementError(`Expected ${wanted}, but ${found} ${this.place(token)}`);
  }
}

function unquoted(text: string): string {
  return /^['`]/.test(text) ? unescaped(text.slice(1, -1)) : text;
}
