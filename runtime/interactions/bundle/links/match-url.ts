import { FhirError } from '../../../fhir/errors.js';
import { searchDefinitions, type SearchTables } from '../../../search/parse/definitions.js';
import { isLinkName, splitLinkName } from '../../../search/parse/link-name.js';

/** What stands for a name: the entry, or the text that takes its place. */
export type Lookup<T> = (text: string) => T | undefined;

/**
 * The parameters of a search in an entry, with the names of resources in the place of placeholders. Only references and
 * URIs have them: an identifier may have the value of a placeholder, and keeps it. `_id` takes the id alone.
 *
 * @param type the type that is searched; undefined: several
 * @param nameOf `Type/id` for a placeholder; undefined: it is none
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

/** Entries whose placeholders stand in the parameters of a search. */
export function entriesInQuery(
  type: string | undefined,
  params: URLSearchParams,
  find: Lookup<number>,
  tables: SearchTables,
): ReadonlySet<number> {
  const values = [...params].filter(([name]) => endOf(type, name, tables) !== undefined).map(([, value]) => value);
  return new Set(values.flatMap((value) => value.split(',')).flatMap((part) => find(part) ?? []));
}

/** What stands at the end of a parameter's name: the id of a resource, or what refers to one; undefined: something else. */
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

/** The types that a chain or reverse chain may lead to, and the parameter of theirs at its end. */
function endOfLinks(
  type: string | undefined,
  name: string,
  tables: SearchTables,
): { readonly types: readonly string[]; readonly last: string } {
  const { rowsOf, resourceTypes } = searchDefinitions(tables);
  const link = attempt(() => splitLinkName(name, Infinity));
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

/** What is wrong with a name is told when the search is read. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof FhirError) return undefined;
    throw error;
  }
}
