import type { ScopeCondition, ScopeNeed, ScopeRow } from '../../runtime/contract/index.js';
import { joined, type Inline, type Span } from './pages-data.js';

/** A short name for each condition, and its explanation. https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html */
export const CONDITIONS: Readonly<Record<ScopeCondition, readonly [label: string, meaning: string]>> = {
  'if-none-exist': [
    'If-None-Exist',
    'A create carries criteria, in the header `If-None-Exist` or in `ifNoneExist` of a Bundle.',
  ],
  'conditional-reference': [
    'conditional reference',
    'Content refers by a search, such as `Patient?identifier=…`: the types searched.',
  ],
  chain: [
    'chain',
    'Criteria reach into other types, by a chain whose target is known, by `_has`, `_filter` or sorting: those types.',
  ],
  'untyped-chain': ['untyped chain', 'A chain over a reference without a type: the types that it may point to.'],
  list: ['_list', 'Criteria name a list, or `_graph` a graph: the types of these.'],
  in: ['_in', 'Criteria name a group, list or team: its type.'],
  include: ['_include', 'The types that are included.'],
  revinclude: ['_revinclude', 'The types that are included because they refer to matches.'],
  'types-named': ['types named', 'The request names types, in `_type` or in the URL: those.'],
  'types-unnamed': ['no types named', 'The request names no types: all of them.'],
  'security-context': ['security context', 'A Binary with a `securityContext`: the type of what that refers to.'],
  'subscription-criteria': [
    'subscription criteria',
    'A Subscription: the types that its topic and its filters look at.',
  ],
  'mode-create': ['mode=create', '`$validate` is to try out a create.'],
  'mode-update': ['mode=update', '`$validate` is to try out an update.'],
  'mode-delete': ['mode=delete', '`$validate` is to try out a delete.'],
  persist: ['persist', 'The caller asks to store what is made.'],
  'patient-named': ['patient', 'Parameter `patient` of `$export` is there.'],
  'graphql-instance': ['GraphQL instance', 'Fields that ask for one resource: its type.'],
  'graphql-list': ['GraphQL list', 'Fields that ask for a search: its type.'],
  'graphql-reference': ['GraphQL reference', 'Fields that ask for the target of a reference: its type.'],
  'hfql-statement': ['statement or view', 'The type after FROM of HFQL, or that of the resources of a view.'],
  'hfql-introspection': ['HFQL introspection', 'The types whose tables or columns are listed.'],
};

/** Conditions of a single type: explained on its page and on the page of scopes only. */
export const CONDITION_TYPES: Readonly<Partial<Record<ScopeCondition, string>>> = {
  'security-context': 'Binary',
  'subscription-criteria': 'Subscription',
};

/** Text for the types that letters are needed on, if it is neither the type of the URL nor a named one. */
const PLACES: Readonly<Record<string, string>> = {
  compartment: ' on the type that opens the compartment',
  each: ' on each type concerned',
  any: ' on at least one type concerned',
  filter: ' on each type concerned; what lacks it is left out',
  'any filter': ' on at least one type concerned; what lacks it is left out',
};

/**
 * Text of a need: `Patient.r`, "`s` on each type concerned".
 *
 * @param type the type of the URL, if it is known
 */
export function needWords(need: ScopeNeed, type = '[type]'): Span[] {
  const sets = need.anyOf ?? [need.letters ?? ''];
  const place = PLACES[need.on];
  const on = need.on === 'type' ? type : need.on;
  const limit = need.unconstrained === true ? [' without constraint'] : [];
  if (sets.length === ALL_LETTERS) return ['any scope', place ?? ` on ${on}`, ...limit];
  const codes = sets.map((letters): Inline => [{ code: place === undefined ? `${on}.${letters}` : letters }]);
  return [...joined(codes, ' or '), place ?? '', ...limit];
}

const ALL_LETTERS = 5;

/** Merges `any` and `filter` needs of the same letters, which have the same text. */
export function merged(needs: readonly ScopeNeed[]): ScopeNeed[] {
  const sameAs = (on: string, need: ScopeNeed): boolean =>
    needs.some(
      (other) => other.on === on && JSON.stringify({ ...other, on: '' }) === JSON.stringify({ ...need, on: '' }),
    );
  return needs
    .filter((need) => need.on !== 'filter' || !sameAs('any', need))
    .map((need) => (need.on === 'any' && sameAs('filter', need) ? { ...need, on: 'any filter' } : need));
}

/**
 * Text of the needs of every request of a kind.
 *
 * @param needs the unconditional needs
 */
export function rowWords(row: ScopeRow, needs: readonly ScopeNeed[], type?: string): Inline {
  if (row.open === true) return 'nothing: open to all, without a token';
  const parts: Inline[] = [
    ...(row.owner === true ? ['the token of the client that started the job'] : []),
    ...merged(needs).map((need) => needWords(need, type)),
    ...(row.admin === undefined ? [] : [[{ code: row.admin }]]),
  ];
  if (parts.length > 0) return joined(parts, ', and ');
  return row.anyToken === true || row.needs.length === 0 ? 'any valid token' : 'what the request asks for decides';
}

/** The conditions of further needs: `chain, _list`. Empty if there are none. */
export function conditionWords({ needs }: ScopeRow): string {
  return [...new Set(needs.flatMap(({ when }) => (when === undefined ? [] : CONDITIONS[when][0])))].join(', ');
}
