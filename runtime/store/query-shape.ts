/** Of a list so many members tell what the others are like. */
const LOOKED_AT = 4;

/** Members of these say what is asked, in words of the definitions; all others hold what a client looks for. */
const WORDS: ReadonlySet<string> = new Set([
  'is',
  'param',
  'type',
  'types',
  'present',
  'params',
  'source',
  'by',
  'total',
]);

/**
 * A query without the values that it looks for, as text: what it asks of which parameters, and of how many values, to a power of
 * two. Queries of one shape take alike long, more or less.
 *
 * @param query plain data
 */
export function shapeOf(query: object): string {
  return describe(query, false);
}

function describe(value: unknown, isWord: boolean): string {
  if (Array.isArray(value)) return describeList(value, isWord);
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value).map(([name, each]) => `${name}:${describe(each, WORDS.has(name))}`).join()}}`; // prettier-ignore
  }
  return isWord || typeof value === 'boolean' ? String(value) : typeof value;
}

function describeList(list: readonly unknown[], isWord: boolean): string {
  const shapes = new Set(list.slice(0, LOOKED_AT).map((each) => describe(each, isWord)));
  return `[${Math.ceil(Math.log2(list.length + 1))} ${[...shapes].join()}]`;
}
