import { searchDefinitions, type SearchTables } from '../../../indexing/definitions.js';
import { isLinkName, splitLinkName } from '../../../search/parse/link-name.js';
import { attemptOrIgnore } from '../../../fhir/attempt.js';

/** Looks up a placeholder: its entry, or the text that replaces it. */
export type Lookup<T> = (text: string) => T | undefined;

/**
 * The search parameters of an entry, with placeholders replaced by the names of resources. Only in references and URIs: an
 * identifier keeps its value even if that equals a placeholder. In `_id` a placeholder is replaced by the id alone.
 *
 * @param type the searched type; undefined if there are several
 * @param nameOf `Type/id` for a placeholder; undefined for other texts
 */
export function replaceInQuery(
  type: string | undefined,
  params: URLSearchParams,
  nameOf: Lookup<string>,
  tables: SearchTables,
): URLSearchParams {
  const pairs = [...params].map(([name, value]): [string, string] => {
    const end = endOf(type, name, tables);
    if (end === undefined) return [name, value];
    const parts = value.split(',').map((part) => {
      const found = nameOf(part);
      return found === undefined ? part : end === 'id' ? found.slice(found.indexOf('/') + 1) : found;
    });
    return [name, parts.join(',')];
  });
  return new URLSearchParams(pairs);
}

/** Entries whose placeholders are in the parameters of a search. */
export function entriesInQuery(
  type: string | undefined,
  params: URLSearchParams,
  find: Lookup<number>,
  tables: SearchTables,
): ReadonlySet<number> {
  const values = [...params].filter(([name]) => endOf(type, name, tables) !== undefined).map(([, value]) => value);
  return new Set(values.flatMap((value) => value.split(',')).flatMap((part) => find(part) ?? []));
}

/** Whether the last parameter of a chain is an id or a reference; undefined for other kinds. */
function endOf(type: string | undefined, name: string, tables: SearchTables): 'id' | 'reference' | undefined {
  const { types, last } = isLinkName(name)
    ? endOfLinks(type, name, tables)
    : { types: type === undefined ? [] : [type], last: name };
  const [code = '', modifier] = last.split(':');
  if (code === '_id') return 'id';
  if (modifier === 'identifier') return undefined;
  const { rowsOf } = searchDefinitions(tables);
  const refers = types.some((each) => {
    const kind = rowsOf(each).get(code)?.type;
    return kind === 'reference' || kind === 'uri';
  });
  return refers ? 'reference' : undefined;
}

/** The types that a chain or reverse chain may lead to, and its last parameter. */
function endOfLinks(
  type: string | undefined,
  name: string,
  tables: SearchTables,
): { readonly types: readonly string[]; readonly last: string } {
  const { rowsOf, resourceTypes } = searchDefinitions(tables);
  const link = attemptOrIgnore(() => splitLinkName(name, Infinity));
  if (link === undefined) return { types: [], last: '' };
  let types: readonly string[] = type === undefined ? [] : [type];
  for (const step of link.steps) {
    if (step.type !== undefined) types = [step.type];
    else {
      const rows = types.flatMap((each) => rowsOf(each).get(step.code) ?? []);
      types = [...new Set(rows.flatMap(({ targets }) => targets ?? resourceTypes))];
    }
  }
  return { types, last: link.last };
}
