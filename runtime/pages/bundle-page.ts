import { PAGE_PARAMETER } from '../core/search-services/page-links/page-link.js';
import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';
import { Chart } from './chart.js';
import { allColumns, cellsOf, columnsNamed, columnsOf, sortCodeOf, type Cell, type Column } from './columns.js';
import { displayOf, nameOf } from './display.js';
import { template } from './engine.js';
import { highlightJson } from './highlight.js';
import { linksOf, ownUrl, resourcePath, type LinkOf } from './links.js';
import { VIEW_PARAMETER, type PageRequest, type Paths, type Site } from './site.js';

/** What the rows of a page are made with. */
interface Around {
  readonly request: PageRequest;
  readonly paths: Paths;
  readonly site: Site;
  readonly linkOf: LinkOf;
}

/** What a click on the head of a column does. */
interface Sorting {
  /** The search in the order of the column, or the other way round; absent: it cannot be sorted. */
  readonly sort: string | undefined;
  readonly sorted: 'ascending' | 'descending' | undefined;
}

interface PagePart {
  readonly paths: Paths;
  readonly title: string;
  readonly total: string | undefined;
  readonly next: string | undefined;
  readonly type: string | undefined;
  readonly query: string;
  readonly plain: string;
  /** Of a search: the page that explains it. */
  readonly plan: string | undefined;
  readonly columns: readonly (Column & Sorting)[];
  /** Of a search of one type: the elements that can be columns. */
  readonly choices: readonly { readonly name: string; readonly isShown: boolean }[] | undefined;
  /** The search without its choice of columns, as a query. */
  readonly rest: string;
  readonly updated: Sorting;
  /** Path and query of the search. */
  readonly asked: string;
  readonly isEmpty: boolean;
  readonly compares: boolean;
  readonly resource: string | undefined;
}

interface ResultRow {
  readonly path: string | undefined;
  readonly label: string;
  readonly mode: string | undefined;
  readonly name: string | undefined;
  readonly cells: readonly Cell[] | undefined;
  readonly span: number;
  readonly lastUpdated: string;
  readonly notes: readonly string[] | undefined;
}

interface VersionRow {
  readonly path: string | undefined;
  readonly label: string;
  readonly reference: string | undefined;
  readonly lastUpdated: string;
  readonly method: string;
  readonly isDeletion: boolean;
  readonly compares: boolean;
  readonly isFirst: boolean;
  readonly isSecond: boolean;
}

const searchHead = template<PagePart>('search/head');
const searchRow = template<ResultRow>('search/row');
const searchTail = template<PagePart>('search/tail');
const historyHead = template<PagePart>('history/head');
const historyRow = template<VersionRow>('history/row');
const historyTail = template<PagePart>('history/tail');

/**
 * The page of a Bundle that the server has put together, piece by piece: a table of what a search found or of versions, else JSON.
 *
 * @param bundle without its entries
 */
export function* bundlePage(
  bundle: JsonObject,
  entries: Iterable<JsonValue>,
  request: PageRequest,
  paths: Paths,
  site: Site,
): Generator<string> {
  const around: Around = { request, paths, site, linkOf: linksOf(paths) };
  if (bundle['type'] === 'searchset') yield* searchPage(bundle, entries, around);
  else if (bundle['type'] === 'history') yield* historyPage(bundle, entries, around);
  else yield* jsonPage(bundle, entries, around);
}

/** The title of the page of a Bundle. */
export function bundleTitle(bundle: JsonObject, { type, id, member }: PageRequest): string {
  const place = [type, id, member].filter((part) => part !== undefined).join('/');
  const of = place === '' ? 'all types' : place;
  if (bundle['type'] === 'searchset') return `Search: ${of}`;
  return bundle['type'] === 'history' ? `Versions: ${of}` : 'Bundle';
}

function partOf(bundle: JsonObject, isEmpty: boolean, { request, paths, site }: Around): PagePart {
  const { type, id, member, operation } = request;
  const searched = member === undefined || member === '*' ? type : member;
  const mark = request.url.indexOf('?');
  const path = mark < 0 ? request.url : request.url.slice(0, mark);
  const query = mark < 0 ? '' : request.url.slice(mark + 1);
  const { total } = bundle;
  const hasTable = searched !== undefined && operation === undefined;
  const chosen = hasTable ? chosenColumns(searched, query, site) : [];
  const rest = new URLSearchParams(query);
  for (const name of [ELEMENTS, PAGE_PARAMETER]) rest.delete(name);
  return {
    paths,
    title: bundleTitle(bundle, request),
    total: typeof total === 'number' ? String(total) : undefined,
    next: linkIn(bundle, 'next', paths),
    type: hasTable ? searched : undefined,
    query,
    plain: `${paths.fhir}${path}?${query === '' ? '' : `${query}&`}_format=json&_pretty=true`,
    plan: isSearch(request)
      ? `${paths.fhir}${path}?${query === '' ? '' : `${query}&`}${VIEW_PARAMETER}=plan`
      : undefined,
    columns: chosen.map((column) => ({
      ...column,
      ...sortingOf(sortCodeOf(searched ?? '', column, site.tables), paths.fhir + path, query),
    })),
    choices:
      hasTable && member === undefined
        ? allColumns(searched, site.tables).map(({ name }) => ({
            name,
            isShown: chosen.some((column) => column.name === name),
          }))
        : undefined,
    rest: rest.toString(),
    updated: sortingOf(hasTable ? '_lastUpdated' : undefined, paths.fhir + path, query),
    asked: `${paths.fhir}${path}${query === '' ? '' : `?${query}`}`,
    isEmpty,
    compares: id !== undefined && type !== undefined,
    resource: id !== undefined && type !== undefined ? resourcePath(paths, type, id) : undefined,
  };
}

/** The parameter that names the elements of an answer, and so the columns of its table. https://hl7.org/fhir/R5/search.html#elements */
const ELEMENTS = '_elements';

function chosenColumns(type: string, query: string, { tables }: Pick<Site, 'tables'>): readonly Column[] {
  const names = new URLSearchParams(query).getAll(ELEMENTS).join(',').split(',');
  const named = columnsNamed(type, names, tables);
  return named.length > 0 ? named : columnsOf(type, tables);
}

function sortingOf(code: string | undefined, path: string, query: string): Sorting {
  const params = new URLSearchParams(query);
  if (code === undefined || params.has(PAGE_PARAMETER)) return { sort: undefined, sorted: undefined };
  const now = params.get('_sort');
  const sorted = now === code ? 'ascending' : now === `-${code}` ? 'descending' : undefined;
  params.set('_sort', sorted === 'ascending' ? `-${code}` : code);
  return { sort: `${path}?${params.toString()}`, sorted };
}

function isSearch({ interaction, operation }: PageRequest): boolean {
  return operation === undefined && interaction?.startsWith('search-') === true;
}

function linkIn({ link }: JsonObject, relation: string, paths: Paths): string | undefined {
  const links = Array.isArray(link) ? link.filter(isObject) : [];
  const url = links.find((each) => each['relation'] === relation)?.['url'];
  return typeof url === 'string' ? ownUrl(url, paths) : undefined;
}

function* searchPage(bundle: JsonObject, entries: Iterable<JsonValue>, around: Around): Generator<string> {
  const rows = objectsIn(entries);
  const first = rows.next();
  const part = partOf(bundle, first.done === true, around);
  yield searchHead(part);
  const chart = new Chart();
  for (let row = first; row.done !== true; row = rows.next()) {
    if (isObject(row.value['resource'])) chart.add(row.value['resource']);
    yield searchRow(resultOf(row.value, part, around));
  }
  yield searchTail(part);
  yield chart.draw();
}

function resultOf(entry: JsonObject, { columns, type }: PagePart, { paths, linkOf }: Around): ResultRow {
  const resource = isObject(entry['resource']) ? entry['resource'] : {};
  const search = isObject(entry['search']) ? entry['search'] : {};
  const mode = typeof search['mode'] === 'string' && search['mode'] !== 'match' ? search['mode'] : undefined;
  const hasCells = resource['resourceType'] === type && columns.length > 0;
  return {
    ...placeOf(resource, paths),
    mode: mode ?? scoreOf(search),
    cells: hasCells ? cellsOf(resource, columns, linkOf) : undefined,
    name: hasCells ? undefined : nameOf(resource),
    span: Math.max(1, columns.length),
    lastUpdated: lastUpdatedOf(resource),
    notes: mode === 'outcome' ? notesOf(resource) : undefined,
  };
}

/** How well a candidate fits, where the operation says so. */
function scoreOf({ score }: JsonObject): string | undefined {
  return score === undefined ? undefined : `score ${displayOf(score)}`;
}

function* historyPage(bundle: JsonObject, entries: Iterable<JsonValue>, around: Around): Generator<string> {
  const rows = objectsIn(entries);
  const first = rows.next();
  const part = partOf(bundle, first.done === true, around);
  yield historyHead(part);
  let at = 0;
  for (let row = first; row.done !== true; row = rows.next()) {
    const version = versionOf(row.value, part.compares, at, around);
    if (!version.isDeletion) at++;
    yield historyRow(version);
  }
  yield historyTail(part);
}

function versionOf(entry: JsonObject, compares: boolean, at: number, { paths }: Around): VersionRow {
  const request = isObject(entry['request']) ? entry['request'] : {};
  const response = isObject(entry['response']) ? entry['response'] : {};
  const url = textOf(request['url']);
  const versionId = /^W\/"([A-Za-z0-9\-.]{1,64})"$/.exec(textOf(response['etag']))?.[1];
  const fullUrl = textOf(entry['fullUrl']);
  const local = (fullUrl === '' ? url : fullUrl.slice(paths.base.length + 1)).split('/');
  const [type, id] = local;
  const isPlaced = type !== undefined && id !== undefined && versionId !== undefined;
  const isDeletion = request['method'] === 'DELETE';
  const hasContent = isObject(entry['resource']);
  return {
    path: isPlaced && !isDeletion ? resourcePath(paths, type, id, versionId) : undefined,
    label: compares ? `version ${versionId ?? ''}` : `${type ?? ''}/${id ?? ''} version ${versionId ?? ''}`,
    reference: isPlaced ? `${type}/${id}/_history/${versionId}` : undefined,
    lastUpdated: textOf(response['lastModified']),
    method: textOf(request['method']),
    isDeletion,
    compares: compares && hasContent,
    isFirst: at === 0,
    isSecond: at === 1,
  };
}

/** JSON as `writeJsonBundle` writes it. */
function* jsonPage(bundle: JsonObject, entries: Iterable<JsonValue>, { linkOf }: Around): Generator<string> {
  yield '<h1>Bundle</h1>\n<pre class="code"><code>';
  yield `${highlightJson(bundle, linkOf).slice(0, -'\n}'.length)},\n  <span class="k">"entry"</span>: [`;
  let separator = '';
  for (const entry of entries) {
    yield `${separator}\n    ${highlightJson(entry, linkOf, '    ')}`;
    separator = ',';
  }
  yield '\n  ]\n}</code></pre>';
}

function* objectsIn(values: Iterable<JsonValue>): Generator<JsonObject, undefined> {
  for (const value of values) if (isObject(value)) yield value;
  return undefined;
}

function placeOf({ resourceType, id }: JsonObject, paths: Paths): Pick<ResultRow, 'path' | 'label'> {
  const type = textOf(resourceType);
  if (typeof id !== 'string') return { path: undefined, label: type };
  return { path: resourcePath(paths, type, id), label: `${type}/${id}` };
}

function lastUpdatedOf({ meta }: JsonObject): string {
  return isObject(meta) ? textOf(meta['lastUpdated']) : '';
}

/** The texts of an OperationOutcome. */
export function notesOf({ issue }: JsonObject): string[] {
  const issues = Array.isArray(issue) ? issue.filter(isObject) : [];
  return issues.map((each) => displayOf(each['details']) || displayOf(each['diagnostics']));
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
