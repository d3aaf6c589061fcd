import { append } from '../../fhir/lists.js';
import type { SearchRow } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import type { OutcomeIssue } from '../../fhir/outcome-issue.js';
import { FORM } from '../../search/control-parameters.js';
import { CONTAINED } from '../../indexing/contained.js';
import { FILTER } from '../../search/filter/read-filter.js';
import { isLink, weightOf } from '../../search/query/criterion.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import { checkName, parseCriterion } from '../../search/parse/parse-criterion.js';
import { valuedBy, type Criterion, type WordsLeaf } from '../../search/query/query.js';
import { splitAt } from '../../search/parse/parse-value.js';
import { usedBy, type UsedParameter } from '../../search/parse/used-by.js';
import type { FindQuery, IncludeDirective } from '../../store/store.js';
import { searchContext, type SearchInput, type SearchServices, type SentParameter } from './search-context.js';
import { asksForContainedChains, storedBeyond, type StoredBeyond } from '../contained/contained-chains.js';
import { readContained, type ContainedSearch } from '../contained/contained-search.js';
import { isInclude, mergeIncludes, readInclude, readIncludeName } from './read-include.js';
import { chooseTypes, TYPES } from './scope.js';
import { RESULT_READERS, type ResultOptions } from './result-parameters.js';
import { addWarning, emptyWarning, ignoredWarning, type WarningList } from './ignored-parameters.js';
import { checkView } from './check-view.js';
import { MAX_CRITERIA, type SearchSettings } from '../../core/search-services/search-settings.js';
import type { View } from '../../core/services.js';

/** A search that was read. */
export interface SearchRequest extends Pick<FindQuery, 'sort' | 'count' | 'total' | 'include'> {
  /** The types that are searched. */
  readonly types: readonly string[];
  /** A match fulfills all of them. */
  readonly criteria: readonly Criterion[];
  /** Names of the criteria's parameters, in the same order. */
  readonly names: readonly string[];
  readonly maxResults?: number;
  readonly view?: View;
  /** The words that matches are scored by; absent: matches have no score. */
  readonly scored?: readonly WordsLeaf[];
  /** The value of `_graph`: names the graph whose resources are added. */
  readonly graph?: string;
  /** Stored parameters that keep chains from contained resources. */
  readonly beyond?: readonly StoredBeyond[];
  /** Absent: contained resources are not searched. */
  readonly contained?: ContainedSearch;
  /** The parameters that criteria, order and includes use. */
  readonly used: readonly UsedParameter[];
  /** The parameters that were not ignored, in the order they were sent. */
  readonly understood: readonly SentParameter[];
  /** Warnings of ignored parameters. */
  readonly notes: readonly OutcomeIssue[];
}

/** The parameter that asks for scores. */
const SCORE = '_score';

/** The parameter that names a graph. https://hl7.org/fhir/R5/search.html#_graph */
const GRAPH = '_graph';

/** Errors that a lenient search ignores: unknown parameters, modifiers and prefixes, but no invalid values. */
const IGNORABLE: ReadonlySet<string> = new Set(['parameter-unknown', 'modifier-unknown', 'prefix-unknown']);

/**
 * Reads a search. https://hl7.org/fhir/R5/search.html
 *
 * @throws FhirError `parameter-unknown`, `modifier-unknown`, `prefix-unknown`, `parameter-invalid`
 */
export function readSearchRequest(input: SearchInput, services: SearchServices): SearchRequest {
  const { type, isLenient } = input;
  const { subset } = services;
  const settings = services.search;
  const definitions = searchDefinitions(services.tables);
  const types = chooseTypes(input, definitions);
  const { context, owner, check } = searchContext(input, settings, services);
  const notes: WarningList = [];
  const ignore = (error: FhirError): void => addWarning(notes, ignoredWarning(error));
  const resultContext = {
    rows: context.rows,
    settings,
    ...(isLenient && { ignore }),
    ...(subset !== undefined && { checkView: (view: View) => checkView(view, types, subset) }),
  };
  const criteria: Criterion[] = [];
  const names: string[] = [];
  const beyond: StoredBeyond[] = [];
  const includes: IncludeDirective[] = [];
  const included = new Set<string>();
  const used = new Map<string, UsedParameter>();
  const use = (each: UsedParameter): void => void used.set(`${each.type} ${each.code}`, each);
  let understood: SentParameter[] = [];
  let options: ResultOptions = {};
  let taken = 0;
  const seen = new Set<string>();
  let room = 2 * context.maxAlternatives;

  const countOne = (): void => {
    if (++taken > MAX_CRITERIA) throw tooMany(`A search may have ${MAX_CRITERIA} criteria and includes`);
  };

  const takeCriterion = (sent: SentParameter): void => {
    const { name, value } = sent;
    // Ignored criteria cost time too, so they count.
    countOne();
    check(name);
    if (value === '') {
      checkName(name, context);
      return void addWarning(notes, emptyWarning(name));
    }
    checkOnce(name, names, context.rows);
    const criterion = parseCriterion(name, value, context);
    const isWeighed = isLink(criterion) || name === FILTER || 'words' in criterion;
    room -= isWeighed ? weightOf(criterion) : splitAt(value, ',').length;
    criteria.push(criterion);
    names.push(name);
    if (room < 0) throw tooManyValues(2 * context.maxAlternatives, criteria.some(isLink));
    usedBy(owner, criterion, definitions).forEach(use);
    if (asksForContainedChains(criterion)) use({ type: owner, code: CONTAINED });
    append(beyond, storedBeyond(name, criterion, services.tables));
    understood.push(sent);
  };

  const takeInclude = (sent: SentParameter): void => {
    const { name, value } = sent;
    countOne();
    readIncludeName(name);
    if (value === '') return void addWarning(notes, emptyWarning(name));
    const whole = `${name}=${value}`;
    // A repeated include changes nothing.
    if (included.has(whole)) return;
    append(includes, readInclude(name, value, { types, definitions }));
    included.add(whole);
    understood.push(sent);
  };

  const takeResult = (sent: SentParameter, read: (typeof RESULT_READERS)[string] | undefined): void => {
    const { name, value } = sent;
    if (seen.has(name)) throw new FhirError('parameter-invalid', `The parameter "${name}" may appear once`);
    seen.add(name);
    if (value === '') return void addWarning(notes, emptyWarning(name));
    const result = read?.(value, resultContext);
    options = { ...options, ...result?.options };
    if (result?.value !== '') understood.push({ ...sent, value: result?.value ?? value });
  };

  const take = (sent: SentParameter): void => {
    const { name } = sent;
    if (isInclude(name)) takeInclude(sent);
    else if (name === TYPES && type === undefined) takeResult(sent, undefined);
    else if (Object.hasOwn(RESULT_READERS, name)) takeResult(sent, RESULT_READERS[name]);
    else takeCriterion(sent);
  };

  for (const sent of input.params) {
    if (FORM.has(sent.name)) continue;
    try {
      take(sent);
    } catch (error) {
      if (!(error instanceof FhirError)) throw error;
      const told = error.map((issue) => ({ ...issue, parameter: sent.name }));
      if (!isLenient || !(IGNORABLE.has(error.code) || isInclude(sent.name))) throw told;
      ignore(told);
    }
  }
  if (options.summary === 'text' && (includes.length > 0 || options.graph !== undefined)) {
    const error = textWithIncludes();
    if (!isLenient) throw error;
    ignore(error);
    includes.length = 0;
    const { graph: _none, ...rest } = options;
    options = rest;
    understood = understood.filter(({ name }) => !isInclude(name) && name !== GRAPH);
  }
  const scored = options.score === true ? wordsAskedFor(criteria) : undefined;
  if (scored?.length === 0) {
    const error = scoreOfNothing();
    if (!isLenient) throw error;
    ignore(error);
    understood = understood.filter(({ name }) => name !== SCORE);
  }
  const besides = [
    ...(includes.length > 0 ? ['_include and _revinclude'] : []),
    ...(options.graph === undefined ? [] : [GRAPH]),
    ...(options.score === true ? [SCORE] : []),
  ];
  const { contained: searched = 'false', sort: keys = [] } = options;
  const contained =
    searched === 'false'
      ? undefined
      : readContained(searched, options, { type, criteria, names, sort: keys, besides }, services.tables);
  if (contained !== undefined) use({ type: owner, code: CONTAINED });
  for (const code of keys.flatMap(valuedBy)) use({ type: owner, code });
  const query = toQuery(options, settings);
  const include = query.count === 0 ? undefined : planOf(mergeIncludes(includes), settings);
  for (const { source, params } of include?.directives ?? []) params.forEach((code) => use({ type: source, code }));
  return {
    types,
    criteria,
    names,
    ...query,
    ...(include !== undefined && { include }),
    ...(scored !== undefined && scored.length > 0 && { scored }),
    ...(contained !== undefined && { contained }),
    ...(beyond.length > 0 && { beyond }),
    ...(options.graph !== undefined && query.count > 0 && { graph: options.graph }),
    used: [...used.values()],
    understood,
    notes,
  };
}

/** The definition of a stored parameter may exclude repetition. @throws FhirError `parameter-invalid` */
function checkOnce(name: string, names: readonly string[], rows: ReadonlyMap<string, SearchRow>): void {
  const codeOf = (each: string): string => each.replace(/[:.].*$/, '');
  const code = codeOf(name);
  if (rows.get(code)?.once !== true || !names.some((each) => codeOf(each) === code)) return;
  const text = `The parameter ${JSON.stringify(code)} may appear once: its definition says multipleAnd: false`;
  throw new FhirError('parameter-invalid', text);
}

function planOf(directives: readonly IncludeDirective[], settings: SearchSettings): FindQuery['include'] {
  if (directives.length === 0) return undefined;
  return { directives, most: settings.includes, rounds: settings.includeRounds };
}

function toQuery(
  options: ResultOptions,
  settings: SearchSettings,
): Pick<SearchRequest, 'sort' | 'count' | 'total' | 'maxResults' | 'view'> {
  const { sort = [], total, summary, elements, maxResults } = options;
  const { count = Math.min(settings.count, settings.maxCount) } = options;
  const isCut = summary !== undefined && summary !== 'false' && summary !== 'count';
  if (isCut && elements !== undefined) {
    throw new FhirError('parameter-invalid', '_summary and _elements exclude each other');
  }
  const rest = { sort, ...(maxResults !== undefined && { maxResults }) };
  if (summary === 'count' || count === 0) return { ...rest, count: 0, total: 'accurate' };
  const view: View | undefined = isCut ? { summary } : elements === undefined ? undefined : { elements };
  // Without `_total=accurate`, the total is given where the store knows it at little cost.
  const wanted = total === 'none' || total === 'accurate' ? total : 'cheap';
  return { ...rest, count, total: wanted, ...(view !== undefined && { view }) };
}

/** https://hl7.org/fhir/R5/search.html#summary */
function textWithIncludes(): FhirError {
  const text = '_include, _revinclude and _graph exclude _summary=text; _summary=true or _elements go with them';
  return new FhirError('parameter-invalid', text);
}

/** https://hl7.org/fhir/R5/search.html#_score */
function scoreOfNothing(): FhirError {
  const text =
    '_score is of words of what is searched: it goes with _text, _content, section-text, :text and :text-advanced, not behind a chain';
  return new FhirError('parameter-invalid', text, { parameter: SCORE });
}

function tooManyValues(values: number, hasLinks: boolean): FhirError {
  const hint = hasLinks
    ? '; those of a chain count for each type that its reference may lead to: name the type, as in subject:Patient.name'
    : '';
  return tooMany(`The parameters of a search may have ${values} values together${hint}`);
}

function tooMany(text: string): FhirError {
  return new FhirError('parameter-invalid', text);
}

/** The words that criteria require of the matches themselves; words behind `not` or a chain are left out. */
function wordsAskedFor(criteria: readonly Criterion[]): readonly WordsLeaf[] {
  return criteria.flatMap((criterion): readonly WordsLeaf[] => {
    if ('words' in criterion) return [criterion];
    if ('all' in criterion) return wordsAskedFor(criterion.all);
    return 'some' in criterion ? wordsAskedFor(criterion.some) : [];
  });
}
