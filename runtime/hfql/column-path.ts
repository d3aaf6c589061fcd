import type { PathStep } from '../contract/search.js';
import type { Resource } from '../fhir/resource.js';
import { compilePath } from '../path/compile-path.js';
import { compileBranch, type CompiledPath } from '../path/expression/compile.js';
import { ExpressionError } from '../path/expression/expression-error.js';
import type { TypeIndex } from '../path/expression/type-index.js';
import { checkExpression, parseLimited, typesOf } from '../path/expression/check.js';
import { givesOne, type ElementName } from '../path/expression/gives-one.js';
import type { ElementPath } from '../store/store.js';
import { compileParsed } from '../path/evaluate/compile-expression.js';
import type { Environment } from '../path/evaluate/environment.js';
import { beginEvaluation, evaluateOn } from '../path/evaluate/evaluate-on.js';
import { createSchema } from '../path/evaluate/schema.js';
import { StatementError, type ColumnType } from './statement.js';

/** A resource whose values are asked for. */
export interface Row {
  readonly resource: Resource;
  /** Environment of the expressions on it that are no paths, once there was one. */
  evaluation?: Environment;
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

/** Values that the expressions of a statement may look at on one resource. */
const BUDGET = 1_000_000;

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
 * Compiles an expression: to steps where it has no more than these do; all else is evaluated.
 *
 * @param root the resource type that it starts from
 * @throws StatementError where it is no FHIRPath, or names what the type does not have
 */
export function compileColumn(text: string, root: string, types: TypeIndex): ColumnPath {
  let path: CompiledPath;
  try {
    path = compileBranch(text, root, types);
  } catch (error) {
    // What steps do not have, an evaluation may; its check says what is wrong.
    if (!(error instanceof ExpressionError) && !(error instanceof RangeError)) throw error;
    return compileEvaluated(text, root, types);
  }
  const visit = compilePath({ text, ...path });
  const { isList, stored } = shapeOf(path.steps, root, types);
  const [type, ...others] = path.types;
  const isText = others.length === 0 && type !== undefined && isTextual(type);
  return {
    types: path.types,
    isList,
    ...(isText && !isList && stored !== undefined && { stored }),
    values: ({ resource }) => {
      const found: unknown[] = [];
      visit(resource, (value) => found.push(value));
      return found;
    },
  };
}

/** Whether steps reach several values, and the way to their only one in JSON, as far as each element on it has one value. */
function shapeOf(steps: readonly PathStep[], root: string, index: TypeIndex): Pick<ColumnPath, 'isList' | 'stored'> {
  let type = root;
  let isList = false;
  let way: ElementPath | undefined = [];
  for (const step of steps) {
    if ('get' in step || 'choose' in step) {
      const [name = ''] = 'get' in step ? [step.get] : Object.keys(step.choose);
      const member = index.members(type).get(name);
      way = 'get' in step && !isList ? way && [...way, name] : undefined;
      isList ||= member?.element.max === '*';
      type = member?.type ?? type;
    } else if ('index' in step) {
      // Lists of primitives have places for what has nothing but extensions, which are no values.
      const isPlace = isList && !isPrimitive(type);
      way = isPlace ? way && [...way, step.index] : isList || step.index > 0 ? undefined : way;
      isList = false;
    } else if ('notFalse' in step) return { isList: false };
    else if ('union' in step) return { isList: true };
    else {
      way = undefined;
      isList ||= 'extension' in step;
      type = 'extension' in step ? 'Extension' : 'is' in step ? step.is : type;
    }
  }
  return { isList, ...(way !== undefined && { stored: way }) };
}

/** Whether values of a type are texts in JSON. https://hl7.org/fhir/R5/json.html#primitive */
function isTextual(type: string): boolean {
  return isPrimitive(type) && !['BOOLEAN', 'DECIMAL', 'INTEGER'].includes(COLUMN_TYPES[type] ?? 'STRING');
}

/** Names of primitive types alone begin with a small letter. https://hl7.org/fhir/R5/datatypes.html */
function isPrimitive(type: string): boolean {
  return /^[a-z]/.test(type);
}

function compileEvaluated(text: string, root: string, index: TypeIndex): ColumnPath {
  let types: readonly string[] | undefined;
  try {
    types = checkExpression(text, root, index);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new StatementError(`${text.slice(0, 200)}: ${error.message}`);
  }
  const evaluate = compileParsed(parseLimited(text));
  const schema = createSchema(index);
  const isOne = ({ name, of }: ElementName): boolean => {
    if (of !== undefined && !givesOne(of, isOne)) return false;
    if (of === undefined && name === root) return true;
    const all = of === undefined ? [root] : (typesOf(of, root, index) ?? []);
    const elements = all.flatMap((type) => index.element(type, name) ?? []);
    return elements.length > 0 && elements.every(({ max }) => max !== '*');
  };
  const isBoolean = types?.length === 1 && types[0] === 'boolean';
  return {
    types,
    isList: !isBoolean && !givesOne(parseLimited(text), isOne),
    values: (row) => {
      try {
        row.evaluation ??= beginEvaluation(row.resource, schema, BUDGET);
        return evaluateOn(evaluate, row.resource, root, row.evaluation).map(({ value }) => value);
      } catch (error) {
        const id = String(row.resource['id']);
        const why = error instanceof Error ? error.message : String(error);
        throw new StatementError(`${text.slice(0, 200)} fails on ${row.resource.resourceType}/${id}: ${why}`);
      }
    },
  };
}
