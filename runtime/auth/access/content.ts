import type { ScopeCondition, ScopeRow } from '../../contract/rest.js';

/**
 * Kinds of content that the conditions of scope rows read from a request. A `fact` holds or not. `types` are the types that the
 * condition is about. `groups` are lists of types, and of each list access to one type is enough. A condition that is missing
 * here does not compile.
 */
export const BRINGS = {
  'if-none-exist': 'fact',
  'conditional-reference': 'types',
  chain: 'types',
  'untyped-chain': 'groups',
  list: 'types',
  in: 'types',
  include: 'types',
  revinclude: 'types',
  'types-named': 'types',
  'types-unnamed': 'types',
  'security-context': 'types',
  'subscription-criteria': 'types',
  'mode-create': 'fact',
  'mode-update': 'fact',
  'mode-delete': 'fact',
  persist: 'fact',
  'patient-named': 'fact',
  'graphql-instance': 'types',
  'graphql-list': 'types',
  'graphql-reference': 'types',
  'hfql-statement': 'types',
  'hfql-introspection': 'types',
} as const satisfies Record<ScopeCondition, 'fact' | 'types' | 'groups'>;

interface Forms {
  readonly fact: true;
  readonly types: readonly string[];
  readonly groups: readonly (readonly string[])[];
}

/** Content that a request has for a condition; false: the reader looked for it and found none. */
export type Brought<C extends ScopeCondition> = Forms[(typeof BRINGS)[C]] | false;

/** Content of a request, as far as it is known. A condition that is absent was not looked for yet, and is decided later. */
export type Content = { readonly [C in ScopeCondition]?: Brought<C> } & {
  /** The types that needs without a condition mean by `each`, `any` and `filter`. */
  readonly touched?: readonly string[];
};

/**
 * Finds in a request what the conditions of scope rows ask for, one reader each, so that a new condition does not compile
 * before it is read. `later`: not known before the body is read, or the answer is there.
 */
export type ContentReaders<Request> = {
  readonly [C in ScopeCondition]: (request: Request) => Brought<C> | 'later';
} & {
  readonly touched: (request: Request) => readonly string[] | 'later';
};

/** Reads of a request what its scope row asks for, and no more. */
export function readContent<Request>(
  { needs }: Pick<ScopeRow, 'needs'>,
  request: Request,
  readers: ContentReaders<Request>,
): Content {
  const content: Record<string, unknown> = {};
  for (const { on, when } of needs) {
    const name = when ?? (on === 'each' || on === 'any' ? 'touched' : undefined);
    const value = name === undefined ? 'later' : readers[name](request);
    if (name !== undefined && value !== 'later') content[name] = value;
  }
  return content as Content;
}
