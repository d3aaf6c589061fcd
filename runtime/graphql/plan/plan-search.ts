import type { SearchRow } from '../../contract/search.js';
import type { Call } from '../../core/call.js';
import { constrainSearch, type SearchBounds } from '../../search-execution/authorize/constrain-search.js';
import type { SentParameter } from '../../search-execution/parse/search-context.js';
import { readSearchRequest, type SearchRequest } from '../../search-execution/parse/search-request.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { FILTER } from '../../search/filter/read-filter.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import { QUERY_LIMITS } from '../limits.js';
import { RESULT_ARGUMENTS, SEARCH_ARGUMENTS, argumentName, searchArguments, type FieldFacts } from '../schema/facts.js';
import { referenceParameter } from '../schema/schema.js';

/** A search that a field asks for, read from its arguments before anything is looked up. */
export interface PlannedSearch {
  readonly type: string;
  readonly isConnection: boolean;
  /** The parameters, as a search by URL would have them. */
  readonly params: readonly SentParameter[];
  readonly request: SearchRequest;
  /** Of a reverse look-up: the parameter that refers to the resource around the field. */
  readonly by?: SearchRow;
  /** Matches that are wanted; absent: all of a list, or the usual page of a connection. */
  readonly count?: number;
  readonly offset: number;
  /** FHIRPath that matches have to fulfill. */
  readonly fhirpath?: string;
  /** Where a connection goes on. */
  readonly cursor?: string;
  /** Milliseconds since the epoch, for `ap` of dates. */
  readonly now: number;
}

type SearchFacts = Extract<FieldFacts, { readonly is: 'search' }>;

/**
 * Reads the arguments of a search.
 *
 * @param parent resource type around the field; undefined: it may be any, or there is none
 * @throws FhirError as `readSearchRequest`, `graphql-limit`
 */
export function planSearch(
  { type, isConnection, isReverse }: SearchFacts,
  args: Readonly<Record<string, unknown>>,
  parent: string | undefined,
  services: Services,
): PlannedSearch {
  const rows = searchDefinitions(services.tables).rowsOf(type);
  const codes = searchArguments(rows);
  const params: SentParameter[] = [];
  for (const [name, value] of Object.entries(args)) {
    const code = codes.get(name) ?? (RESULT_ARGUMENTS.includes(name) ? name : undefined);
    if (code === undefined || code === '_count' || value === null || value === undefined) continue;
    const texts = (Array.isArray(value) ? value : [value]).filter((each) => each !== null).map(String);
    // As no parameter at all it would find everything, which is not what a client means that has an empty list of ids.
    if (texts.length === 0) throw new FhirError('parameter-invalid', `${name} has an empty list; leave it out to search without it`); // prettier-ignore
    const isList = !WHOLE.has(code);
    params.push(sent(code, texts.map((text) => (isList ? escapeCommas(text) : text)).join(',')));
  }
  const count = numberOf(args, '_count');
  const offset = numberOf(args, SEARCH_ARGUMENTS.offset) ?? 0;
  const cursor = args[SEARCH_ARGUMENTS.cursor] ?? args[SEARCH_ARGUMENTS.otherCursor];
  const fhirpath = args[SEARCH_ARGUMENTS.fhirpath];
  if (!isConnection && count !== undefined && count > QUERY_LIMITS.list) throw tooMany('_count', QUERY_LIMITS.list);
  if (offset > QUERY_LIMITS.resources) throw tooMany(SEARCH_ARGUMENTS.offset, QUERY_LIMITS.resources);
  if (typeof cursor === 'string' && Object.keys(args).length > 1) {
    throw new FhirError('parameter-invalid', 'A cursor is complete; it takes no other arguments');
  }
  const by = isReverse ? reverseParameter(type, rows, String(args[SEARCH_ARGUMENTS.reference]), parent) : undefined;
  const now = Date.now();
  return {
    ...{ type, isConnection, params, offset, now },
    request: readRequest(type, params, now, services),
    ...(by !== undefined && { by }),
    ...(count !== undefined && { count }),
    ...(typeof fhirpath === 'string' && { fhirpath }),
    ...(typeof cursor === 'string' && { cursor }),
  };
}

/** Reads parameters as a search by URL would. @throws FhirError as `readSearchRequest` */
export function readRequest(
  type: string,
  params: readonly SentParameter[],
  now: number,
  services: Services,
): SearchRequest {
  return readSearchRequest({ type, params, isLenient: false, isPosted: true, now }, services);
}

/** The bounds that the token sets to a search. @throws FhirError `scope-missing` */
export function boundsOf(type: string, request: SearchRequest, call: Call, services: Services): Promise<SearchBounds> {
  const { principal, base, signal } = call;
  const asked: Call = {
    interaction: 'search-type',
    ...{ principal, base, type },
    ...(signal !== undefined && { signal }),
    params: new URLSearchParams(),
    conditions: {},
    prefer: {},
  };
  return constrainSearch(asked, { path: type, type, types: [type] }, request, services);
}

/** Parameters whose text is taken whole, commas as they are. */
const WHOLE: ReadonlySet<string> = new Set([FILTER, '_sort', '_text', '_content', '_list', '_in', '_total', '_score']);

/** Alternatives are items of a list, so that a comma within a text is one. https://hl7.org/fhir/R5/graphql.html#searching */
function escapeCommas(text: string): string {
  return text.replace(/\\.|,/gs, (part) => (part === ',' ? '\\,' : part));
}

/** A parameter as if it had come in a body. */
export function sent(name: string, value: string): SentParameter {
  return { name, value, isInUrl: false };
}

/** The value of an argument that counts. @throws FhirError `parameter-invalid` */
export function numberOf(args: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = args[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && value >= 0) return value;
  throw new FhirError('parameter-invalid', `${name} has to be a whole number from 0, not ${String(value)}`);
}

function reverseParameter(
  type: string,
  rows: ReadonlyMap<string, SearchRow>,
  name: string,
  parent: string | undefined,
): SearchRow {
  const row = referenceParameter(rows, name);
  const leads = ({ targets }: SearchRow): boolean =>
    parent === undefined || targets === undefined || targets.includes(parent);
  if (row !== undefined && leads(row)) return row;
  const valid = [...new Set([...rows.values()].filter((each) => each.type === 'reference' && leads(each)))];
  const names = valid.map(({ code }) => argumentName(code)).join(', ');
  const what =
    row === undefined
      ? `${type} has no reference parameter ${JSON.stringify(name.slice(0, 64))}`
      : `"${name}" of ${type} never refers to ${parent}`;
  const hint = valid.length === 0 ? '; there is none that does' : `; _reference may be ${names}`;
  throw new FhirError('parameter-invalid', what + hint);
}

function tooMany(name: string, most: number): FhirError {
  return new FhirError('graphql-limit', `${name} may be ${most} at most; a connection has pages`);
}
