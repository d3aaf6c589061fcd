/** What SQL is read as here: texts, names and comments, which may have any word in them; words; parentheses. */
const TOKENS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)|[\w$:@\u0080-\uffff]+|[()]/g;

/**
 * Cuts a statement at each UNION, so that each SELECT tells what its columns are.
 *
 * @returns undefined: a UNION is within, or after WITH, so that only a run tells what its columns hold
 */
export function unionParts(sql: string): readonly string[] | undefined {
  const parts: string[] = [];
  let [depth, from] = [0, 0];
  let isWith: boolean | undefined;
  for (const { 0: token, index } of sql.matchAll(TOKENS)) {
    const word = token.toUpperCase();
    if (/^[A-Z]/.test(word)) isWith ??= word === 'WITH';
    if (token === '(') depth++;
    else if (token === ')') depth--;
    if (word !== 'UNION') continue;
    if (depth > 0 || isWith === true) return undefined;
    parts.push(sql.slice(from, index));
    from = index + word.length;
  }
  return [...parts, sql.slice(from)].map((part, i) => (i === 0 ? part : part.replace(/^\s*ALL\b/i, '')));
}
