import { FhirError } from '../../fhir/errors.js';
import { isLink } from '../../search/query/criterion.js';
import { searchDefinitions, type SearchTables } from '../../indexing/definitions.js';
import { findRow, parseCriterion } from '../../search/parse/parse-criterion.js';
import { hasPrefix } from '../../search/query/intervals.js';
import type { Condition } from '../../search/query/query.js';
import { splitAt } from '../../search/parse/parse-value.js';
import { codesOf, suggest } from '../../search/parse/unknown-parameter.js';
import { isWords } from '../../indexing/parameter-kinds.js';
import type { SearchRow, SearchType } from '../../contract/search.js';
import type { OwnBases } from '../../path/own-bases.js';
import type { Zone } from '../../indexing/values/zone.js';
import type { Pair } from './scope.js';

/** Settings of the reader of constraints. */
export interface ConstraintSettings {
  readonly tables: SearchTables;
  /** Where dates without an offset are read. */
  readonly zone: Zone;
  /** By which references lead to resources here. */
  readonly own: OwnBases;
}

/** Reads what a scope asks of a resource of a type (`*`: of any). */
export interface ConstraintReader {
  /** Whether a pair can be in a constraint on a type. */
  accepts(type: string, name: string, value: string): boolean;
  /** Why it cannot, for who registers a client; undefined: it can. */
  fault(type: string, name: string, value: string): string | undefined;
  /** All pairs together; undefined where one of them cannot be there, so that the scope means nothing. */
  read(type: string, pairs: readonly Pair[]): Condition | undefined;
}

/** Alternatives in one value of a constraint. */
const MAX_ALTERNATIVES = 64;

/** What would need other resources to be decided. */
const LINKED = 'a constraint is decided by the resource alone: no chain, no _has, _in, _list or _filter';

/** Parameters that other resources decide on, or may. */
const ELSEWHERE: ReadonlySet<string> = new Set(['_in', '_list', '_filter']);

/** Types of parameters whose values may have a prefix. */
const PREFIXED: ReadonlySet<SearchType> = new Set<SearchType>(['number', 'date', 'quantity']);

/**
 * Reads constraints as searches: any search parameter of the type, its name bare (no modifier, no chain), its values
 * without prefixes. What other resources decide on (`_in`, `_list`, `_has`) cannot be there, nor what says how
 * results are shown, so that a resource with its index entries decides alone.
 */
export function createConstraintReader({ tables, zone, own }: ConstraintSettings): ConstraintReader {
  const definitions = searchDefinitions(tables);
  // What all types have.
  const rowsOf = (type: string): ReadonlyMap<string, SearchRow> => definitions.rowsOf(type === '*' ? 'Resource' : type);
  /** The condition, or what is wrong. */
  const readPair = (type: string, [name, value]: Pair): Condition | string => {
    const rows = rowsOf(type);
    if (name.includes('.') || name.startsWith('_has:')) return LINKED;
    if (name.includes(':')) return `the name in a constraint has no modifier (${name})`;
    try {
      const row = findRow(name, rows);
      const why = whyNoBound(row);
      if (why !== undefined) return why;
      if (valueHasPrefix(row, value)) return `the value in a constraint has no prefix (${name}=${value})`;
      const condition = parseCriterion(name, value, {
        rows,
        isResourceType: definitions.isResourceType,
        zone,
        // Only a prefix asks for it.
        now: 0,
        own,
        maxAlternatives: MAX_ALTERNATIVES,
      });
      return isLink(condition) ? LINKED : condition;
    } catch (error) {
      if (error instanceof FhirError) return error.message;
      throw error;
    }
  };
  return {
    accepts: (type, name, value) => typeof readPair(type, [name, value]) !== 'string',
    fault(type, name, value) {
      const rows = rowsOf(type);
      const isExcluded = (code: string): boolean => whyNoBound(rows.get(code)) !== undefined;
      const codes = codesOf(rows).filter((code) => !isExcluded(code));
      if (/^\w[^:.]*$/.test(name) && !codes.includes(name) && !isExcluded(name)) {
        return `${type === '*' ? 'not all types have' : `${type} has no`} search parameter "${name}"; ${suggest(name, codes)}`;
      }
      const read = readPair(type, [name, value]);
      return typeof read === 'string' ? read : undefined;
    },
    read(type, pairs) {
      const conditions = pairs.map((pair) => readPair(type, pair));
      const read = conditions.filter((each) => typeof each !== 'string');
      if (read.length < conditions.length) return undefined;
      return read.length === 1 ? read[0] : { all: read };
    },
  };
}

/** Why no constraint goes by a parameter; undefined: one can. */
function whyNoBound(row: SearchRow | undefined): string | undefined {
  if (row !== undefined && ELSEWHERE.has(row.code)) return LINKED;
  return row !== undefined && (isWords(row) || row.type === 'special')
    ? `a constraint cannot go by ${row.code}`
    : undefined;
}

function valueHasPrefix(row: SearchRow, value: string): boolean {
  const { type, components = [] } = row;
  return splitAt(value, ',').some((alternative) => {
    if (type !== 'composite') return PREFIXED.has(type) && hasPrefix(alternative);
    const parts = splitAt(alternative, '$');
    return components.some((component, i) => PREFIXED.has(component.type) && hasPrefix(parts[i] ?? ''));
  });
}
