import type { CodeTable } from '../../contract/types.js';
import { CODE_GRAMMARS, type CodeTest } from './code-grammars.js';

/**
 * Tests codes by the tables of required value sets, and by syntax where a value set has all codes of a syntax.
 *
 * @returns the test of a value set by its URL; undefined: it cannot be decided from the tables
 */
export function createCodeTests(tables: readonly CodeTable[]): (valueSet: string) => CodeTest | undefined {
  const rows = new Map(tables.map((row) => [row.url, row]));
  const tests = new Map<string, CodeTest>();
  return (canonical) => {
    const bar = canonical.indexOf('|');
    const url = bar < 0 ? canonical : canonical.slice(0, bar);
    const known = tests.get(url);
    if (known !== undefined) return known;
    const row = rows.get(url);
    const test = row === undefined ? CODE_GRAMMARS.get(url) : testOf(row);
    if (test !== undefined) tests.set(url, test);
    return test;
  };
}

function testOf({ codes }: CodeTable): CodeTest {
  // Made when the first code comes: most value sets are never asked for.
  let bySystem: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  let all: ReadonlySet<string> | undefined;
  return (code, system) => {
    if (system === undefined) return (all ??= new Set(Object.values(codes).flat())).has(code);
    bySystem ??= new Map(Object.entries(codes).map(([url, list]) => [url, new Set(list)]));
    return bySystem.get(system)?.has(code) === true;
  };
}
