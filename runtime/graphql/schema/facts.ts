import type { GraphQLField } from 'graphql';

import type { SearchRow } from '../../contract/search.js';

/** Meaning of a field of the schema in FHIR. */
export type FieldFacts =
  /** A primitive value, what is beside one (`_birthDate`), or a part of a connection. */
  | { readonly is: 'value'; readonly isList: boolean; readonly type: string }
  /** An element that has elements. `type`: name of its row; `targets`: what references in it may point to, absent: anything. */
  | { readonly is: 'complex'; readonly isList: boolean; readonly type: string; readonly targets?: readonly string[] }
  /** `Reference.resource`: the target. */
  | { readonly is: 'target' }
  /** `Patient(id:)` */
  | { readonly is: 'read'; readonly type: string }
  /** `PatientList`, `PatientConnection`. */
  | { readonly is: 'search'; readonly type: string; readonly isConnection: boolean; readonly isReverse: boolean }
  | { readonly is: 'resourceType' };

/** The facts of a field; undefined: it is one of GraphQL's own (`__typename`). */
export function factsOf(field: GraphQLField<unknown, unknown> | null | undefined): FieldFacts | undefined {
  return field?.extensions['facts'] as FieldFacts | undefined;
}

/** Name of a search parameter as an argument. https://hl7.org/fhir/R5/graphql.html#searching */
export function argumentName(code: string): string {
  return code.replaceAll('-', '_');
}

/** Arguments of a search besides its parameters. */
export const SEARCH_ARGUMENTS = {
  reference: '_reference',
  fhirpath: 'fhirpath',
  offset: '_offset',
  cursor: 'cursor',
  otherCursor: '_cursor',
} as const;

/** Arguments that select values of a repeating element. https://hl7.org/fhir/R5/graphql.html#list */
export const LIST_ARGUMENTS = { fhirpath: 'fhirpath', count: '_count', offset: '_offset' } as const;

/** Result parameters that are arguments too. What shapes resources, or adds some, is no business of a graph. */
export const RESULT_ARGUMENTS: readonly string[] = ['_sort', '_count', '_score'];

/** Search parameters that cannot be arguments. */
const EXCLUDED: ReadonlySet<string> = new Set(['_contained', '_containedType', '_query', '_has', '_type']);

/** The search parameters that are arguments, by name of the argument. */
export function searchArguments(rows: ReadonlyMap<string, SearchRow>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const code of rows.keys()) {
    const name = argumentName(code);
    if (!EXCLUDED.has(code) && !found.has(name) && /^[_A-Za-z]\w*$/.test(name)) found.set(name, code);
  }
  return found;
}
