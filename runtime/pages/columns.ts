import type { ElementRow, Tables, TypeRow } from '../contract/index.js';
import type { PathRow } from '../contract/search.js';
import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';
import { displayOf, referenceIn } from './display.js';
import type { LinkOf } from './links.js';

/** A column of a table of resources: an element. */
export interface Column {
  readonly name: string;
  /** Its names in JSON: several for a choice element. */
  readonly keys: readonly string[];
}

/** A value in a table. */
export interface Cell {
  readonly text: string;
  readonly link: string | undefined;
  /** It fits on one line. */
  readonly isShort: boolean;
}

/** Characters of a text that is not broken. */
const SHORT = 12;

/** Columns of a table, beside those that all resources have. */
const AT_MOST = 6;

/** How much a short text of each type says about a resource. Types without a number say nothing short. */
const WEIGHTS: Readonly<Record<string, number>> = {
  HumanName: 5,
  code: 3,
  CodeableConcept: 3,
  CodeableReference: 3,
  date: 3,
  dateTime: 3,
  instant: 3,
  Period: 3,
  Quantity: 3,
  string: 3,
  Reference: 2.5,
  Identifier: 2,
  boolean: 1,
  uri: 1,
};

/** What the cardinality of an element adds: required elements say what matters, and single ones fit into a cell. */
const REQUIRED = 3;
const SINGLE = 1;

const known = new WeakMap<readonly TypeRow[], Map<string, readonly Column[]>>();

/** The elements of the summary that say most of a resource of this type, in the order of the definition. */
export function columnsOf(type: string, { types }: Pick<Tables, 'types'>): readonly Column[] {
  const ofTables = known.get(types) ?? new Map<string, readonly Column[]>();
  known.set(types, ofTables);
  const columns = ofTables.get(type) ?? chooseColumns(type, types);
  ofTables.set(type, columns);
  return columns;
}

/** Columns of the elements that a search asks for, in the order of the definition. @param names as `_elements` has them */
export function columnsNamed(type: string, names: readonly string[], tables: Pick<Tables, 'types'>): readonly Column[] {
  return allColumns(type, tables).filter(({ name }) => names.includes(name));
}

/** Every element of a type, without those that all resources have. */
export function allColumns(type: string, { types }: Pick<Tables, 'types'>): readonly Column[] {
  return (types.find((row) => row.name === type)?.elements ?? []).map(columnOf);
}

/** Kinds of parameters that results are sorted by here. */
const SORTED: ReadonlySet<string> = new Set(['date', 'number', 'quantity', 'string', 'token', 'uri']);

/** The parameter that sorts by a column; undefined: there is none of the whole element. */
export function sortCodeOf(type: string, { name }: Column, { search }: Pick<Tables, 'search'>): string | undefined {
  const rows = search.find((table) => table.type === type)?.parameters ?? [];
  const isOf = ({ steps: [step, ...rest] }: PathRow): boolean => {
    if (step === undefined || rest.length > 0) return false;
    return 'get' in step
      ? step.get === name
      : 'choose' in step && Object.keys(step.choose).every((key) => key.startsWith(name));
  };
  return rows.find(({ type: kind, paths }) => SORTED.has(kind) && paths.length > 0 && paths.every(isOf))?.code;
}

function chooseColumns(type: string, types: readonly TypeRow[]): readonly Column[] {
  const elements = (types.find(({ name }) => name === type)?.elements ?? []).filter(({ summary }) => summary === true);
  const best = elements
    .map((element) => ({ element, weight: weightOf(element) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, AT_MOST)
    .map(({ element }) => element);
  return elements.filter((each) => best.includes(each)).map(columnOf);
}

function columnOf({ name, types: kinds, choice }: ElementRow): Column {
  const keys = choice === true ? kinds.map((kind) => name + kind.charAt(0).toUpperCase() + kind.slice(1)) : [name];
  return { name, keys };
}

function weightOf({ types: [first = ''], min = 0, max }: ElementRow): number {
  const weight = WEIGHTS[first] ?? 0;
  return weight === 0 ? 0 : weight + (min > 0 ? REQUIRED : 0) + (max === '*' ? 0 : SINGLE);
}

/** The cells of a resource in these columns. */
export function cellsOf(resource: JsonObject, columns: readonly Column[], linkOf: LinkOf): Cell[] {
  return columns.map(({ keys }) => {
    const key = keys.find((each) => resource[each] !== undefined);
    return key === undefined ? { text: '', link: undefined, isShort: true } : cellOf(resource[key], linkOf);
  });
}

function cellOf(value: JsonValue | undefined, linkOf: LinkOf): Cell {
  const reference = Array.isArray(value) || isObject(value) ? referenceIn(value) : undefined;
  const text = displayOf(value);
  return { text, isShort: text.length <= SHORT, link: reference === undefined ? undefined : linkOf(reference) };
}
