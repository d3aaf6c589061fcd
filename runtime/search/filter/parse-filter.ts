import { append, greatest } from '../../fhir/lists.js';
import { FhirError } from '../../fhir/errors.js';
import { isLinkName, splitLinkName } from '../parse/link-name.js';
import {
  FILTER_OPERATORS,
  type Filter,
  type FilterOperator,
  type LinkName,
  type LinkStep,
} from '../parse/link-step.js';
import { Words } from './words.js';
import { quote } from '../../fhir/quote.js';

/**
 * Comparisons in one filter, brackets around each of them, `and`, `or` and `not` around each (stores take conditions of some
 * depth only, and each change between `and` and `or` is a step), and characters of all of it.
 */
export const MAX_FILTER = { tests: 100, depth: 20, height: 50, length: 32_768 };

/**
 * Reads a filter by its form alone: `path operator value`, combined by `and` and `or` from left to right (neither binds
 * tighter), parentheses, `not (…)`; a path may lead over references, which may be filtered: `subject[active eq true].name`.
 *
 * @param links greatest number of links in one path, those count that lead to the brackets it is in
 * @throws FhirError `parameter-invalid`: what is missing, and where
 */
export function parseFilter(text: string, links: number): Filter {
  if (text.length > MAX_FILTER.length) throw invalid(`The filter is longer than ${MAX_FILTER.length} characters`);
  const words = new Words(text);
  const filter = new Parser(words).filter(0, links);
  if (words.peek() !== undefined) throw words.wrong('"and" or "or"');
  if (heightOf(filter) > MAX_FILTER.height)
    throw invalid(`The filter has more than ${MAX_FILTER.height} of "and", "or" and "not" around each other; each change between "and" and "or" is one`); // prettier-ignore
  return filter;
}

class Parser {
  private tests = 0;

  constructor(private readonly words: Words) {}

  filter(depth: number, links: number): Filter {
    if (depth > MAX_FILTER.depth)
      throw invalid(`The filter has more than ${MAX_FILTER.depth} brackets within each other`);
    let left = this.part(depth, links);
    for (;;) {
      const word = this.words.peek();
      const is = word?.text.toLowerCase();
      if (word === undefined || (is !== 'and' && is !== 'or')) return left;
      this.words.pass(word);
      const right = this.part(depth, links);
      left = { is, parts: left.is === is ? [...left.parts, right] : [left, right] };
    }
  }

  private part(depth: number, links: number): Filter {
    const word = this.words.peek();
    const isNot = word?.text.toLowerCase() === 'not';
    if (isNot) this.words.pass(word);
    if (!isNot && (word?.is !== 'mark' || word.text !== '(')) return this.test(depth, links);
    this.words.expect('(', isNot ? 'after not' : 'here');
    const filter = this.filter(depth + 1, links);
    this.words.expect(')', 'that closes a bracket');
    return isNot ? { is: 'not', filter } : filter;
  }

  private test(depth: number, links: number): Filter {
    if (++this.tests > MAX_FILTER.tests) throw invalid(`The filter has more than ${MAX_FILTER.tests} comparisons`);
    const path = this.path(depth, links);
    const operator = this.operator(path.text);
    const value = this.words.value(operator);
    if (value === '') throw invalid(`The filter has nothing to compare ${quote(path.text)} with`);
    return { is: 'test', text: path.text, path: path.name, operator, value };
  }

  private operator(path: string): FilterOperator {
    const word = this.words.peek();
    const operator = FILTER_OPERATORS.find((each) => each === word?.text.toLowerCase());
    if (word === undefined || operator === undefined) {
      throw this.words.wrong(`an operator (${FILTER_OPERATORS.join(', ')}) after ${quote(path)}`);
    }
    this.words.pass(word);
    return operator;
  }

  private path(depth: number, links: number): { readonly text: string; readonly name: LinkName } {
    const steps: LinkStep[] = [];
    let text = '';
    for (;;) {
      const word = this.words.peek();
      if (word?.is !== 'word') throw this.words.wrong('the name of a parameter');
      this.words.pass(word);
      const name = text === '' ? word.text : rest(word.text);
      text += word.text;
      if (this.words.isApart() || this.words.peek()?.text !== '[') {
        if (!isLinkName(name)) return { text, name: { steps, last: nameOf(name) } };
        const more = splitLinkName(name, links - steps.length);
        return { text, name: { steps: [...steps, ...more.steps], last: nameOf(more.last) } };
      }
      if (/(?:^|[.:])_has(?::[^:.]*){0,2}$/.test(name)) {
        throw invalid(`The filter has "[" after ${quote(text)}: what refers here is filtered by a filter of its own, _has:Type:reference:parameter beside the others`); // prettier-ignore
      }
      // What the filter is about is what the link before it leads to.
      const { steps: before } = splitLinkName(`${name}.${HERE}`, links - steps.length);
      const link = before.at(-1);
      if (link?.by !== 'chain') throw invalid(`The filter has "[" after ${quote(text)}, which leads to no resource`);
      this.words.expect('[', 'here');
      const filter = this.filter(depth + 1, links - steps.length - before.length);
      this.words.expect(']', 'that closes a bracket');
      append(steps, before.slice(0, -1));
      steps.push({ ...link, filter });
      text += '[…]';
      if (this.words.isApart()) throw invalid(`The filter lacks "." and a parameter after ${quote(text)}`);
    }
  }
}

/** How many of `and`, `or` and `not` are nested. */
function heightOf(filter: Filter): number {
  if (filter.is === 'not') return 1 + heightOf(filter.filter);
  if (filter.is !== 'test') return 1 + greatest(filter.parts.map(heightOf));
  const { steps } = filter.path;
  return greatest(
    steps.map((step) => (step.by === 'chain' && step.filter ? 1 + heightOf(step.filter) : 0)),
    0,
  );
}

/** Stands for the parameter that is read later. */
const HERE = '_id';

/** What follows a bracket begins with a dot. */
function rest(text: string): string {
  if (!text.startsWith('.') || text === '.') throw invalid('The filter lacks "." and a parameter after "]"');
  return text.slice(1);
}

function nameOf(name: string): string {
  const [code = '', modifier] = name.split(':', 2);
  if (modifier === undefined) return code;
  const text = `The filter has the modifier ${quote(`:${modifier}`)}; here operators stand for modifiers and prefixes: ${FILTER_OPERATORS.join(', ')}`;
  throw new FhirError('modifier-unknown', text);
}

function invalid(text: string): FhirError {
  return new FhirError('parameter-invalid', text);
}
