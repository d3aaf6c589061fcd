import type { ComponentRow, PathRow, SearchType } from '../../contract/search.js';
import { splitBranches } from '../../path/expression/branches.js';
import { compileBranch } from '../../path/expression/compile.js';
import { ExpressionError } from '../../path/expression/expression-error.js';
import { toPathRow } from '../../path/expression/path-rows.js';
import { checkExpression } from '../../path/expression/check.js';
import { scanPath } from '../../path/expression/scan-path.js';
import type { NamedParameter, ParameterContext } from './parameter-context.js';
import { ParameterError, STORED_LIMITS } from './stored-parameter.js';
import { memoize } from '../../fhir/memory/memoize.js';
import { quote } from '../../fhir/quote.js';

/** Types that values count as whose types are unknown, by what they are searched as. */
const ASSUMED: Readonly<Partial<Record<SearchType, string>>> = {
  date: 'dateTime',
  number: 'decimal',
  quantity: 'Quantity',
  reference: 'Reference',
  string: 'string',
  token: 'code',
  uri: 'uri',
};

/** Where an expression is. */
export type ExpressionPath = readonly (string | number)[];

/** Context in which the expressions of one parameter are compiled. */
export interface Compilation {
  readonly context: ParameterContext;
  /** Bases that its branches may start from; of a component, whose branches are for all that it is a part of: absent. */
  readonly bases?: readonly string[];
  /** How many branches may still be tried, each from one type. */
  readonly tries: { left: number };
  /** Of each alternative whether a base has it, or why the first that was asked has not; of a component: absent. */
  readonly fits?: Map<string, ParameterError | true>;
}

/**
 * The paths of an expression from one type.
 *
 * @param search what their values are searched as; undefined: a composite, whose values have parts
 * @throws ParameterError
 */
export function compileExpression(
  text: string,
  root: string,
  search: SearchType | undefined,
  at: ExpressionPath,
  compilation: Compilation,
): PathRow[] {
  if (text.length > STORED_LIMITS.expression) {
    const fault = `has ${text.length} characters, and may have ${STORED_LIMITS.expression}`;
    throw new ParameterError({ kind: 'invalid', text: fault, path: at });
  }
  // Each way once: those that are written otherwise and lead the same way would find everything again.
  const rows = new Map<string, PathRow>();
  let from = 0;
  const branches = takeApart(text);
  if (branches.length > STORED_LIMITS.branches) {
    const fault = `has ${branches.length} alternatives between "|", and may have ${STORED_LIMITS.branches}`;
    throw new ParameterError({ kind: 'invalid', text: fault, path: at });
  }
  for (const branch of branches) {
    const begin = Math.max(0, text.indexOf(branch, from));
    from = begin + branch.length;
    const row = compileOne({ text: branch, begin, at }, root, search, compilation);
    if (row === undefined) continue;
    compilation.fits?.set(branch, true);
    const key = keyOf(row);
    if (!rows.has(key)) rows.set(key, row);
  }
  return [...rows.values()];
}

/** The word at the front, which may be the name of a type. */
function headOf(branch: string): string {
  return /^\(*\s*([A-Z][A-Za-z]*)\b/.exec(branch)?.[1] ?? '';
}

function keyOf({ text, steps, types, isEvaluated }: PathRow): string {
  return JSON.stringify(isEvaluated === true ? scanPath(text) : { steps, types });
}

/**
 * The alternatives of an expression. What our own reader cannot take apart is one branch that is evaluated. The last ones are kept: an
 * expression, and those of its components, are for each of its bases again.
 */
const takeApart = memoize(splitAll, STORED_LIMITS.components);

function splitAll(text: string): readonly string[] {
  try {
    return splitBranches(text);
  } catch {
    return [text.trim()];
  }
}

/** A branch, and where it is. */
interface Branch {
  readonly text: string;
  /** Of its first character in the expression. */
  readonly begin: number;
  readonly at: ExpressionPath;
}

function compileOne(
  { text, begin, at }: Branch,
  root: string,
  search: SearchType | undefined,
  { context, bases = [], tries, fits }: Compilation,
): PathRow | undefined {
  const { types } = context;
  const head = headOf(text);
  const isNamed = types.isType(head) && types.element(root, head) === undefined;
  const isOnly = bases.length < 2;
  if (isNamed && !types.ancestors(root).includes(head)) {
    if (context.isBase(head) || !isOnly) return undefined;
  }
  if (--tries.left < 0) {
    const fault =
      `leads ${STORED_LIMITS.paths} ways and more: alternatives between "|" times the bases, ` +
      'and the types that components are parts of; name the type at the front of each alternative, or divide it';
    throw new ParameterError({ kind: 'invalid', text: fault, path: at });
  }
  try {
    const row = read(text, root, context, search);
    checkValues(row, search, context);
    return row;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const place = error.at === undefined ? '' : ` (character ${begin + error.at + 1})`;
    const message = error.message.replace(`${root}: ${text}: `, '');
    const fault = new ParameterError({ kind: 'invalid', text: `${quote(text)}${place}: ${message}`, path: at });
    if (isOnly || isNamed) throw fault;
    if (fits?.has(text) === false) fits.set(text, fault);
    return undefined;
  }
}

/**
 * Once an expression is compiled for all bases: each of its alternatives has to be for one of them.
 *
 * @throws ParameterError
 */
export function checkFits(text: string, at: ExpressionPath, { fits }: Pick<Compilation, 'fits'>): void {
  for (const branch of takeApart(text)) {
    const fit = fits?.get(branch);
    if (fit === true) continue;
    const fault = `${quote(branch)} starts from none of the types that base names: leave it out, or name its type there`;
    throw fit ?? new ParameterError({ kind: 'invalid', text: fault, path: at });
  }
}

function read(text: string, root: string, context: ParameterContext, search: SearchType | undefined): PathRow {
  const { types, tables } = context;
  try {
    return toPathRow(text, compileBranch(text, root, types), tables.codes);
  } catch (error) {
    if (!(error instanceof ExpressionError) || error.fault === 'wrong') throw error;
  }
  const found = checkExpression(text, root, types);
  const assumed = search === undefined ? undefined : ASSUMED[search];
  return { text, steps: [], types: found ?? (assumed === undefined ? [] : [assumed]), isEvaluated: true };
}

/** Some of the values have to be of types that can be searched so. */
function checkValues({ types }: PathRow, search: SearchType | undefined, { find }: ParameterContext): void {
  if (search === undefined || search === 'composite' || search === 'special') return;
  if (types.some((type) => find(search, type) !== undefined)) return;
  const some = types.slice(0, 5).join(', ');
  throw new ExpressionError(`its values are ${some}, which cannot be searched as ${search}`, 'wrong');
}

/**
 * A component of a composite.
 *
 * @param named the parameter that its definition names
 * @throws ParameterError
 */
export function compileComponent(
  expression: string,
  named: NamedParameter,
  composite: readonly PathRow[],
  at: ExpressionPath,
  compilation: Compilation,
): ComponentRow {
  const roots = [...new Set(composite.flatMap(({ types }) => types))];
  const [paths, ...others] = roots.map((root) => compileExpression(expression, root, named.type, at, compilation));
  const isAlike = others.every((other) => JSON.stringify(other) === JSON.stringify(paths));
  if (paths === undefined || !isAlike || (roots.length > 1 && paths.some(({ isEvaluated }) => isEvaluated))) {
    const text = `${quote(expression)} is not the same in all that it is a part of: ${roots.slice(0, 5).join(', ') || 'of no known type'}`;
    throw new ParameterError({ kind: 'invalid', text, path: at });
  }
  return { code: named.code, type: named.type, paths };
}
