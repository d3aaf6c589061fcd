import { searchDefinitions, type SearchTables } from '../../search/query/definitions.js';

/** What stands for a name: the entry, or the text that takes its place. */
export type Lookup<T> = (text: string) => T | undefined;

/**
 * The parameters of a search in an entry, with the names of resources in the place of placeholders. Only references and
 * URIs have them: an identifier may have the value of a placeholder, and keeps it. `_id` takes the id alone.
 *
 * @param nameOf `Type/id` for a placeholder; undefined: it is none
 */
export function replaceInQuery(
  type: string | undefined,
  params: URLSearchParams,
  nameOf: Lookup<string>,
  tables: SearchTables,
): URLSearchParams {
  const pairs = [...params].map(([name, value]): [string, string] => {
    if (!mayRefer(type, name, tables)) return [name, value];
    const parts = value.split(',').map((part) => {
      const found = nameOf(part);
      return found === undefined ? part : codeOf(name) === '_id' ? found.slice(found.indexOf('/') + 1) : found;
    });
    return [name, parts.join(',')];
  });
  return new URLSearchParams(pairs);
}

/** Entries whose placeholders stand in the parameters of a search. */
export function entriesInQuery(
  type: string | undefined,
  params: URLSearchParams,
  find: Lookup<number>,
  tables: SearchTables,
): ReadonlySet<number> {
  const values = [...params].filter(([name]) => mayRefer(type, name, tables)).map(([, value]) => value);
  return new Set(values.flatMap((value) => value.split(',')).flatMap((part) => find(part) ?? []));
}

function mayRefer(type: string | undefined, name: string, tables: SearchTables): boolean {
  const code = codeOf(name);
  if (code === '_id') return true;
  const kind = type === undefined ? undefined : searchDefinitions(tables).rowsOf(type).get(code)?.type;
  return kind === 'reference' || kind === 'uri';
}

/** The parameter without modifier or chain. */
function codeOf(name: string): string {
  return /^[^:.]*/.exec(name)?.[0] ?? name;
}
