import { ExpressionError } from '../expression/expression-error.js';
import { SYSTEM_TYPES, type TypeIndex } from '../expression/type-index.js';
import { PatchFault } from '../patch/fhirpath/fhirpath-fault.js';
import { PathTooLarge, scanPath } from '../patch/fhirpath/fhirpath-scan.js';
import { FUNCTIONS, REFUSALS } from './functions.js';
import { library, type SyntaxNode } from './library.js';
import { memoize } from '../../fhir/memory/memoize.js';

/** Types of values; undefined: they are unknown. */
type Types = readonly string[] | undefined;

/** Functions that give what they are called on, or some of it. */
const KEEPING: ReadonlySet<string> = new Set(['where', 'first', 'last', 'tail', 'single', 'take', 'skip', 'distinct']);

/** Functions whose arguments are about each value that they are called on. */
const LOOKING: ReadonlySet<string> = new Set(['where', 'select', 'all', 'exists', 'iif']);

/**
 * Reads an expression that has no steps: whether the library can, whether all that it calls may be called, and whether the
 * names in it are those of elements, as far as that is known.
 *
 * @param root the type it starts from
 * @returns names of the types of its values; undefined: they are unknown
 * @throws ExpressionError `wrong`, with the place, or `too-large`
 */
export function checkExpression(text: string, root: string, types: TypeIndex): Types {
  return new Checker(root, types).types(parse(text), [root], false);
}

/** Trees that are kept: an expression is looked at for each type that it is for. */
const KEPT = 500;

/** The tree of an expression. @throws ExpressionError `wrong`, with the place, or `too-large` */
export const parse = memoize(parseAnew, KEPT);

function parseAnew(text: string): SyntaxNode {
  try {
    scanPath(text);
  } catch (error) {
    // The parser's time grows with the square of the words.
    if (!(error instanceof PatchFault)) throw error;
    const fault = error instanceof PathTooLarge ? 'too-large' : 'wrong';
    throw new ExpressionError(`for the FHIRPath library, ${error.message}`, fault);
  }
  try {
    return library().parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [, line, column, what] = /^line: (\d+); column: (\d+); message: (.*)/.exec(message) ?? [];
    const why = (what ?? message).slice(0, 200);
    if (line !== '1' || column === undefined) throw wrong(`it cannot be read: ${why}`);
    // It counts columns of what cannot be read from 0 on.
    throw wrong(`it cannot be read: ${why}`, Number(column) + 1);
  }
}

class Checker {
  /** Types of `$this`. */
  private focus: Types;
  /** Whether that is no longer what the expression starts from. */
  private isWithin = false;

  constructor(
    private readonly root: string,
    private readonly index: TypeIndex,
  ) {
    this.focus = [root];
  }

  /** @param isInner a name at the front is a child, never the type */
  types(node: SyntaxNode, input: Types, isInner: boolean): Types {
    const { type, children = [] } = node;
    const [left, right] = children;
    switch (type) {
      case 'InvocationExpression':
        return left && right && this.types(right, this.types(left, input, isInner), true);
      case 'MemberInvocation':
        return this.member(node, input, isInner);
      case 'FunctionInvocation':
        return left && this.call(left, node, input);
      case 'ThisInvocation':
        return input;
      case 'ExternalConstantTerm':
        return this.constant(node);
      case 'IndexerExpression':
        if (right) this.types(right, input, isInner);
        return left && this.types(left, input, isInner);
      case 'UnionExpression':
        return either(children.map((each) => this.types(each, input, isInner)));
      case 'TypeExpression': {
        if (left) this.types(left, input, isInner);
        const narrowed = right && this.narrowed(right);
        return node.text === 'is' ? ['boolean'] : narrowed;
      }
      case 'InstanceSelectorTerm':
        throw wrong('an expression of a search parameter cannot make new values', columnOf(node));
      case 'EntireExpression':
      case 'TermExpression':
      case 'InvocationTerm':
      case 'ParenthesizedTerm':
        return left && this.types(left, input, isInner);
      default:
        for (const each of children) this.types(each, input, isInner);
        return /^(?:And|Or|Implies|Equality|Inequality|Membership)Expression$/.test(type) ? ['boolean'] : undefined;
    }
  }

  private member(node: SyntaxNode, input: Types, isInner: boolean): Types {
    const name = (node.text ?? '').replaceAll('`', '');
    if (!isInner && this.index.ancestors(this.root).includes(name)) return [this.root];
    if (input === undefined) return undefined;
    const found = input.flatMap((type) => this.index.element(type, name)?.types ?? this.index.beside(type, name) ?? []);
    // What may be any resource, or any element, may have anything.
    if (found.length === 0 && input.some((type) => this.index.isAbstract(type))) return undefined;
    if (found.length === 0) throw wrong(`${input.slice(0, 5).join('|')} has no element ${name}`, columnOf(node));
    return [...new Set(found)];
  }

  private call(node: SyntaxNode, at: SyntaxNode, input: Types): Types {
    const name = (node.text ?? '').replaceAll('`', '');
    const counts = FUNCTIONS.get(name);
    if (counts === undefined) {
      const why = Object.hasOwn(REFUSALS, name) ? `: ${REFUSALS[name]}` : '';
      throw wrong(`the function ${name}() cannot be called here${why}`, columnOf(at));
    }
    const args = node.children?.find(({ type }) => type === 'ParamList')?.children ?? [];
    if (!counts.includes(args.length)) {
      throw wrong(`${name}() takes ${counts.join(' or ')} arguments, not ${args.length}`, columnOf(at));
    }
    const [first] = args;
    if (name === 'ofType' || name === 'as' || name === 'is') {
      const type = first && this.narrowed(first);
      return name === 'is' ? ['boolean'] : type;
    }
    const results = args.map((each) => this.argument(name, each, input));
    if (KEEPING.has(name)) return input;
    if (name === 'select') return results[0];
    if (name === 'combine' || name === 'union') return either([input, results[0]]);
    if (name === 'extension') return ['Extension'];
    return undefined;
  }

  /** Most arguments are about what the expression starts from, or what the function around it looks at. */
  private argument(name: string, node: SyntaxNode, input: Types): Types {
    if (!LOOKING.has(name)) return this.types(node, this.focus, this.isWithin);
    const { focus, isWithin } = this;
    [this.focus, this.isWithin] = [input, true];
    const found = this.types(node, input, true);
    [this.focus, this.isWithin] = [focus, isWithin];
    return found;
  }

  private constant(node: SyntaxNode): Types {
    const name = (node.text ?? '').replaceAll('`', '');
    if (name === 'resource' || name === 'rootResource') return undefined;
    throw wrong(`%${name} is not known here; %resource is`, columnOf(node));
  }

  /** The types that values of a named type are of. */
  private narrowed(node: SyntaxNode): Types {
    const identifiers = collect(node);
    const name = identifiers.at(-1) ?? '';
    const space = identifiers.slice(0, -1).join('.');
    // Without a name before it, it is one of FHIR where FHIR has it.
    if ((space === '' || space === 'FHIR') && this.index.isType(name)) return [name];
    if ((space === '' || space === 'System') && SYSTEM_TYPES.has(name)) {
      const type = SYSTEM_TYPES.get(name);
      return type === undefined ? undefined : [type];
    }
    throw wrong(`there is no type ${identifiers.join('.')}`, columnOf(node));
  }
}

function collect(node: SyntaxNode): string[] {
  if (node.type === 'Identifier') return [(node.text ?? '').replaceAll('`', '')];
  return (node.children ?? []).flatMap(collect);
}

function either(all: readonly Types[]): Types {
  const known = all.filter((each) => each !== undefined);
  return known.length < all.length ? undefined : [...new Set(known.flat())];
}

/** Where a node begins, from 1 on. */
function columnOf(node: SyntaxNode): number | undefined {
  return node.start?.column ?? node.children?.map(columnOf).find((each) => each !== undefined);
}

function wrong(text: string, column?: number): ExpressionError {
  return new ExpressionError(text, 'wrong', column === undefined ? undefined : column - 1);
}
