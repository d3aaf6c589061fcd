/**
 * How a client writes its scopes: `v2` letters (SMART 2), `v1` words (`read`, `write`, `*`), or `eu-0.1` words (`read`,
 * `search`, `create`). All accept the letters; they differ in what `.read` means.
 */
export type Dialect = 'v2' | 'v1' | 'eu-0.1';

/** The dialects there are, as `kiln client add --dialect` names them. */
export const DIALECTS: readonly Dialect[] = ['v2', 'v1', 'eu-0.1'];

/** What `.read` means: by id only, or by search as well. */
export type ReadWord = 'r' | 'rs';

/** Words that can mean but one thing, in letters. */
export const WORDS: Readonly<Record<string, string>> = { search: 's', create: 'c', write: 'cud', '*': 'cruds' };

const LONG_FORM = /^system\/[A-Za-z*]+\.(?:search|create)$/;

/**
 * What `.read` means in a list of scopes. Who is not registered as one or the other shows it by the words that only the
 * long form has; without them SMART v1 is meant.
 */
export function readWord(dialect: Dialect | undefined, texts: readonly string[]): ReadWord {
  switch (dialect) {
    case 'eu-0.1':
      return 'r';
    case 'v1':
      return 'rs';
    case 'v2':
    case undefined:
      return texts.some((text) => LONG_FORM.test(text)) ? 'r' : 'rs';
  }
}
