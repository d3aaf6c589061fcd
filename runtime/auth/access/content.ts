import type { ScopeCondition, ScopeRow } from '../../contract/rest.js';

/**
 * What each condition of a scope row brings: a `fact` that holds or not, the `types` that it is about, or `groups` of types,
 * of each of which one has to do. A condition that is missing here does not compile.
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

/** What a request brings under a condition; false: it was looked for, and is not there. */
export type Brought<C extends ScopeCondition> = Forms[(typeof BRINGS)[C]] | false;

/** What is known of a request's content. What is absent was not looked for yet, and is decided later. */
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
