import type { ServiceTables } from '../core/services.js';
import { didYouMean } from '../fhir/nearest.js';
import type { JsonValue, Resource } from '../fhir/resource.js';
import { clip, quote } from '../fhir/quote.js';
import { writeJson } from '../format/write-json.js';
import { compileExpression } from '../path/evaluate/compile-expression.js';
import { TooCostly, type Environment } from '../path/evaluate/environment.js';
import type { Evaluate } from '../path/evaluate/function-types.js';
import { PathItem, ofNumber, type Items } from '../path/evaluate/item.js';
import { createSchema } from '../path/evaluate/schema.js';
import { checkNames, type Types, type Vocabulary } from '../path/expression/check.js';
import { ExpressionError } from '../path/expression/expression-error.js';
import { operandsOf, parseExpression, type Expression } from '../path/expression/parse.js';
import { indexRows, type TypeIndex } from '../path/expression/type-index.js';
import type { OwnBases } from '../path/own-bases.js';
import { compilePrimitives } from '../validate/compile-primitives.js';
import { cellOf, cellTest, kindOf, openCell, type Column } from './column-kind.js';
import { describeForm, formOf, NOT_UNDERSTOOD, sqlForm, TEXT, type Form } from './parquet-forms.js';
import type { ColumnDefinition, Selection, View, ViewPath } from './view.js';
import { RowError, ViewError, type ViewFault } from './view-error.js';

/** One row: a cell for each column. */
export type ViewRow = readonly JsonValue[];

/** A view that can be run. */
export interface CompiledView {
  readonly name?: string;
  readonly resource: string;
  readonly columns: readonly Column[];
  /** Paths that this release of FHIR does not have: they are empty on every resource. */
  readonly warnings: readonly ViewFault[];
  /** Conditions that a resource has to fulfill, all of them, and the constants that they may name. */
  readonly where: readonly Expression[];
  readonly constants: View['constants'];
  /**
   * The rows of a resource, in their order; none of a resource of another type.
   *
   * @param most rows that are wanted; absent: all
   * @throws RowError
   */
  readonly rowsOf: (resource: Resource, most?: number) => readonly ViewRow[];
}

/** Context of a run, beside the resources. */
export interface ViewContext {
  /** `now()` and `today()`. */
  readonly now: Date;
  /** URLs of this server, for `getReferenceKey()`. */
  readonly bases?: OwnBases;
  /** The table will have a form whose types hold the cells as well. */
  readonly form?: 'parquet' | 'fhir';
}

/**
 * Limits of one resource, whose rows are made in one go: rows; nodes that selections visit, also where no row comes of it; cells that are
 * written or copied, and their characters; values that all of its expressions look at; levels of a `repeat`; and milliseconds.
 */
const MOST = {
  ...{ rows: 100_000, nodes: 300_000, cells: 4_000_000, characters: 16_000_000 },
  ...{ values: 1_000_000, depth: 200, time: 3000 },
};

/** Nodes between two looks at the clock. */
const LOOK = 1024;

/** `%rowIndex` at the top. */
const FIRST = ofNumber(0);

/** Functions that need more than the resource. */
const REFUSED: Readonly<Record<string, string>> = {
  resolve: 'a view reads one resource',
  memberOf: 'a view asks for no terminology',
  conformsTo: 'a view reads no profile',
  trace: 'nothing is written to the log',
  replaceMatches: 'use replace or matches',
};

/** Calls `emit` for each row of a selection at a node; its cells are in the row when it does. */
type Produce = (node: Items, rowIndex: number, run: Run, emit: () => void) => void;

/** What expressions know, of one resource after the other. */
interface RunEnvironment extends Environment {
  resource: PathItem;
  root: PathItem;
  context: PathItem;
  readonly variables: Record<string, Items>;
}

/** The rows of one resource, as they are made. */
interface Run {
  readonly environment: RunEnvironment;
  readonly row: JsonValue[];
  nodes: number;
  cells: number;
  characters: number;
  /** When it is given up, in the time of `performance.now()`. */
  end: number;
}

/** As many rows as are wanted were made. */
const ENOUGH = new Error('enough rows');

/**
 * Compiles a view: all that can be wrong with it whatever the data are is found here.
 *
 * @throws ViewError with all faults
 */
export function compileView(
  view: View,
  tables: Pick<ServiceTables, 'types' | 'primitives'>,
  context: ViewContext,
): CompiledView {
  const index = indexRows(tables.types, tables.primitives);
  const compiler = new Compiler(view, index, compilePrimitives(tables.primitives), context.form);
  if (!index.isConcreteResource(view.resource))
    compiler.faults.push({
      place: 'resource',
      text: `there is no resource type ${clip(view.resource)}${didYouMean(view.resource, index.resources())}`,
    });
  const produce = compiler.selection(view.selection, [view.resource], 0);
  const tests = view.where.map((path) => compiler.condition(path));
  if (compiler.faults.length > 0) throw new ViewError(compiler.faults);
  const { columns, warnings } = compiler;
  const schema = createSchema(index);
  const constants = Object.fromEntries(view.constants);
  // One for all resources: where each has its own, they outlive it, and fill the memory until all of it is looked through.
  const nothing = new PathItem(null, '');
  const variables: Record<string, Items> = { ...constants, rowIndex: FIRST };
  const environment: RunEnvironment = {
    ...{ schema, resource: nothing, root: nothing, context: nothing, now: context.now, variables },
    ...{
      isUndecided: false,
      isMistaken: false,
      isOpen: false,
      index: undefined,
      total: undefined,
      budget: MOST.values,
    },
    ...{ resolve: () => undefined, isMember: () => undefined },
    ...(context.bases !== undefined && { bases: context.bases }),
  };
  const row = new Array<JsonValue>(columns.length).fill(null);
  const run: Run = { environment, row, nodes: 0, cells: 0, characters: 0, end: 0 };
  const begin = (root: PathItem): void => {
    environment.resource = environment.root = environment.context = root;
    environment.budget = MOST.values;
    environment.index = environment.total = undefined;
    variables['rowIndex'] = FIRST;
    row.fill(null);
    run.nodes = run.cells = run.characters = 0;
    run.end = performance.now() + MOST.time;
  };
  const rowsOf = (resource: Resource, most = Infinity): readonly ViewRow[] => {
    if (resource.resourceType !== view.resource) return [];
    const root = new PathItem(resource, resource.resourceType);
    begin(root);
    const rows: ViewRow[] = [];
    try {
      if (!tests.every((test) => test([root], environment))) return rows;
      produce([root], 0, run, () => {
        spendRow(run);
        if (rows.push(row.slice()) > MOST.rows) throw new RowError(`makes more than ${MOST.rows} rows`);
        if (rows.length >= most) throw ENOUGH;
      });
    } catch (error) {
      if (error === ENOUGH) return rows;
      if (!(error instanceof RowError) && !(error instanceof TooCostly)) throw error;
      const at = `${resource.resourceType}/${clip(String(resource['id']))}`;
      throw new RowError(`${at}: ${error.message}`, error instanceof RowError ? error.value : undefined);
    }
    return rows;
  };
  const name = view.name === undefined ? {} : { name: view.name };
  const where = view.where.map(({ text }) => parseExpression(text));
  return { ...name, resource: view.resource, columns, warnings, where, constants: view.constants, rowsOf };
}

class Compiler {
  readonly faults: ViewFault[] = [];
  readonly warnings: ViewFault[] = [];
  readonly columns: Column[] = [];
  private readonly names: ReadonlySet<string>;
  private readonly vocabulary: Vocabulary;

  constructor(
    view: View,
    private readonly index: TypeIndex,
    private readonly primitives: ReturnType<typeof compilePrimitives>,
    private readonly form: ViewContext['form'],
  ) {
    this.names = new Set([...view.constants.keys(), 'rowIndex']);
    this.vocabulary = {
      variables: new Map<string, Types>([
        ...[...view.constants].map(
          ([name, [value]]) => [name, value === undefined ? undefined : [value.type]] as const,
        ),
        ['rowIndex', ['integer']],
        ...['resource', 'rootResource'].map((name) => [name, [view.resource]] as const),
        ...['context', 'ucum', 'sct', 'loinc'].map((name) => [name, undefined] as const),
      ]),
      checkCall: () => {},
    };
  }

  /** @param at the place of its first column in the row */
  selection(selection: Selection, focus: Types, at: number): Produce {
    const { iteration, columns, selects, unionAll } = selection;
    const found = iteration?.paths.map((path) => this.path(path, focus));
    const nodes = found?.map(({ evaluate }) => evaluate);
    // What a path within a repeat reaches depends on what was reached before.
    const types = found === undefined ? focus : iteration?.kind === 'repeat' ? undefined : found[0]?.types;
    let next = at;
    const cells = columns.map((column) => this.column(column, types, next++));
    const nested = selects.map((each) => {
      const produce = this.selection(each, types, next);
      next = this.columns.length;
      return produce;
    });
    const branches = unionAll.map((each, i) => this.branch(each, types, next, i > 0));
    const end = this.columns.length;
    const atNode: Produce = (node, rowIndex, run, emit) => {
      spendNode(run, cells.length);
      run.environment.variables['rowIndex'] = placeOf(rowIndex);
      for (const write of cells) write(node, run);
      const union = (): void => {
        if (branches.length === 0) return emit();
        for (const branch of branches) branch(node, rowIndex, run, emit);
      };
      const cross = (i: number): void => {
        const produce = nested[i];
        if (produce === undefined) return union();
        produce(node, rowIndex, run, () => cross(i + 1));
      };
      cross(0);
    };
    if (iteration === undefined || nodes === undefined) return atNode;
    if (iteration.kind === 'repeat') return repeated(nodes, atNode);
    const [path] = nodes;
    const isOrNull = iteration.kind === 'forEachOrNull';
    return (node, rowIndex, run, emit) => {
      run.environment.variables['rowIndex'] = placeOf(rowIndex);
      const items = path?.(node, run.environment) ?? [];
      items.forEach((item, i) => atNode([item], i, run, emit));
      if (items.length > 0 || !isOrNull) return;
      run.row.fill(null, at, end);
      run.environment.variables['rowIndex'] = ofNumber(0);
      for (const [i, column] of columns.entries()) {
        // Of no node the place is 0, and all else is nothing.
        if (column.path.text.trim() === '%rowIndex') run.row[at + i] = 0;
      }
      emit();
    };
  }

  /** A branch of a union. Those after the first have the columns of that one. */
  private branch(selection: Selection, focus: Types, at: number, isOther: boolean): Produce {
    if (!isOther) return this.selection(selection, focus, at);
    const known = this.columns.splice(at);
    const produce = this.selection(selection, focus, at);
    const own = this.columns.splice(at);
    for (const each of known) this.columns.push(each);
    const unlike = own.findIndex(
      ({ kind, isOpen }, i) => known[i]?.isOpen === false && !isOpen && known[i].kind !== kind,
    );
    const { name = '', type = '' } = own[unlike] ?? {};
    if (unlike >= 0)
      this.fault(
        selection.place,
        `has ${type} for the column ${name}, and the branch before it ${known[unlike]?.type}`,
      );
    return produce;
  }

  private column(definition: ColumnDefinition, focus: Types, at: number): (node: Items, run: Run) => void {
    const { name, path, isCollection, sqlType } = definition;
    const { evaluate, types } = this.path(path, focus);
    const [known, ...others] = types ?? [];
    const pathType = others.length === 0 ? known : undefined;
    const type = definition.type ?? pathType;
    const kind = kindOf(type ?? 'string', (each) => this.index.isPrimitive(each));
    const isOpen = type === undefined;
    const declared = definition.type ?? '';
    if (kind === 'object' && declared !== '' && !declared.includes('/') && !this.index.isType(declared)) {
      const meant = pathType === undefined ? '' : `; did you mean ${pathType}?`;
      this.fault(path.place.replace(/path$/, 'type'), `there is no type ${declared}${meant}`);
    }
    if (definition.type === undefined && kind === 'object')
      this.fault(
        path.place,
        `gives ${type ?? ''}, which is no primitive: say so by the type of the column, or take one of its elements`,
      );
    else if (kind === 'object' && this.form !== undefined)
      this.fault(path.place, `gives ${type ?? ''}, which is complex: the format ${this.form} does not hold it`);
    const column: Column = {
      name,
      type: type ?? 'string',
      kind,
      isCollection,
      isOpen,
      ...(pathType !== undefined && { pathType }),
      ...(sqlType !== undefined && { sqlType: sqlType.text }),
    };
    this.columns[at] = column;
    const given = pathType === undefined ? [] : this.index.ancestors(pathType);
    const fits = cellTest(declared, given, this.primitives);
    const form = this.formOf(column, sqlType);
    const refuse = (value: unknown, what: string): never => {
      throw new RowError(`the column ${name} has a value that ${what} (${path.place})`, value);
    };
    const typed = (value: unknown): JsonValue => {
      const made = isOpen ? openCell(value) : cellOf(value, kind);
      return made === undefined ? refuse(value, `is no ${type ?? 'primitive'}`) : made;
    };
    const tested = (value: unknown): JsonValue => {
      const made = typed(value);
      if (fits?.(made) === false) return refuse(value, `is no ${declared}`);
      if (form !== undefined && form.convert(made) === undefined)
        return refuse(value, `${describeForm(column)} does not hold`);
      return made;
    };
    // Most columns need no test, and each cell is made here.
    const cell = fits === undefined && form === undefined ? typed : tested;
    return (node, run) => {
      const items = evaluate(node, run.environment);
      const [first] = items;
      if (!isCollection && items.length <= 1) {
        run.row[at] = first?.value === undefined ? null : cell(first.value);
        return;
      }
      // A primitive that has only extensions has no value.
      const cells = items.flatMap(({ value }) => (value === undefined ? [] : [cell(value)]));
      if (!isCollection && cells.length > 1) {
        throw new RowError(
          `the column ${name} has ${cells.length} values (${path.place}); with collection it would take them as a list`,
        );
      }
      run.row[at] = isCollection ? cells : (cells[0] ?? null);
    };
  }

  /** Finds the form that has to hold the cells of a column besides its type; undefined: none. */
  private formOf(column: Column, sqlType: ViewPath | undefined): Form | undefined {
    if (sqlType !== undefined && sqlForm(sqlType.text) === undefined) {
      const found = this.form === undefined ? this.warnings : this.faults;
      found.push({ place: sqlType.place, text: `${quote(sqlType.text)} ${NOT_UNDERSTOOD}` });
      return undefined;
    }
    if (this.form === undefined || column.kind === 'object') return undefined;
    if (this.form === 'fhir' && sqlType === undefined) return undefined;
    const form = formOf(column);
    return form === TEXT ? undefined : form;
  }

  /** A path of `where`. */
  condition(path: ViewPath): (focus: Items, environment: Environment) => boolean {
    const { evaluate, types } = this.path(path, [this.rootType()]);
    if (types !== undefined && !types.includes('boolean'))
      this.fault(path.place, `gives ${types.slice(0, 5).join('|')}, and neither true nor false; write = or exists()`);
    return (focus, environment) => {
      const [only, ...others] = evaluate(focus, environment);
      if (only === undefined) return false;
      if (others.length > 0 || typeof only.value !== 'boolean')
        throw new RowError(
          `${path.place} is neither true nor false: it has ${others.length + 1} values, or one of another type`,
        );
      return only.value;
    };
  }

  private rootType(): string {
    return this.vocabulary.variables.get('resource')?.[0] ?? '';
  }

  private path({ text, place }: ViewPath, focus: Types): { readonly evaluate: Evaluate; readonly types: Types } {
    try {
      const expression = parseExpression(text);
      refuseCalls(expression);
      return { evaluate: compileExpression(text, this.names), types: this.typesOf(expression, focus, place) };
    } catch (error) {
      if (!(error instanceof ExpressionError) && !(error instanceof RangeError)) throw error;
      this.fault(place, error.message.slice(0, 500));
      return { evaluate: () => [], types: undefined };
    }
  }

  /** Types of the values of a path; undefined: they are unknown, also where the path has a name that FHIR does not know. */
  private typesOf(expression: Expression, focus: Types, place: string): Types {
    const known = resultOf(expression);
    if (focus === undefined) return known;
    try {
      const [root = ''] = focus;
      const found = focus.length === 1 ? checkNames(expression, root, this.index, this.vocabulary) : undefined;
      return found ?? known;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      this.warnings.push({ place, text: error.message.slice(0, 500) });
      return known;
    }
  }

  private fault(place: string, text: string): void {
    this.faults.push({ place, text });
  }
}

/** Counts a node that a selection visits, and the cells that it writes there. @throws RowError */
function spendNode(run: Run, cells: number): void {
  run.cells += cells;
  if (++run.nodes > MOST.nodes) throw new RowError(`has more than ${MOST.nodes} nodes to visit`);
  if (run.nodes % LOOK === 0 && performance.now() > run.end) throw new RowError('takes too long');
}

/** Counts the cells of a row, and their characters. @throws RowError */
function spendRow(run: Run): void {
  run.cells += run.row.length;
  for (const cell of run.row) run.characters += sizeOf(cell);
  if (run.cells > MOST.cells) throw new RowError(`has more than ${MOST.cells} cells`);
  if (run.characters > MOST.characters) throw new RowError(`has more than ${MOST.characters} characters in its cells`);
}

function sizeOf(cell: JsonValue): number {
  if (typeof cell === 'string') return cell.length;
  if (typeof cell !== 'object' || cell === null) return 1;
  return Array.isArray(cell) ? cell.reduce<number>((sum, each) => sum + sizeOf(each), 0) : writeJson(cell).length;
}

function placeOf(rowIndex: number): Items {
  return rowIndex === 0 ? FIRST : ofNumber(rowIndex);
}

/** All that paths reach from a node, and from what they reach, depth first. */
function repeated(paths: readonly Evaluate[], atNode: Produce): Produce {
  return (node, rowIndex, run, emit) => {
    let place = 0;
    const walk = (focus: Items, depth: number): void => {
      if (depth > MOST.depth) throw new RowError(`repeat goes more than ${MOST.depth} levels deep`);
      for (const path of paths) {
        run.environment.variables['rowIndex'] = ofNumber(depth === 0 ? rowIndex : place);
        for (const item of path(focus, run.environment)) {
          atNode([item], place++, run, emit);
          walk([item], depth + 1);
        }
      }
    };
    walk(node, 0);
  };
}

/** @throws ExpressionError */
function refuseCalls(expression: Expression): void {
  if (expression.kind === 'call' && Object.hasOwn(REFUSED, expression.name))
    throw new ExpressionError(`${expression.name}() cannot be called here: ${REFUSED[expression.name]}`);
  for (const each of operandsOf(expression)) refuseCalls(each);
}

/** Types of what functions and literals give, whatever they are called on. */
const RESULTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'empty exists not all allTrue anyTrue allFalse anyFalse isDistinct hasValue startsWith endsWith contains matches subsetOf'
      .split(' ')
      .map((name) => [name, 'boolean']),
  ),
  ...Object.fromEntries(
    ['count', 'length', 'indexOf', 'toInteger', 'ceiling', 'floor', 'truncate'].map((name) => [name, 'integer']),
  ),
  ...Object.fromEntries(
    'getResourceKey getReferenceKey join upper lower trim substring replace toString split toChars'
      .split(' ')
      .map((name) => [name, 'string']),
  ),
  ...{ toBoolean: 'boolean', toDecimal: 'decimal', toDate: 'date', toDateTime: 'dateTime', toTime: 'time' },
  ...{ now: 'dateTime', today: 'date', timeOfDay: 'time' },
};

function resultOf(expression: Expression): Types {
  if (expression.kind === 'literal') return [typeof expression.value === 'string' ? 'string' : 'boolean'];
  if (expression.kind === 'number') return [expression.text.includes('.') ? 'decimal' : 'integer'];
  if (expression.kind !== 'call' || !Object.hasOwn(RESULTS, expression.name)) return undefined;
  return [RESULTS[expression.name] ?? 'string'];
}
