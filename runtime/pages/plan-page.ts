import { readFileSync } from 'node:fs';

import { greatest } from '../fhir/lists.js';
import type { ExplainedQuery, ExplainedSearch } from '../search-execution/explain/explain-search.js';
import { printEstimate, printWay } from '../search-execution/explain/print-plan.js';
import { printInclude } from '../search-execution/explain/print-include.js';
import { PRODUCT } from '../fhir/product.js';
import { printCondition, printSort } from '../search/query/print.js';
import { ASSETS_FOLDER } from './assets.js';
import { html, template, type Html } from './engine.js';
import { VIEW_PARAMETER, type PageRequest, type Paths } from './site.js';

/** A number with a bar. */
interface Measure {
  readonly text: string;
  /** Of 100. */
  readonly bar: number;
}

interface Criterion {
  readonly text: string;
  /** Absent: its matches were not counted. */
  readonly matches: Measure | undefined;
  /** The store begins with it. */
  readonly begins: boolean;
}

/** What the store did. */
interface Work {
  readonly driving: string;
  readonly way: string;
  readonly filters: readonly string[];
  readonly estimated: string;
  readonly indexes: readonly string[];
  readonly examined: Measure;
  readonly returned: Measure;
  readonly ratio: string | undefined;
  readonly statements: readonly string[];
}

interface PlanOfType {
  readonly type: string;
  readonly criteria: readonly Criterion[];
  readonly order: string;
  readonly count: number;
  readonly total: string;
  readonly work: Work | undefined;
}

interface PlanView {
  readonly plans: readonly PlanOfType[];
  readonly isSingle: boolean;
  readonly includes: readonly string[];
  readonly graph: string | undefined;
  readonly notes: readonly string[];
  readonly left: number;
}

const render = template<PlanView>('plan');
const renderHead = template<{ title: string; search: string; results: string; builder: string | undefined }>(
  'plan-head',
);
const renderDocument = template<{ search: string; style: Html; content: Html; product: string }>('plan-document');

/** What `_total` means. https://hl7.org/fhir/R5/search.html#total */
const TOTALS: Readonly<Record<string, string>> = {
  none: 'not counted',
  cheap: 'counted as far as that is cheap',
  accurate: 'counted',
};

/** The title of the page of a plan. */
export function planTitle({ type, id, member }: PageRequest): string {
  const place = [type, id, member].filter((part) => part !== undefined).join('/');
  return `Plan: ${place === '' ? 'all types' : place}`;
}

/** The page of what a search does: its criteria, what the store begins with, its indexes, and what it examined. */
export function planPage(plan: ExplainedSearch, request: PageRequest, paths: Paths): string {
  const { url, member, type } = request;
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const params = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  params.delete(VIEW_PARAMETER);
  const query = params.size === 0 ? '' : `?${params.toString()}`;
  const searched = member === undefined || member === '*' ? type : member;
  const head = renderHead({
    title: planTitle(request),
    search: decodedQuery(`${path}${query}`),
    results: `${paths.fhir}${path}${query}`,
    builder: searched === undefined ? undefined : `${paths.ui}/search/${searched}${query}`,
  });
  return head + render(viewOf(plan));
}

/**
 * A plan as a document that needs nothing else: the style sheet is in it, and it has no script.
 *
 * @param search as it was written
 */
export function planDocument(plan: ExplainedSearch, search: string): string {
  const style = html(readFileSync(`${ASSETS_FOLDER}/kiln.css`, 'utf8'));
  const content = html(render(viewOf(plan)));
  return renderDocument({ search, style, content, product: `${PRODUCT.name} ${PRODUCT.version}` });
}

/** For reading: `name=a b` instead of `name=a+b`. */
function decodedQuery(url: string): string {
  try {
    return decodeURIComponent(url.replace(/\+/g, ' '));
  } catch {
    return url;
  }
}

function viewOf({ queries, includes, graph, notes, left }: ExplainedSearch): PlanView {
  return {
    plans: queries.map(planOf),
    isSingle: queries.length === 1,
    includes: includes.map(printInclude),
    ...{ graph, notes, left },
  };
}

function planOf({ type, where, sort, count, total, explanation }: ExplainedQuery): PlanOfType {
  const conditions = 'all' in where ? where.all : [where];
  const measure = measureOf([
    ...(explanation?.probes ?? []).map(({ matches }) => matches),
    ...(explanation === undefined ? [] : [explanation.examined, explanation.returned]),
  ]);
  const criteria = conditions.map((condition): Criterion => {
    const text = printCondition(condition);
    const probe = explanation?.probes.find((each) => each.condition === text);
    const more = probe?.isMore === true ? ' or more' : '';
    return {
      text,
      matches: probe && measure(probe.matches, `${numberText(probe.matches)}${more} ${matchWord(probe.matches)}`),
      begins: explanation?.driving === text,
    };
  });
  return {
    ...{ type, criteria, count },
    order: printSort(sort),
    total: TOTALS[total] ?? total,
    work: explanation && workOf(explanation, sort.length > 0, measure),
  };
}

function workOf(
  explanation: NonNullable<ExplainedQuery['explanation']>,
  isSorted: boolean,
  measure: (value: number, text: string) => Measure,
): Work {
  const { driving, filters, estimated, indexes, examined, returned, compiled } = explanation;
  return {
    ...{ driving, filters, indexes },
    way: printWay(explanation, isSorted),
    estimated: printEstimate(estimated),
    examined: measure(examined, numberText(examined)),
    returned: measure(returned, numberText(returned)),
    ratio: returned === 0 ? undefined : (examined / returned).toFixed(1).replace(/\.0$/, ''),
    statements: compiled,
  };
}

/** Makes bars for values of one picture. They grow with the logarithm, so that both 3 and 300,000 can be seen. */
function measureOf(values: readonly number[]): (value: number, text: string) => Measure {
  const largest = Math.log1p(greatest(values, 1));
  return (value, text) => ({ text, bar: Math.round((100 * Math.log1p(value)) / largest) });
}

function matchWord(matches: number): string {
  return matches === 1 ? 'match' : 'matches';
}

function numberText(value: number): string {
  return value.toLocaleString('en');
}
