import { FhirError } from '../fhir/errors.js';
import type { Note } from '../fhir/note.js';
import { searchDefinitions } from '../search/query/definitions.js';
import { findRow, parseCriterion, type CriterionContext } from '../search/query/parse-criterion.js';
import type { Criterion } from '../search/query/query.js';
import { splitAt } from '../search/query/split.js';
import { utc } from '../search/values/zone.js';
import type { FindQuery } from '../store/store.js';
import { FORM } from './page-form.js';
import { RESULT_PARAMETERS, type ResultOptions } from './result-parameters.js';
import { DEFAULT_SEARCH, MAX_CRITERIA } from './search-settings.js';
import type { Services, View } from './services.js';

/** A parameter as it was sent. */
export interface SentParameter {
  readonly name: string;
  readonly value: string;
  readonly isInUrl: boolean;
}

/** What a search is read from. */
export interface SearchInput {
  readonly type: string;
  readonly params: readonly SentParameter[];
  /** What nobody knows is left out instead of refused. */
  readonly isLenient: boolean;
  /** Not in a URL: longer lists may come. */
  readonly isPosted: boolean;
  /** Milliseconds since the epoch, for `ap` of dates. */
  readonly now: number;
  /** URL of the FHIR base; empty: nobody knows. */
  readonly base: string;
}

/** A search as it was understood. */
export interface SearchRequest extends Pick<FindQuery, 'type' | 'sort' | 'count' | 'total'> {
  /** All of them have to be fulfilled. */
  readonly criteria: readonly Criterion[];
  readonly maxResults?: number;
  readonly view?: View;
  /** Codes of the parameters that searching and sorting go by. */
  readonly used: readonly string[];
  /** The parameters that count, in their order. */
  readonly understood: readonly SentParameter[];
  /** What was left out. */
  readonly notes: readonly Note[];
}

/** What is left out where a client is lenient: what does not exist, not what is wrong. */
const IGNORABLE: ReadonlySet<string> = new Set(['parameter-unknown', 'modifier-unknown', 'prefix-unknown']);

/**
 * Reads a search. https://hl7.org/fhir/R5/search.html
 *
 * @throws FhirError `parameter-unknown`, `modifier-unknown`, `prefix-unknown`, `parameter-invalid`
 */
export function readSearchRequest(input: SearchInput, services: SearchServices): SearchRequest {
  const { type, isLenient } = input;
  const settings = { ...DEFAULT_SEARCH, ...services.search };
  const definitions = searchDefinitions(services.tables);
  const context: CriterionContext = {
    rows: definitions.rowsOf(type),
    isResourceType: definitions.isResourceType,
    zone: services.zone ?? utc,
    now: input.now,
    ...(input.base !== '' && { baseUrl: input.base }),
    hierarchy: { type, hierarchies: definitions.hierarchies() },
    maxAlternatives: input.isPosted ? settings.postValues : settings.values,
  };
  const notes: Note[] = [];
  const ignore = (error: FhirError): void => void notes.push(ignored(error));
  const resultContext = { rows: context.rows, settings, ...(isLenient && { ignore }), ...viewCheck(type, services) };
  const criteria: Criterion[] = [];
  const used = new Set<string>();
  const understood: SentParameter[] = [];
  let options: ResultOptions = {};
  const seen = new Set<string>();
  let room = 2 * context.maxAlternatives;

  const take = (sent: SentParameter): void => {
    const { name, value } = sent;
    const read = Object.hasOwn(RESULT_PARAMETERS, name) ? RESULT_PARAMETERS[name] : undefined;
    if (read === undefined) {
      const { code } = findRow(name, context.rows);
      if (value === '') return void notes.push(empty(name));
      room -= splitAt(value, ',').length;
      criteria.push(parseCriterion(name, value, context));
      if (criteria.length > MAX_CRITERIA || room < 0) throw tooMany(room < 0 ? 2 * context.maxAlternatives : undefined);
      used.add(code);
      understood.push(sent);
      return;
    }
    if (seen.has(name)) throw new FhirError('parameter-invalid', `The parameter "${name}" may stand once`);
    seen.add(name);
    if (value === '') return void notes.push(empty(name));
    const result = read(value, resultContext);
    options = { ...options, ...result.options };
    if (result.value !== '') understood.push({ ...sent, value: result.value ?? value });
  };

  for (const sent of input.params) {
    if (FORM.has(sent.name)) continue;
    try {
      take(sent);
    } catch (error) {
      if (!isLenient || !(error instanceof FhirError) || !IGNORABLE.has(error.code)) throw error;
      ignore(error);
    }
  }
  for (const { param } of options.sort ?? []) used.add(param);
  const query = toQuery(options, settings.count, settings.maxCount);
  return { type, criteria, ...query, used: [...used], understood, notes: cut(notes) };
}

/** What a search is read with. */
export type SearchServices = Pick<Services, 'tables' | 'zone' | 'search' | 'subset'>;

function toQuery(
  options: ResultOptions,
  initial: number,
  most: number,
): Pick<SearchRequest, 'sort' | 'count' | 'total' | 'maxResults' | 'view'> {
  const { sort = [], count = Math.min(initial, most), total, summary, elements, maxResults } = options;
  const isCut = summary !== undefined && summary !== 'false' && summary !== 'count';
  if (isCut && elements !== undefined) {
    throw new FhirError('parameter-invalid', '_summary and _elements exclude each other');
  }
  const rest = { sort, ...(maxResults !== undefined && { maxResults }) };
  if (summary === 'count' || count === 0) return { ...rest, count: 0, total: 'accurate' };
  const view: View | undefined = isCut ? { summary } : elements === undefined ? undefined : { elements };
  // A rough total is one that costs little, or none at all.
  const wanted = total === 'none' || total === 'accurate' ? total : 'cheap';
  return { ...rest, count, total: wanted, ...(view !== undefined && { view }) };
}

/** Views are tried on a resource with nothing in it: unknown elements are refused even where nothing is found. */
function viewCheck(type: string, { subset }: SearchServices): { readonly checkView?: (view: View) => void } {
  if (subset === undefined) return {};
  return { checkView: (view) => void subset({ resourceType: type }, view) };
}

/** The answer must not grow without bounds with what is wrong in the question. */
const MAX_NOTES = 50;

function cut(notes: readonly Note[]): readonly Note[] {
  const [first, ...rest] = notes.slice(MAX_NOTES - 1);
  if (first === undefined || rest.length === 0) return notes;
  const text = `Ignored: ${rest.length + 1} more parameters`;
  return [...notes.slice(0, MAX_NOTES - 1), { ...first, severity: 'warning', code: 'parameter-ignored', text }];
}

function ignored(error: FhirError): Note {
  const text = `Ignored: ${error.message}`;
  return { severity: 'warning', issue: 'not-supported', code: 'parameter-ignored', text };
}

/** https://hl7.org/fhir/R5/search.html#errors */
function empty(name: string): Note {
  const text = `The parameter ${JSON.stringify(name.slice(0, 64))} has no value and was ignored`;
  return { severity: 'information', issue: 'informational', code: 'parameter-empty', text };
}

function tooMany(values: number | undefined): FhirError {
  const text =
    values === undefined
      ? `A search may have ${MAX_CRITERIA} criteria`
      : `The parameters of a search may have ${values} values together`;
  return new FhirError('parameter-invalid', text);
}
