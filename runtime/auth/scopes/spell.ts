import { readWord, type Dialect } from './dialect.js';
import type { GivenScopes } from './give.js';
import { printScope } from './scope.js';

/**
 * Returns the given scopes in the spelling of the request. A scope is repeated as it was requested where that says exactly what
 * is given; otherwise it is written in v2 letters. Read again in the same dialect the text means the same, even where the
 * meaning of `.read` depends on other words of the text.
 */
export function spellScopes(given: readonly GivenScopes[], dialect: Dialect | undefined, requested: string): string {
  const spell = (mayRepeat: (text: string) => boolean): readonly string[] =>
    given.flatMap(({ text, isExact, scopes, customs }) =>
      isExact && mayRepeat(text) ? [text] : [...scopes.map(printScope), ...customs],
    );
  const echo = spell(() => true);
  const isSteady = readWord(dialect, echo) === readWord(dialect, requested.split(' '));
  return [...new Set(isSteady ? echo : spell((text) => !text.endsWith('.read')))].join(' ');
}
