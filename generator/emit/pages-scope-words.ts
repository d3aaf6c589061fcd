import type { ScopeCondition, ScopeNeed, ScopeRow } from '../../runtime/contract/index.js';
import { joined, type Inline, type Span } from './pages-data.js';

/** A short name for each condition, and what it says. https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html */
export const CONDITIONS: Readonly<Record<ScopeCondition, readonly [label: string, meaning: string]>> = {
  'if-none-exist': ['If-None-Exist', 'A create carries criteria, in the header `If-None-Exist` or in `ifNoneExist` of a Bundle.'],
  'conditional-reference': ['conditional reference', 'Content refers by a search, such as `Patient?identifier=…`: the types searched.'],
  chain: ['chain', 'Criteria reach into other types, by a chain whose target is known, by `_has`, `_filter` or sorting: those types.'],
  'untyped-chain': ['untyped chain', 'A chain over a reference without a type: the types that it may point to.'],
  list: ['_list', 'Criteria name a list: the types of lists and what is in them.'],
  in: ['_in', 'Criteria name a group, list or team: its type.'],
  include: ['_include', 'The types that are included.'],
  revinclude: ['_revinclude', 'The types that are included because they refer to matches.'],
  'types-named': ['types named', 'The request names types, in `_type` or in the URL: those.'],
  'types-unnamed': ['no types named', 'The request names no types: all of them.'],
  'security-context': ['security context', 'A Binary with a `securityContext`: the type of what that refers to.'],
  'subscription-criteria': ['subscription criteria', 'A Subscription: the types that its topic and its filters look at.'],
  'mode-create': ['mode=create', '`$validate` is to try out a create.'],
  'mode-update': ['mode=update', '`$validate` is to try out an update.'],
  'mode-delete': ['mode=delete', '`$validate` is to try out a delete.'],
  persist: ['persist', 'The caller asks to store what is made.'],
  'patient-named': ['patient', 'Parameter `patient` of `$export` is there.'],
  'graphql-instance': ['GraphQL instance', 'Fields that ask for one resource: its type.'],
  'graphql-list': ['GraphQL list', 'Fields that ask for a search: its type.'],
  'graphql-reference': ['GraphQL reference', 'Fields that ask for the target of a reference: its type.'],
  'hfql-statement': ['HFQL statement', 'The type after FROM.'],
  'hfql-introspection': ['HFQL introspection', 'The types whose tables or columns are listed.'],
};

/** Conditions that only one type can bring: named on its page and on the page of scopes, not on all others. */
export const CONDITION_TYPES: Readonly<Partial<Record<ScopeCondition, string>>> = {
  'security-context': 'Binary',
  'subscription-criteria': 'Subscription',
};

/**
 * What a need asks for: `Patient.r`, "`s` on each type concerned".
 *
 * @param type the type of the URL, where it is known
 */
export function needWords(need: ScopeNeed, type?: string): Span[] {
  const sets = need.anyOf ?? [need.letters ?? ''];
  const limit = need.unconstrained === true ? [' without constraint'] : [];
  if (!['type', 'compartment', 'each', 'any', 'filter'].includes(need.on)) return [...alternatives(sets, need.on), ...limit];
  if (need.on === 'type') {
    if (sets.length === 5) return [`any scope on ${type ?? 'the type'}`, ...limit];
    return [...alternatives(sets, type ?? '[type]'), ...limit];
  }
  const where: Readonly<Record<string, string>> = {
    compartment: ' on the type that opens the compartment',
    each: ' on each type concerned',
    any: ' on at least one type concerned',
    filter: ' on each type concerned, or what is of it is left out',
  };
  const letters: Span[] = sets.length === 5 ? ['any scope'] : alternatives(sets, undefined);
  return [...letters, where[need.on] ?? '', ...limit];
}

function alternatives(sets: readonly string[], type: string | undefined): Span[] {
  return joined(
    sets.map((letters): Inline => [{ code: type === undefined ? letters : `${type}.${letters}` }]),
    ' or ',
  );
}

/**
 * What every request of a kind needs.
 *
 * @param needs those that no condition brings
 */
export function rowWords(row: ScopeRow, needs: readonly ScopeNeed[], type?: string): Inline {
  if (row.open === true) return 'nothing: open to all, without a token';
  const parts: Inline[] = [
    ...(row.owner === true ? ['the token of the client that started the job'] : []),
    ...needs.map((need) => needWords(need, type)),
    ...(row.admin === undefined ? [] : [[{ code: row.admin }]]),
  ];
  return parts.length === 0 ? 'any valid token' : joined(parts, ' and ');
}
