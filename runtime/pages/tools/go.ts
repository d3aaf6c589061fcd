import type { OperationRow } from '../../contract/index.js';
import { splitSearch } from '../../search-execution/explain/search-url.js';
import { VIEW_PARAMETER, type Paths } from '../site.js';

/**
 * Fields of forms have the name of a parameter behind one of these, so that a form can say the modifier and the prefix of a value
 * beside it. HTML alone cannot put them together.
 */
export const VALUE = 'v.';

/** The modifier of a parameter. */
const MODIFIER = 'm.';

/** The prefix of its value. */
const PREFIX = 'p.';

/** Further criteria, as a query. */
const MORE = 'more';

/** An element that is to be a column of the results. */
const COLUMN = 'column';

/** Where an operation is called. */
const LEVELS = ['system', 'type', 'instance'] as const;

/** The search that a form describes, as a path on this origin. @param type of resources, one of the tables */
export function searchOf(type: string, form: URLSearchParams, { fhir }: Pick<Paths, 'fhir'>): string {
  const query = criteriaIn(form);
  for (const [name, value] of new URLSearchParams(form.get(MORE) ?? '')) query.append(name, value);
  const columns = form.getAll(COLUMN);
  if (columns.length > 0) query.set('_elements', columns.join(','));
  return withQuery(`${fhir}/${type}`, query);
}

/** The plan of a search as people write it, as a path on this origin; undefined: it is no search. */
export function planOf(search: string, { fhir }: Pick<Paths, 'fhir'>): string | undefined {
  const split = splitSearch(search.trim());
  if (split === undefined) return undefined;
  const query = new URLSearchParams(split.query);
  query.set(VIEW_PARAMETER, 'plan');
  return withQuery([fhir, ...split.segments.map(encodeURIComponent)].join('/'), query);
}

/** The call of an operation that a form describes, as a path on this origin; undefined: a place in it is missing. */
export function operationOf(
  { name }: OperationRow,
  form: URLSearchParams,
  { fhir }: Pick<Paths, 'fhir'>,
): string | undefined {
  const level = LEVELS.find((each) => each === form.get('level'));
  const [type = '', id = ''] = [form.get('_type')?.trim(), form.get('_id')?.trim()];
  if (level === undefined || (level !== 'system' && type === '') || (level === 'instance' && id === ''))
    return undefined;
  const places = { system: [], type: [type], instance: [type, id] }[level];
  return withQuery([fhir, ...places.map(encodeURIComponent), `$${name}`].join('/'), criteriaIn(form));
}

function criteriaIn(form: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams();
  for (const [field, value] of form) {
    if (!field.startsWith(VALUE) || value.trim() === '') continue;
    const name = field.slice(VALUE.length);
    const modifier = form.get(MODIFIER + name) ?? '';
    query.append(modifier === '' ? name : `${name}:${modifier}`, (form.get(PREFIX + name) ?? '') + value.trim());
  }
  return query;
}

function withQuery(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
