import type { ServiceTables } from '../core/services.js';
import type { Resource } from '../fhir/resource.js';
import { indexRows } from '../path/expression/type-index.js';
import { searchDefinitions } from '../indexing/definitions.js';
import { columnTypeOf, compileColumn, type ColumnPath, type Row } from './column-path.js';
import { fieldText } from './csv.js';
import { columnsOf } from './elements.js';
import type { RawItem, RawStatement } from './parse-statement.js';
import { planWhere, type Plan } from './plan.js';
import { literalText, StatementError, type SelectItem, type Statement, type WhereItem } from './statement.js';

/** A statement that can be run. */
export interface CompiledStatement {
  readonly statement: Statement;
  readonly plan: Plan;
  /** Of each column; undefined: it counts all resources. */
  readonly columns: readonly (ColumnPath | undefined)[];
  /** Of each item of GROUP BY. */
  readonly groups: readonly ColumnPath[];
  /** Whether there are groups to count or to list. */
  readonly isGrouped: boolean;
  /** Places of the columns that the result is sorted by. */
  readonly order: readonly { readonly column: number; readonly ascending: boolean }[];
  /** Whether a resource fulfills the conditions that the search does not decide. */
  fulfills(row: Row): boolean;
}

/**
 * Checks a statement against the definitions and compiles its expressions.
 *
 * @throws StatementError
 */
export function compileStatement(raw: RawStatement, tables: ServiceTables): CompiledStatement {
  const index = indexRows(tables.types, tables.primitives);
  const { fromResourceName: type, groupBy } = raw;
  const compile = (text: string): ColumnPath => compileColumn(text, type, index);
  const isGrouped = groupBy.length > 0 || raw.select.some(({ operator }) => operator === 'COUNT');
  const items = named(raw.select.flatMap((item) => expanded(item, type, tables)));
  const columns = items.map(({ clause, operator }) =>
    operator === 'COUNT' && clause === '*' ? undefined : compile(clause),
  );
  if (isGrouped) checkGrouped(items, groupBy);
  const select = items.map((item, i): SelectItem => {
    const path = columns[i];
    const isCount = item.operator === 'COUNT' || path === undefined;
    return { ...item, dataType: isCount ? 'INTEGER' : columnTypeOf(item.clause, path, isGrouped) };
  });
  const statement = { ...raw, select };
  const plan = planWhere(raw, searchDefinitions(tables).rowsOf(type));
  const tests = plan.filters.map((each) => testOf(each, compile));
  return {
    statement,
    plan,
    columns,
    groups: groupBy.map(compile),
    isGrouped,
    order: raw.orderBy.map(({ clause, ascending }) => ({ column: columnOf(clause, select), ascending })),
    fulfills: (row) => tests.every((test) => test(row)),
  };
}

/** `*` as the columns of the table. */
function expanded(item: RawItem, type: string, tables: ServiceTables): readonly RawItem[] {
  if (item.clause !== '*' || item.operator === 'COUNT') return [item];
  return columnsOf(type, tables.types).map((clause) => ({ clause, operator: 'SELECT' }));
}

/** Gives each item the name of its column. @throws StatementError for a name that is given twice */
function named(items: readonly RawItem[]): readonly Omit<SelectItem, 'dataType'>[] {
  const given = new Set<string>();
  for (const { alias } of items) {
    if (alias === undefined) continue;
    if (given.has(alias)) throw new StatementError(`Two columns have the name ${JSON.stringify(alias.slice(0, 64))}`);
    given.add(alias);
  }
  return items.map((item) => {
    if (item.alias !== undefined) return { ...item, alias: item.alias };
    const own = item.operator === 'COUNT' ? `COUNT(${item.clause})` : item.clause;
    let alias = own;
    for (let i = 2; given.has(alias); i++) alias = own + i;
    given.add(alias);
    return { ...item, alias };
  });
}

function checkGrouped(items: readonly Pick<SelectItem, 'clause' | 'operator'>[], groupBy: readonly string[]): void {
  const loose = items.find(({ clause, operator }) => operator === 'SELECT' && !groupBy.includes(clause));
  if (loose === undefined) return;
  const text = `${JSON.stringify(loose.clause.slice(0, 64))} is neither counted nor in GROUP BY`;
  throw new StatementError(`${text}; beside COUNT and with GROUP BY every column has to be`);
}

function columnOf(clause: string, select: readonly SelectItem[]): number {
  const isCount = /^COUNT\(/i.test(clause);
  const found = select.findIndex(
    ({ alias, clause: own, operator }) =>
      alias === clause || (operator === 'COUNT' ? isCount && clause === `COUNT(${own})` : own === clause),
  );
  if (found >= 0) return found;
  const names = select.map(({ alias }) => alias).join(', ');
  throw new StatementError(
    `ORDER BY names ${JSON.stringify(clause.slice(0, 64))}, which is no column of the result; these are: ${names.slice(0, 500)}`,
  );
}

/** The test of a condition: an equality holds where one of the values is equal. */
function testOf({ left, operator, right }: WhereItem, compile: (text: string) => ColumnPath): (row: Row) => boolean {
  const path = compile(left);
  if (operator === 'UNARY_BOOLEAN') {
    if (path.types?.includes('boolean') === false) {
      const name = left.slice(0, 200);
      const text = `${name} is no condition: it is ${path.types.slice(0, 5).join('|')}, and neither true nor false`;
      throw new StatementError(`${text}; write ${name} = '…' or ${name}.exists()`);
    }
    return (row) => {
      const [value, ...others] = path.values(row);
      return value === true && others.length === 0;
    };
  }
  const wanted = new Set(right.map(literalText));
  return (row) => path.values(row).some((value) => wanted.has(fieldText(value)));
}

/** The fields of a resource. */
export function fieldsOf({ columns, statement }: CompiledStatement, row: Row): string[] {
  return columns.map((path, i) => {
    const values = path?.values(row) ?? [];
    if (statement.select[i]?.dataType === 'JSON') return values.length === 0 ? '' : fieldText(values);
    return fieldText(values[0]);
  });
}

/** A resource as a row. */
export function rowOf(resource: Resource): Row {
  return { resource };
}
