import type { FindPage, LinePage } from './store.js';

/**
 * The texts of a page as lines. Where one spans lines, its newlines are between tokens: a string of JSON holds none.
 *
 * @param until newer versions are left out: milliseconds since the epoch
 */
export function toLinePage({ versions, next }: Pick<FindPage, 'versions' | 'next'>, until: number): LinePage {
  const texts = versions.flatMap(({ json, lastUpdated }) =>
    json === undefined || lastUpdated > until ? [] : `${json.replace(/[\r\n]/g, ' ')}\n`,
  );
  const lines = new TextEncoder().encode(texts.join(''));
  return { lines, count: texts.length, ...(next !== undefined && { next }) };
}
