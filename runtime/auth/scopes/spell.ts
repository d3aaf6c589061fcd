import { readWord, type Dialect } from './dialect.js';
import type { Given } from './give.js';
import { printScope } from './scope.js';

/**
 * What was given in the spelling of the request: each scope as it was asked for where that says exactly what is given, else
 * in v2 letters. Read again in the same dialect it means the same, also where `.read` takes its meaning from the words
 * beside it.
 */
export function spellScopes(given: readonly Given[], dialect: Dialect | undefined, requested: string): string {
  const spell = (mayRepeat: (text: string) => boolean): readonly string[] =>
    given.flatMap(({ text, isExact, scopes, customs }) =>
      isExact && mayRepeat(text) ? [text] : [...scopes.map(printScope), ...customs],
    );
  const echo = spell(() => true);
  const isSteady = readWord(dialect, echo) === readWord(dialect, requested.split(' '));
  return [...new Set(isSteady ? echo : spell((text) => !text.endsWith('.read')))].join(' ');
}
