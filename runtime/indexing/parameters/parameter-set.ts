import type { SearchTable } from '../../contract/search.js';
import type { NamedParameter, ParameterContext } from './parameter-context.js';
import { readParameter } from './read-parameter.js';
import { ParameterError, STORED_LIMITS, type ParameterFault, type StoredParameter } from './stored-parameter.js';

type Json = Readonly<Record<string, unknown>>;

/** Stored parameters that are in effect together. */
export interface ParameterSet {
  /** In the order of ranks and ids. */
  readonly parameters: readonly StoredParameter[];
  /** Those that are not, though they are active, with the reason. */
  readonly refused: readonly RefusedParameter[];
}

/** A SearchParameter that is not in effect, though it is active. */
export interface RefusedParameter {
  readonly id: string;
  /** Absent: it has none. */
  readonly url?: string;
  readonly fault: ParameterFault;
}

/**
 * Reads all SearchParameters that are to be in effect. Of two that collide the one with the lower rank is, of equal ones the one with the
 * lower id: every process that sees the same resources comes to the same set.
 *
 * @param resources all that `isEffective`
 * @param rankOf absent: all have one rank
 */
export function readParameterSet(
  resources: readonly Json[],
  context: ParameterContext,
  rankOf: (resource: Json) => number = () => 0,
): ParameterSet {
  const ranks = new Map(resources.map((each) => [each, rankOf(each)]));
  const ordered = [...resources].sort(
    (a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0) || (idOf(a) < idOf(b) ? -1 : 1),
  );
  const named = nameParameters(ordered, context);
  const parameters: StoredParameter[] = [];
  const refused: RefusedParameter[] = [];
  for (const resource of ordered) {
    const found = tryParameter(resource, parameters, context, named);
    if (found.fault !== undefined) refused.push({ id: idOf(resource), ...urlOf(resource), fault: found.fault });
    if (found.parameter !== undefined) parameters.push(found.parameter);
  }
  return { parameters, refused };
}

/**
 * Whether a SearchParameter may be in effect beside others.
 *
 * @param others one with the same id among them does not count
 * @param coming resources of others that will be, for components
 */
export function faultOfParameter(
  resource: Json,
  others: readonly StoredParameter[],
  context: ParameterContext,
  coming: readonly Json[] = [],
): { readonly parameter?: StoredParameter; readonly fault?: ParameterFault } {
  const rest = others.filter(({ id }) => id !== idOf(resource));
  return tryParameter(resource, rest, context, nameParameters([...rest, ...coming], context));
}

function tryParameter(
  resource: Json,
  others: readonly StoredParameter[],
  context: ParameterContext,
  named: (url: string) => NamedParameter | undefined,
): { readonly parameter?: StoredParameter; readonly fault?: ParameterFault } {
  try {
    const parameter = readOnce(resource, context, named);
    const fault = conflictOf(parameter, others, context);
    return fault === undefined ? { parameter } : { fault };
  } catch (error) {
    if (error instanceof ParameterError) return { fault: error.fault };
    throw error;
  }
}

/** Those that were read, and why others could not be, by their resources, which stay the same as long as they are in effect. */
const read = new WeakMap<Json, Read>();

type ReadResult = { readonly parameter: StoredParameter } | { readonly error: ParameterError };
type Read = ReadResult & {
  readonly context: ParameterContext;
  /** What was found of those that a composite is made of, which may change by itself. */
  readonly components: ReadonlyMap<string, NamedParameter | undefined>;
};

function readOnce(
  resource: Json,
  context: ParameterContext,
  named: (url: string) => NamedParameter | undefined,
): StoredParameter {
  let result = read.get(resource);
  if (result?.context !== context || !isAsNamed(result.components, named)) {
    const components = new Map<string, NamedParameter | undefined>();
    const ask = (url: string): NamedParameter | undefined => {
      const found = named(url);
      components.set(url, found && { code: found.code, type: found.type });
      return found;
    };
    result = { ...tryToRead(resource, context, ask), context, components };
    read.set(resource, result);
  }
  if ('error' in result) throw result.error;
  return result.parameter;
}

function isAsNamed(components: Read['components'], named: (url: string) => NamedParameter | undefined): boolean {
  return [...components].every(([url, before]) => {
    const now = named(url);
    return now?.code === before?.code && now?.type === before?.type;
  });
}

function tryToRead(...asked: Parameters<typeof readParameter>): ReadResult {
  try {
    return { parameter: readParameter(...asked) };
  } catch (error) {
    if (error instanceof ParameterError) return { error };
    // The stack ends before brackets within brackets do.
    if (!(error instanceof RangeError)) throw error;
    const text = 'is nested too deeply to be read; put less into brackets';
    return { error: new ParameterError({ kind: 'invalid', text, path: ['expression'] }) };
  }
}

function nameParameters(
  resources: readonly { readonly url?: unknown; readonly code?: unknown; readonly type?: unknown }[],
  { builtIn }: ParameterContext,
) {
  const stored = new Map(resources.map((each) => [each.url, each]));
  return (url: string): NamedParameter | undefined => {
    const row = builtIn(url);
    if (row !== undefined) return row;
    const { code, type } = stored.get(url) ?? {};
    return typeof code === 'string' && typeof type === 'string' ? ({ code, type } as NamedParameter) : undefined;
  };
}

function conflictOf(
  { code, url, rows }: StoredParameter,
  others: readonly StoredParameter[],
  { definitions, concrete, builtIn }: ParameterContext,
): ParameterFault | undefined {
  if (others.length >= STORED_LIMITS.parameters) {
    const text = `there are ${others.length} stored parameters in effect, and no more may be: retire or delete others`;
    return { kind: 'conflict', text, path: ['status'] };
  }
  const size = [...others.map(({ rows }) => rows), rows].reduce((sum, each) => sum + sizeOfRows(each), 0);
  if (size > STORED_LIMITS.together) {
    const text =
      'all stored parameters in effect would be too large together: name fewer bases or alternatives, or retire others ' +
      '(each base counts the expression, and 100 for each of its alternatives there)';
    return { kind: 'conflict', text, path: ['expression'] };
  }
  if (builtIn(url) !== undefined) {
    return {
      kind: 'conflict',
      text: `${url} is the url of a built-in parameter; choose one of your own`,
      path: ['url'],
      isBuiltIn: true,
    };
  }
  const types = concreteOf(rows.keys(), concrete);
  for (const type of types) {
    const row = definitions.rowsOf(type).get(code);
    if (row === undefined) continue;
    const text =
      `${type} has the built-in parameter ${code} (${row.url}), which no other definition can replace; choose another code, ` +
      'or other bases, or the status "draft", with which it is kept and has no effect';
    return { kind: 'conflict', text, path: ['code'], isBuiltIn: true };
  }
  for (const other of others) {
    if (other.url === url) {
      return {
        kind: 'conflict',
        text: `another active search parameter has the url ${url}; change that one, or choose another url`,
        path: ['url'],
        other: other.id,
      };
    }
    if (other.code !== code) continue;
    const both = [...concreteOf(other.rows.keys(), concrete)].find((type) => types.has(type));
    if (both === undefined) continue;
    const text = `${both} has the stored parameter ${code} (${other.url}) already; choose another code, or retire that one`;
    return { kind: 'conflict', text, path: ['code'], other: other.id };
  }
  return undefined;
}

/** What rows take in every process, and of the time to put them into effect. */
function sizeOfRows(rows: StoredParameter['rows']): number {
  let size = 0;
  for (const { paths, components = [] } of rows.values()) {
    for (const { text } of [...paths, ...components.flatMap((each) => each.paths)]) size += 100 + text.length;
  }
  return size;
}

function concreteOf(bases: Iterable<string>, concrete: ParameterContext['concrete']): Set<string> {
  return new Set([...bases].flatMap((base) => concrete(base)));
}

/** The tables with these parameters beside those that they have. */
export function withParameters(
  tables: readonly SearchTable[],
  parameters: readonly StoredParameter[],
): readonly SearchTable[] {
  if (parameters.length === 0) return tables;
  return tables.map((table) => {
    const rows = parameters.flatMap(({ rows }) => rows.get(table.type) ?? []);
    return rows.length === 0 ? table : { ...table, parameters: [...table.parameters, ...rows] };
  });
}

function idOf({ id }: Json): string {
  return typeof id === 'string' ? id : '';
}

function urlOf({ url }: Json): { readonly url?: string } {
  return typeof url === 'string' ? { url } : {};
}
