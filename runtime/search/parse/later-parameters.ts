import type { ComponentRow, SearchRow } from '../../contract/search.js';
import { placesOf, isWords } from '../parameter-kinds.js';
import { VALUE_PARSERS } from './parse-value.js';

/** Parameters that are no criteria of one type: what is to be known of them where somebody asks for them as such. */
export const NO_CRITERIA: Readonly<Record<string, string>> = {
  _filter: 'is asked of the type that is searched; its paths may lead over references: _filter=subject.name co "x"',
  _has: 'needs its parts in its name: _has:Type:reference:parameter, as in _has:Observation:patient:code',
  _query: 'names a query that a server has, and there are none here; say it with the parameters of the type',
  _include: 'says what comes with the matches, and is no criterion of them',
  _revinclude: 'says what comes with the matches, and is no criterion of them',
  _type: 'belongs to searches of the whole system, [base]?_type=…; the type that is searched here is known already',
};

/** Parameters that are no index entries, by what is to be known of their values. */
export const OF_THEIR_OWN: Readonly<Record<string, string>> = {
  _filter:
    'Comparisons of the parameters listed, but for those of words and membership, combined by and, or, not and parentheses',
  _list: 'Ids of Lists; functional lists there are none',
  _in: 'Modifiers: :not. Active members of Group/[id], List/[id], CareTeam/[id]',
};

/** Those that searches over several types do not take, though all types have them. */
export const OF_ONE_TYPE: ReadonlySet<string> = new Set(['_in']);

/** Whether searches by a parameter work: its values are read, and compared with something. */
export function isSearchable(row: SearchRow): boolean {
  const isApart = [NO_CRITERIA, OF_THEIR_OWN].some((codes) => Object.hasOwn(codes, row.code));
  if (isApart) return false;
  if (placesOf(row) !== undefined) return true;
  if (isWords(row)) return true;
  if (row.type !== 'composite') return isReadable(row);
  const { components = [] } = row;
  return row.paths.length > 0 && components.length > 0 && components.every(isReadable);
}

/** Whether a reference may lead to a type. */
export function refersTo({ type, targets }: SearchRow, target: string): boolean {
  return type === 'reference' && targets?.includes(target) !== false;
}

/** Types whose values name a resource by type and id, if at all. */
const PLAIN: ReadonlySet<string> = new Set(['Reference', 'CodeableReference']);

/** Whether values of a reference may name a resource by its URL, as canonicals do, rather than by type and id alone. */
export function namesByUrl({ paths }: SearchRow): boolean {
  return paths.some(({ types }) => types.some((type) => !PLAIN.has(type)));
}

function isReadable({ type, paths }: ComponentRow | SearchRow): boolean {
  return VALUE_PARSERS[type] !== undefined && paths.some(({ types }) => types.length > 0);
}

/** Whether what it refers to stands in the resource itself, and need not be anywhere else: the first resource of a Bundle. */
export function isInline({ type, paths }: SearchRow): boolean {
  return (
    type === 'reference' && paths.length > 0 && paths.every(({ types }) => types.every((each) => each === 'Resource'))
  );
}
