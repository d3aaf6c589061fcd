import { isObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { ExpressionError } from '../path/expression/expression-error.js';
import { parseExpression, type Expression } from '../path/expression/parse.js';
import { formsOf, type TypeIndex } from '../path/expression/type-index.js';
import { checkExpression, parseLimited } from '../path/expression/check.js';
import { givesOne } from '../path/expression/gives-one.js';
import type { ElementPath } from '../store/store.js';
import { beginEvaluation, compileLibrary, type Evaluation } from '../path/library/evaluate.js';
import { StatementError, type ColumnType } from './statement.js';

/** A resource whose values are asked for. */
export interface Row {
  readonly resource: Resource;
  /** What the FHIRPath library needs of it, which is prepared when it is first asked. */
  evaluation?: Evaluation;
}

/** An expression that was compiled. */
export interface ColumnPath {
  /** Types of its values; undefined: they are unknown. */
  readonly types: readonly string[] | undefined;
  /** Whether a resource may have several values. */
  readonly isList: boolean;
  /** Where a store finds its only value, which is a text in JSON; absent: it cannot say. */
  readonly stored?: ElementPath;
  /** @throws StatementError where the expression fails on this resource */
  values(row: Row): readonly unknown[];
}

/** Types of FHIR that columns of their own type stand for. */
const COLUMN_TYPES: Readonly<Record<string, ColumnType>> = {
  boolean: 'BOOLEAN',
  date: 'DATE',
  dateTime: 'TIMESTAMP',
  instant: 'TIMESTAMP',
  decimal: 'DECIMAL',
  integer: 'INTEGER',
  positiveInt: 'INTEGER',
  unsignedInt: 'INTEGER',
  integer64: 'LONGINT',
  time: 'TIME',
};

/** The type of a column. @param isGrouped its values count one by one */
export function columnTypeOf(clause: string, { types, isList }: ColumnPath, isGrouped = false): ColumnType {
  if (/\.toInteger\(\s*\)$/.test(clause)) return 'INTEGER';
  if (isList && !isGrouped) return 'JSON';
  if (/(?:^|\.)meta\.versionId$/.test(clause)) return 'LONGINT';
  const [type, ...others] = types ?? [];
  return type === undefined || others.length > 0 ? 'STRING' : (COLUMN_TYPES[type] ?? 'STRING');
}

/**
 * Compiles an expression: what has only names, indexes and `ofType` by ourselves, all else with the FHIRPath library.
 *
 * @param root the resource type that it starts from
 * @throws StatementError where it is no FHIRPath, or names what the type does not have
 */
export function compileColumn(text: string, root: string, types: TypeIndex): ColumnPath {
  let parsed: Expression | undefined;
  try {
    parsed = parseExpression(text);
  } catch (error) {
    // What our parser does not know, the library may.
    if (!(error instanceof ExpressionError) && !(error instanceof RangeError)) throw error;
  }
  const own = parsed && compileOwn(parsed, root, types, text);
  return own ?? compileByLibrary(text, root, types);
}

/** A value and its type. */
interface Typed {
  readonly value: JsonValue;
  readonly type: string;
}

interface OwnPath {
  readonly types: readonly string[];
  readonly isList: boolean;
  /** The way to its values in JSON, as far as each element on it has one value, but for a list at its end. */
  readonly stored?: ElementPath;
  find(resource: Resource): readonly Typed[];
}

function compileOwn(expression: Expression, root: string, types: TypeIndex, text: string): ColumnPath | undefined {
  const path = ownPath(expression, root, types, text);
  if (path === undefined) return undefined;
  const { find, isList, stored } = path;
  const [type, ...others] = path.types;
  const isText = others.length === 0 && type !== undefined && isTextual(type);
  return {
    types: path.types,
    isList,
    ...(isText && !isList && stored !== undefined && { stored }),
    values: ({ resource }) => find(resource).map(({ value }) => value),
  };
}

/** Whether values of a type are texts in JSON. https://hl7.org/fhir/R5/json.html#primitive */
function isTextual(type: string): boolean {
  return isPrimitive(type) && !['BOOLEAN', 'DECIMAL', 'INTEGER'].includes(COLUMN_TYPES[type] ?? 'STRING');
}

/** Names of primitive types alone begin with a small letter. https://hl7.org/fhir/R5/datatypes.html */
function isPrimitive(type: string): boolean {
  return /^[a-z]/.test(type);
}

/** Undefined: it has what only the library knows. */
function ownPath(expression: Expression, root: string, index: TypeIndex, text: string): OwnPath | undefined {
  const start: OwnPath = {
    types: [root],
    isList: false,
    stored: [],
    find: (resource) => [{ value: resource, type: root }],
  };
  if (expression.kind === 'name') {
    if (expression.of === undefined) {
      if (expression.name === root) return start;
      return child(start, expression.name, index, text);
    }
    const of = ownPath(expression.of, root, index, text);
    return of && child(of, expression.name, index, text);
  }
  if (expression.kind === 'index') return at(ownPath(expression.of, root, index, text), expression.at);
  if (expression.kind === 'type' && expression.operator === 'as') {
    return narrowed(ownPath(expression.of, root, index, text), expression.type);
  }
  if (expression.kind !== 'call' || expression.of === undefined) return undefined;
  const { name, args } = expression;
  const of = ownPath(expression.of, root, index, text);
  const [only] = args;
  if (name === 'first' && args.length === 0) return at(of, 0);
  if (name === 'last' && args.length === 0) return at(of, -1);
  if ((name === 'ofType' || name === 'as') && args.length === 1 && only?.kind === 'name' && only.of === undefined) {
    return narrowed(of, only.name);
  }
  return undefined;
}

function child(
  { types, isList, find, stored }: OwnPath,
  name: string,
  index: TypeIndex,
  text: string,
): OwnPath | undefined {
  // What may be any resource may have anything; the library knows what is beside a primitive.
  if (types.some((type) => index.isAbstract(type) || index.beside(type, name) !== undefined)) return undefined;
  const known = types.map((type) => [type, index.element(type, name)] as const);
  const elements = known.flatMap(([, element]) => (element === undefined ? [] : [element]));
  if (elements.length === 0) throw unknownElement(types, name, text);
  const isOneName = types.length === 1 && elements.every(({ choice }) => choice !== true);
  const forms = new Map(known.map(([type, element]) => [type, element === undefined ? [] : formsOf(element)]));
  return {
    types: [...new Set(elements.flatMap((each) => each.types))],
    isList: isList || elements.some(({ max }) => max === '*'),
    ...(stored !== undefined && !isList && isOneName && { stored: [...stored, name] }),
    find: (resource) =>
      find(resource).flatMap(({ value, type }) =>
        isObject(value) ? (forms.get(type) ?? []).flatMap(([json, each]) => typed(value[json], each)) : [],
      ),
  };
}

function typed(value: JsonValue | undefined, type: string): readonly Typed[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [{ value, type }];
  return value.flatMap((each) => (each === null ? [] : [{ value: each, type }]));
}

function at(path: OwnPath | undefined, place: number): OwnPath | undefined {
  if (path === undefined) return undefined;
  const { types, find, isList, stored } = path;
  const one = (resource: Resource): readonly Typed[] => {
    const found = find(resource).at(place);
    return found === undefined ? [] : [found];
  };
  // Lists of primitives have places for what has nothing but extensions, which are no values.
  const isPlace = isList && place >= 0 && !types.some(isPrimitive);
  const way = isPlace ? stored && [...stored, place] : isList || place > 0 ? undefined : stored;
  return { types, isList: false, ...(way !== undefined && { stored: way }), find: one };
}

function narrowed(path: OwnPath | undefined, type: string): OwnPath | undefined {
  if (path?.types.includes(type) !== true) return undefined;
  return {
    types: [type],
    isList: path.isList,
    find: (resource) => path.find(resource).filter((each) => each.type === type),
  };
}

function compileByLibrary(text: string, root: string, index: TypeIndex): ColumnPath {
  let types: readonly string[] | undefined;
  try {
    types = checkExpression(text, root, index);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new StatementError(`${text.slice(0, 200)}: ${error.message}`);
  }
  const run = compileLibrary(text);
  const isOne = (name: string): boolean => {
    const element = index.element(root, name);
    return element !== undefined && element.max !== '*';
  };
  const isBoolean = types?.length === 1 && types[0] === 'boolean';
  return {
    types,
    isList: !isBoolean && !givesOne(parseLimited(text), isOne),
    values: (row) => {
      try {
        row.evaluation ??= beginEvaluation(row.resource);
        return run(row.resource, row.evaluation).map(({ value }) => value);
      } catch (error) {
        const id = String(row.resource['id']);
        const why = error instanceof Error ? error.message : String(error);
        throw new StatementError(`${text.slice(0, 200)} fails on ${row.resource.resourceType}/${id}: ${why}`);
      }
    },
  };
}

function unknownElement(types: readonly string[], name: string, text: string): StatementError {
  const where = types.slice(0, 5).join('|');
  return new StatementError(`${text.slice(0, 200)}: ${where} has no element ${JSON.stringify(name.slice(0, 64))}`);
}
