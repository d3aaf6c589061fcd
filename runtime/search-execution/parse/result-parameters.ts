import type { SearchRow } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import type { RESULT_PARAMETERS } from '../../search/control-parameters.js';
import { parseSortKey } from '../../search/parse/parse-sort.js';
import type { SortKey } from '../../search/query/query.js';
import { MAX_SORT_KEYS, type SearchSettings } from '../../core/search-services/search-settings.js';
import type { View } from '../../core/services.js';
import { quote } from '../../fhir/quote.js';

/** How the result is sorted, counted and shown. https://hl7.org/fhir/R5/search.html#modifyingresults */
export interface ResultOptions {
  readonly sort?: readonly SortKey[];
  /** Matches on a page; 0: only the total. */
  readonly count?: number;
  readonly total?: 'none' | 'estimate' | 'accurate';
  readonly summary?: 'true' | 'text' | 'data' | 'count' | 'false';
  readonly elements?: readonly string[];
  /** Matches on all pages. */
  readonly maxResults?: number;
  /** Whether matches have a score for the words that were searched. */
  readonly score?: boolean;
  /** The value of `_graph`. */
  readonly graph?: string;
  /** Whether contained resources are searched: only they (`true`), or they too (`both`). */
  readonly contained?: 'true' | 'false' | 'both';
  /** Whether a match shows the contained resource or its container. */
  readonly containedType?: 'container' | 'contained';
}

/** Context that the values of result parameters are read in. */
export interface ResultContext {
  readonly rows: ReadonlyMap<string, SearchRow>;
  readonly settings: SearchSettings;
  /** Called with the error of a part that is ignored; absent: the error is thrown. */
  readonly ignore?: (error: FhirError) => void;
  /** Throws a FhirError for a view that is invalid; absent: views are not supported. */
  readonly checkView?: (view: View) => void;
}

/** A value that was read; `value`: its text where it was not accepted as sent. */
interface Understood {
  readonly options: ResultOptions;
  readonly value?: string;
}

type Reader = (value: string, context: ResultContext) => Understood;

/** How the parameters that shape the result are read. Each may appear once. */
export const RESULT_READERS: Readonly<Record<string, Reader>> = {
  _sort: readSort,
  _count: readCount,
  _total: (value) => ({ options: { total: oneOf('_total', value, ['none', 'estimate', 'accurate']) } }),
  _summary: readSummary,
  _elements: readElements,
  _maxresults: readMaxResults,
  _score: (value) => ({ options: { score: oneOf('_score', value, ['true', 'false']) === 'true' } }),
  _contained: (value) => ({ options: { contained: oneOf('_contained', value, ['true', 'false', 'both']) } }),
  _containedType: (value) => ({
    options: { containedType: oneOf('_containedType', value, ['container', 'contained']) },
  }),
  _graph: (value) => ({ options: { graph: value } }),
} satisfies Record<keyof typeof RESULT_PARAMETERS, Reader>;

function readSort(value: string, { rows, ignore }: ResultContext): Understood {
  const texts = value.split(',');
  if (texts.includes('')) throw invalid('_sort has an empty key between its commas');
  if (texts.length > MAX_SORT_KEYS) throw invalid(`_sort has ${texts.length} keys, and may have ${MAX_SORT_KEYS}`);
  const sort: SortKey[] = [];
  for (const text of texts) {
    try {
      const key = parseSortKey(text, rows);
      // A second key of the same parameter changes nothing.
      if (!sort.some(({ param }) => param === key.param)) sort.push(key);
    } catch (error) {
      if (ignore === undefined || !(error instanceof FhirError)) throw error;
      ignore(error);
    }
  }
  const taken = sort.map(({ param, isDescending }) => `${isDescending ? '-' : ''}${param}`).join(',');
  return { options: { sort }, value: taken };
}

function readCount(value: string, { settings }: ResultContext): Understood {
  if (!/^[0-9]{1,9}$/.test(value)) throw invalid(`_count has to be a whole number from 0, not ${quote(value)}`);
  const count = Math.min(Number(value), settings.maxCount);
  return { options: { count }, value: String(count) };
}

function readSummary(value: string, { checkView }: ResultContext): Understood {
  const summary = oneOf('_summary', value, ['true', 'text', 'data', 'count', 'false']);
  if (checkView === undefined && summary !== 'count' && summary !== 'false') throw noViews('_summary');
  return { options: { summary } };
}

function readElements(value: string, { checkView }: ResultContext): Understood {
  if (checkView === undefined) throw noViews('_elements');
  const elements = value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (elements.length === 0) throw invalid('_elements has no names of elements');
  checkView({ elements });
  return { options: { elements } };
}

function readMaxResults(value: string): Understood {
  if (!/^[0-9]{1,9}$/.test(value) || Number(value) === 0) {
    throw invalid(`_maxresults has to be a whole number from 1, not ${quote(value)}`);
  }
  return { options: { maxResults: Number(value) } };
}

function oneOf<const T extends string>(name: string, value: string, words: readonly T[]): T {
  const word = words.find((each) => each === value);
  if (word !== undefined) return word;
  throw invalid(`${name} is ${words.join(', ').replace(/, ([^,]*)$/, ' or $1')}, not ${quote(value)}`);
}

function noViews(name: string): FhirError {
  return new FhirError('parameter-unknown', `This server does not support the parameter "${name}" here`);
}

function invalid(text: string): FhirError {
  return new FhirError('parameter-invalid', text);
}
