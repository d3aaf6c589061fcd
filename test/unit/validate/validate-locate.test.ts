import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { locatePaths } from '../../../runtime/validate/locate-paths.js';
import { processorTime } from '../../processor-time.js';

const text = `{
  "resourceType": "Patient",
  "na\\u006de": [
    { "given": ["a\\"]}", "b"] },
    { "family" :
        5 }
  ],
  "x": null, "deep": {"a": [[1, [2]]]}
}`;
const at = (...path: (string | number)[]): string | undefined => {
  const [position] = locatePaths(text, [path]);
  return position && `${position.line}:${position.column}`;
};

describe('places in JSON text', () => {
  it('the whole, a property, an item', () => {
    expect(at()).toBe('1:1');
    expect(at('resourceType')).toBe('2:3');
    expect(at('name')).toBe('3:3');
    expect(at('name', 0)).toBe('4:5');
    expect(at('name', 0, 'given', 1)).toBe('4:26');
    expect(at('name', 1, 'family')).toBe('5:7');
    expect(at('x')).toBe('8:3');
    expect(at('deep', 'a', 0, 1, 0)).toBe('8:34');
  });
  it('none where there is none', () => {
    expect(at('y')).toBeUndefined();
    expect(at('name', 7)).toBeUndefined();
    expect(at('x', 'y')).toBeUndefined();
    expect(at(0)).toBeUndefined();
  });
  it('several in one pass, one within another, one twice', () => {
    const paths = [['deep', 'a', 0], ['deep'], ['y'], ['resourceType'], ['deep'], []];
    const lines = locatePaths(text, paths).map((position) => position?.column);
    expect(lines).toEqual([29, 14, undefined, 3, 14, 1]);
  });
  it('line ends are counted as the reader of JSON counts them', () => {
    expect(locatePaths('\r\n {\r\n\t"a":1}', [['a']])).toEqual([{ line: 3, column: 2 }]);
  });
  it('text that is no JSON does no harm', () => {
    for (const broken of ['', '{', '{"a', '{"a"', '{"a":', '[1,', '{"\\x":1,"a":2}', '[[[[', '"', '{"a":"\\']) {
      expect(() => locatePaths(broken, [['a'], [1], ['a', 0, 'b']])).not.toThrow();
    }
  });
  it('finds every place of any JSON, whatever its spacing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const paths = pathsOf(value);
        const lines = text.split('\n');
        locatePaths(text, paths).forEach((position, i) => {
          const path = paths[i]!;
          const rest = lines[position!.line - 1]!.slice(position!.column - 1);
          const last = path.at(-1);
          const start =
            typeof last === 'string' ? `${JSON.stringify(last)}:` : JSON.stringify(valueAt(value, path), null, indent);
          expect(rest.startsWith(start.split('\n')[0]!)).toBe(true);
        });
      }),
      { numRuns: 500 },
    );
  });
  it('is quick on megabytes', () => {
    const big = JSON.stringify({ a: Array.from({ length: 50_000 }, (_, i) => ({ b: ['x'.repeat(50), i] })), z: 1 });
    const took = processorTime();
    const paths = [['z'], ...Array.from({ length: 99 }, (_, i) => ['a', i * 500, 'b', 1])];
    expect(locatePaths(big, paths).every((position) => position !== undefined)).toBe(true);
    expect(took()).toBeLessThan(5_000);
  });
});

function pathsOf(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const names: (string | number)[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [path, ...names.flatMap((name) => pathsOf((value as Record<string, unknown>)[name], [...path, name]))];
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce((at, name) => (at as Record<string, unknown>)[name], value);
}
