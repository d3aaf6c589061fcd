/**
 * How a client writes its scopes: `v2` letters (SMART 2), `v1` words (`read`, `write`, `*`), or `eu-0.1` words (`read`,
 * `search`, `create`). All accept the letters; they differ in what `.read` means.
 */
export type Dialect = 'v2' | 'v1' | 'eu-0.1';

/** The dialects there are, as `kiln client add --dialect` names them. */
export const DIALECTS: readonly Dialect[] = ['v2', 'v1', 'eu-0.1'];

/** Meaning of `.read`: reading by id only, or searching as well. */
export type ReadWord = 'r' | 'rs';

/** Words that can mean but one thing, in letters. */
export const WORDS: Readonly<Record<string, string>> = { search: 's', create: 'c', write: 'cud', '*': 'cruds' };

const LONG_FORM = /^system\/[A-Za-z*]+\.(?:search|create)$/;

/**
 * Returns what `.read` means in a list of scopes. For a client that is registered with neither `v1` nor `eu-0.1`, words that
 * only the long form has decide. Without such words SMART v1 is meant.
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
