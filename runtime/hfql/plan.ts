import type { SearchRow } from '../contract/search.js';
import { narrowByPath, type NarrowingParameter } from '../search/narrow-by-path.js';
import { escapeValue } from '../search/parse/parse-value.js';
import { unknownParameter } from '../search/parse/unknown-parameter.js';
import { StatementError, literalText, type Statement, type WhereItem } from './statement.js';

/** How the conditions of a statement are answered. */
export interface Plan {
  /** Parameters that decide conditions: what the search finds fulfills these. */
  readonly required: readonly NarrowingParameter[];
  /** Parameters that only narrow the search: `filters` has their conditions, too. */
  readonly helping: readonly NarrowingParameter[];
  /** Conditions that each resource found is tested by. */
  readonly filters: readonly WhereItem[];
}

const LAST_UPDATED = 'meta.lastUpdated';

/** The prefix of a search for each comparison of FHIRPath. https://hl7.org/fhir/R5/search.html#prefix */
const PREFIXES: Readonly<Record<string, string>> = {
  '=': 'eq',
  '!=': 'ne',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
  '~': 'ap',
};

const COMPARED = /^meta\.lastUpdated\s*(=|!=|<=|>=|<|>|~)\s*(?:@([0-9T:.+Z-]+)|'([^']+)')$/;

/**
 * Decides what the search answers. Ids, `meta.lastUpdated` and `search_match` are left to it; an equality that a search parameter of
 * the same path finds narrows it, and is tested on what it finds, so that both agree to the letter.
 *
 * @param rows search parameters of the type
 * @throws StatementError for parameters that `search_match` does not take
 */
export function planWhere(
  { where, fromResourceName }: Pick<Statement, 'where' | 'fromResourceName'>,
  rows: ReadonlyMap<string, SearchRow>,
): Plan {
  const required: NarrowingParameter[] = [];
  const helping: NarrowingParameter[] = [];
  const filters: WhereItem[] = [];
  for (const item of where) {
    const own = decided(item, rows);
    if (own !== undefined) {
      required.push(own);
      continue;
    }
    filters.push(item);
    const narrowing = narrows(item, fromResourceName, rows);
    if (narrowing !== undefined) helping.push(narrowing);
  }
  return { required, helping, filters };
}

/** The parameter that decides a condition alone; undefined: none does. */
function decided(
  { left, operator, right }: WhereItem,
  rows: ReadonlyMap<string, SearchRow>,
): NarrowingParameter | undefined {
  if (operator === 'SEARCH_MATCH') return matching(right, rows);
  if (operator === 'UNARY_BOOLEAN') {
    const [, comparison = '', date, text] = COMPARED.exec(left) ?? [];
    const prefix = PREFIXES[comparison];
    return prefix === undefined ? undefined : ['_lastUpdated', `${prefix}${date ?? text}`];
  }
  const parameter = left === LAST_UPDATED ? '_lastUpdated' : left === 'id' ? '_id' : undefined;
  return parameter && [parameter, right.map((each) => escapeValue(literalText(each))).join(',')];
}

/** The parameters of all types that `search_match` takes: the others are about the form of the answer, or are no conditions of one type. */
const COMMON: ReadonlySet<string> = new Set(['_id', '_lastUpdated', '_has']);

function matching(right: readonly string[], rows: ReadonlyMap<string, SearchRow>): NarrowingParameter {
  const [name = '', value = ''] = right.map(literalText);
  const code = /^[^:.]*/.exec(name)?.[0] ?? '';
  if (code.startsWith('_') && !COMMON.has(code)) {
    throw new StatementError(
      `search_match does not take ${JSON.stringify(name.slice(0, 64))}; of the parameters of all types it takes _id, _lastUpdated and _has`,
    );
  }
  if (!code.startsWith('_') && !rows.has(code)) {
    const isTaken = (each: string): boolean => !each.startsWith('_') || COMMON.has(each);
    throw new StatementError(unknownParameter(name, code, rows, isTaken).message);
  }
  return [name, value];
}

/** A parameter that finds all resources that fulfill an equality, and perhaps others; undefined: there is none. */
function narrows(
  { left, operator, right }: WhereItem,
  type: string,
  rows: ReadonlyMap<string, SearchRow>,
): NarrowingParameter | undefined {
  if (operator !== 'EQUALS' && operator !== 'IN') return undefined;
  const path = left.startsWith(`${type}.`) ? left : `${type}.${left}`;
  return narrowByPath({ path, operator: '=', values: right.map(literalText) }, rows);
}
