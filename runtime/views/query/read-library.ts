import { quote } from '../../fhir/quote.js';
import { isObject, objectsOf, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import { ViewError, type ViewFault } from '../view-error.js';
import type { SqlValue } from './messages.js';
import { utcOf } from './utc.js';

/** Code systems of the kinds of Libraries: of 3.0.0-ballot, and of 2.0.0. */
const SYSTEMS: readonly unknown[] = [
  'http://hl7.org/fhir/uv/sql-on-fhir/CodeSystem/LibraryTypesCodes',
  'https://sql-on-fhir.org/ig/CodeSystem/LibraryTypesCodes',
];

/** Kinds of Libraries that hold SQL: a query takes parameters; a view can be a table of others. */
export const LIBRARY_KINDS = ['sql-query', 'sql-view'] as const;

type LibraryKind = (typeof LIBRARY_KINDS)[number];

/** Characters of a statement, and tables of one Library, at most. */
const MOST = { sql: 100_000, tables: 50 };

/** Types of parameters, with what a value of each is in SQLite. */
const TYPES: Readonly<Record<string, (value: JsonValue) => SqlValue>> = {
  ...{ string: text, date: text, dateTime: (value) => utcOf(String(value)) },
  ...{ integer: (value) => ({ integer: String(value) }), decimal: Number, boolean: (value) => ({ integer: value === true ? '1' : '0' }) }, // prettier-ignore
};

/** A Library that holds SQL. https://sql-on-fhir.org/ig/latest/StructureDefinition-SQLQuery.html */
export interface SqlLibrary {
  readonly kind: LibraryKind;
  readonly name?: string;
  readonly sql: string;
  readonly tables: readonly { readonly label: string; readonly canonical: string }[];
  readonly parameters: readonly LibraryParameter[];
}

interface LibraryParameter {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
}

/** The kind of a Library; undefined: it holds no SQL. */
export function kindOfLibrary({ type }: JsonObject): LibraryKind | undefined {
  const codes = objectsOf(isObject(type) ? type['coding'] : undefined)
    .filter(({ system }) => SYSTEMS.includes(system))
    .map(({ code }) => code);
  return LIBRARY_KINDS.find((kind) => codes.includes(kind));
}

/**
 * Reads a Library that holds SQL. What the statement says is looked at as far as its first word.
 *
 * @throws ViewError with all faults
 */
export function readLibrary(json: JsonObject): SqlLibrary {
  const faults: ViewFault[] = [];
  const fault = (place: string, text: string): void => void faults.push({ place, text });
  const kind = kindOfLibrary(json);
  if (kind === undefined) fault('type', `has to have a coding ${LIBRARY_KINDS.join(' or ')} of ${String(SYSTEMS[0])}`);
  const sql = readSql(json['content'], fault);
  const tables = readTables(json['relatedArtifact'], fault);
  const parameters = objectsOf(json['parameter']).map((each, i) => readParameter(each, `parameter[${i}]`, fault));
  if (kind === 'sql-view' && parameters.length > 0) fault('parameter', 'is none of a view: only a query takes parameters'); // prettier-ignore
  const names = parameters.map(({ name }) => name);
  if (new Set(names).size < names.length) fault('parameter', 'has two of one name');
  if (faults.length > 0 || kind === undefined) throw new ViewError(faults);
  const { name } = json;
  return { kind, sql, tables, parameters, ...(typeof name === 'string' && { name }) };
}

type Fault = (place: string, text: string) => void;

/** The statement: that for SQLite, else the one for any. */
function readSql(content: JsonValue | undefined, fault: Fault): string {
  const kinds = objectsOf(content).map((each) => [String(each['contentType'] ?? '').toLowerCase().replaceAll(/[\s"]/g, ''), each] as const); // prettier-ignore
  const found = ['application/sql;dialect=sqlite', 'application/sql'].flatMap((wanted) =>
    kinds.filter(([type]) => type === wanted),
  )[0]?.[1];
  const data = found?.['data'];
  if (typeof data !== 'string') {
    fault('content', 'has to have data of the contentType application/sql;dialect=sqlite or application/sql');
    return '';
  }
  const sql = Buffer.from(data, 'base64').toString();
  if (sql.length > MOST.sql) fault('content', `has more than ${MOST.sql} characters of SQL`);
  else if (sql.includes('\0')) fault('content', 'has a character that no SQL has');
  else if (!/^(?:SELECT|WITH|VALUES)\b/i.test(withoutComments(sql)))
    fault('content', 'has to be one statement that begins with SELECT, WITH or VALUES');
  return sql;
}

/** SQL from its first word on. */
function withoutComments(sql: string): string {
  let at = 0;
  for (;;) {
    while (/\s/.test(sql.charAt(at))) at++;
    const end = sql.startsWith('--', at) ? sql.indexOf('\n', at) + 1 : sql.startsWith('/*', at) ? sql.indexOf('*/', at + 2) + 2 : at; // prettier-ignore
    if (end <= at) return end === at ? sql.slice(at, at + 10) : '';
    at = end;
  }
}

function readTables(value: JsonValue | undefined, fault: Fault): SqlLibrary['tables'] {
  const seen = new Set<string>();
  const tables = objectsOf(value).flatMap(({ type, resource, label }, i) => {
    if (type !== 'depends-on') return [];
    const place = `relatedArtifact[${i}]`;
    if (typeof resource !== 'string' || resource === '')
      fault(place, 'has to name its view by resource, a canonical URL');
    if (typeof label !== 'string' || !/^(?!sqlite_)[A-Za-z_][A-Za-z0-9_]{0,127}$/i.test(label)) {
      const is = label === undefined ? 'is required' : `is ${quote(String(label).slice(0, 128))}`;
      fault(`${place}.label`, `${is}; it names the table: letters, digits and _, no digit first, and not sqlite_ as its beginning`); // prettier-ignore
      return [];
    }
    if (seen.has(label.toLowerCase())) fault(`${place}.label`, `is the name of another table, too: ${label}`);
    seen.add(label.toLowerCase());
    return [{ label, canonical: String(resource) }];
  });
  if (tables.length > MOST.tables) fault('relatedArtifact', `names more than ${MOST.tables} tables`);
  return tables;
}

function readParameter({ name, use, type, min }: JsonObject, place: string, fault: Fault): LibraryParameter {
  if (typeof name !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) fault(`${place}.name`, 'has to be a word of letters, digits and _'); // prettier-ignore
  if (use !== 'in') fault(`${place}.use`, 'has to be in');
  if (typeof type !== 'string' || !Object.hasOwn(TYPES, type)) fault(`${place}.type`, `has to be one of ${Object.keys(TYPES).join(', ')}`); // prettier-ignore
  return { name: String(name), type: String(type), isRequired: Number(min ?? 0) > 0 };
}

/**
 * The values of the parameters of a query; those that are not given are NULL.
 *
 * @param given a resource of the type Parameters
 * @throws ViewError with all faults
 */
export function bindParameters(
  { parameters }: SqlLibrary,
  given: JsonValue | undefined,
): Readonly<Record<string, SqlValue>> {
  const faults: ViewFault[] = [];
  const values: Record<string, SqlValue> = Object.fromEntries(parameters.map(({ name }) => [name, null]));
  const seen = new Set<unknown>();
  for (const [i, each] of objectsOf(isObject(given) ? given['parameter'] : undefined).entries()) {
    const { name } = each;
    const known = parameters.find((one) => one.name === name);
    const place = `parameter[${i}]`;
    const value =
      known === undefined ? undefined : each[`value${known.type.charAt(0).toUpperCase()}${known.type.slice(1)}`];
    if (known === undefined)
      faults.push({ place, text: `the query has no parameter ${JSON.stringify(name)}; it has ${parameters.map((one) => one.name).join(', ') || 'none'}` }); // prettier-ignore
    else if (seen.has(name)) faults.push({ place, text: `${known.name} is given twice` });
    else if (value === undefined) faults.push({ place, text: `${known.name} is a ${known.type}` });
    else values[known.name] = TYPES[known.type]?.(value) ?? null;
    seen.add(name);
  }
  for (const { name, isRequired } of parameters)
    if (isRequired && !seen.has(name)) faults.push({ place: 'parameter', text: `${name} is required` });
  if (faults.length > 0) throw new ViewError(faults);
  return values;
}

function text(value: JsonValue): SqlValue {
  return String(value);
}
