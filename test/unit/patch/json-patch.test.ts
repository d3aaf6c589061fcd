import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { FhirError } from '../../../runtime/fhir/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../../../runtime/fhir/resource.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import { applyJsonPatch } from '../../../runtime/patch/json/json-patch.js';
import { processorTime } from '../../processor-time.js';
import { freeze } from './freeze.js';

/** What the patch makes of the document, or the code of the error. */
function outcome(document: JsonValue, patch: () => JsonValue): JsonValue {
  try {
    return { result: applyJsonPatch(document, patch()) };
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
    return { error: error.code };
  }
}

/** Both as JSON texts. */
function apply(document: string, patch: string): string {
  return writeJson(applyJsonPatch(freeze(readJson(document)), freeze(readJson(patch))) as JsonObject);
}

function failure(document: string, patch: string): FhirError {
  try {
    apply(document, patch);
  } catch (error) {
    if (error instanceof FhirError) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

describe('RFC 6902, the examples', () => {
  const examples = readJson(readFileSync(new URL('rfc6902.json', import.meta.url), 'utf8')) as JsonObject[];

  it('are all here', () => {
    const titles = examples.map(({ title }) => String(title).split(' ')[0]);
    expect(titles.slice(0, 16)).toEqual(Array.from({ length: 16 }, (_, i) => `A.${i + 1}`));
  });

  it.each(examples.map((example) => [String(example['title']), example] as const))('%s', (_, example) => {
    const { document, patch, patchText, result, error } = example;
    const given = freeze(document!);
    const expected = error === undefined ? { result } : { error };
    expect(outcome(given, () => (patchText === undefined ? freeze(patch!) : readJson(String(patchText))))).toEqual(
      expected,
    );
  });
});

describe('RFC 6902 4, what operations do', () => {
  it.each([
    ['an added member that exists is replaced, and keeps its place', '{"a":1,"b":2}', 'add /a 3', '{"a":3,"b":2}'],
    ['an item is added at the end by its index', '{"a":[1]}', 'add /a/1 2', '{"a":[1,2]}'],
    ['null is a value', '{"a":[1]}', 'add /a/0 null', '{"a":[null,1]}'],
    ['the whole document is replaced by add', '{"a":1}', 'add  {"b":2}', '{"b":2}'],
    ['the whole document is replaced by replace', '{"a":1}', 'replace  {"b":2}', '{"b":2}'],
    ['an item is replaced', '{"a":[1,2,3]}', 'replace /a/1 9', '{"a":[1,9,3]}'],
    ['a member with an empty name', '{"":{"":1}}', 'replace // 2', '{"":{"":2}}'],
    ['an object has members that look like indexes', '{"0":1,"-":2,"01":3}', 'remove /01', '{"0":1,"-":2}'],
    ['escapes', '{"a/b":{"m~n":1}}', 'replace /a~1b/m~0n 2', '{"a/b":{"m~n":2}}'],
    [
      'names of what objects inherit are names like others',
      '{"a":{}}',
      'add /a/constructor 1',
      '{"a":{"constructor":1}}',
    ],
    ['numbers keep their text', '{"a":1.50,"b":1e3}', 'add /c 2.0', '{"a":1.50,"b":1e3,"c":2.0}'],
  ])('%s', (_, document, short, expected) => {
    const [op, path, value] = short.split(' ');
    const operation = { op: op!, path: path!, ...(value === undefined ? {} : { value: 0 }) };
    const patch = `[${JSON.stringify(operation).replace('"value":0', () => `"value":${value}`)}]`;
    expect(apply(document, patch)).toBe(expected);
  });

  it.each([
    ['a value moves onto another', '{"a":1,"b":2}', '/a', '/b', '{"b":1}'],
    ['a value moves to its own place', '{"a":{"b":1}}', '/a/b', '/a/b', '{"a":{"b":1}}'],
    ['the document moves to its own place', '{"a":1}', '', '', '{"a":1}'],
    ['a part becomes the document', '{"a":{"b":{"c":1}}}', '/a/b', '', '{"c":1}'],
    ['an item moves forward, counted without it', '{"a":[1,2,3]}', '/a/0', '/a/2', '{"a":[2,3,1]}'],
    ['an item moves behind the last', '{"a":[1,2,3]}', '/a/0', '/a/-', '{"a":[2,3,1]}'],
    [
      'a name that only begins like another is outside it',
      '{"a":{"x":1},"ab":{}}',
      '/a',
      '/ab/a',
      '{"ab":{"a":{"x":1}}}',
    ],
  ])('move: %s', (_, document, from, path, expected) => {
    expect(apply(document, JSON.stringify([{ op: 'move', from, path }]))).toBe(expected);
  });

  it('copy: the copy and what it was made of change on their own', () => {
    const patch = [
      { op: 'add', path: '/a/y', value: 2 },
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'replace', path: '/b/x/0', value: 9 },
      { op: 'add', path: '/a/x/-', value: 5 },
      { op: 'copy', from: '', path: '/c' },
      { op: 'remove', path: '/c/a' },
    ];
    expect(apply('{"a":{"x":[1]}}', JSON.stringify(patch))).toBe(
      '{"a":{"x":[1,5],"y":2},"b":{"x":[9],"y":2},"c":{"b":{"x":[9],"y":2}}}',
    );
  });

  it('a value of the patch that is added twice becomes two', () => {
    const patch = readJson(
      '[{"op":"add","path":"/a","value":[1]},{"op":"add","path":"/b","value":[1]}]',
    ) as JsonObject[];
    patch[1]!['value'] = patch[0]!['value']!;
    patch.push({ op: 'add', path: '/a/-', value: 2 });
    expect(applyJsonPatch({}, freeze(patch))).toEqual({ a: [1, 2], b: [1] });
  });

  it('what was given stays as it was, and what did not change is not copied', () => {
    const document = freeze(readJson('{"a":{"b":[1,2]},"c":{"d":[3]}}')) as JsonObject;
    const result = applyJsonPatch(document, [{ op: 'remove', path: '/a/b/0' }]) as JsonObject;
    expect(result).toEqual({ a: { b: [2] }, c: { d: [3] } });
    expect(result['c']).toBe(document['c']);
  });

  it('a patch without operations changes nothing', () => {
    const document = freeze(readJson('{"a":1}'));
    expect(applyJsonPatch(document, [])).toBe(document);
  });
});

describe('RFC 6902 4.6, test', () => {
  it.each([
    ['1', '1.0', true],
    ['100', '1e2', true],
    ['1E+2', '100.00', true],
    ['0.001', '1e-3', true],
    ['-0', '0', true],
    ['0e7', '0.00', true],
    ['0.1', '0.10000000000000000001', false],
    ['9007199254740993', '9007199254740992', false],
    ['1e400', '1e401', false],
    ['1e400', '10e399', true],
    ['1e99999999999999999999', '1e99999999999999999999', true],
    ['1e99999999999999999999', '1e99999999999999999998', false],
    ['1e000000000000000000007', '10000000', true],
    ['1', '-1', false],
    ['1', '"1"', false],
    ['1', 'true', false],
    ['null', 'false', false],
    ['null', 'null', true],
    ['{}', '[]', false],
    ['[]', '{}', false],
    ['null', '{}', false],
    ['{"a":1,"b":[2.0]}', '{"b":[2],"a":1.0}', true],
    ['{"a":1}', '{"a":1,"b":2}', false],
    ['{"a":1,"b":2}', '{"a":1}', false],
    ['{"toString":1}', '{"a":1}', false],
    ['{"a":1}', '{"toString":1}', false],
    ['[1,2]', '[2,1]', false],
    ['[1,2]', '[1,2,3]', false],
    ['"é"', '"e\\u0301"', false],
    ['"\\u00e9"', '"é"', true],
  ])('%s and %s: %s', (a, b, isEqual) => {
    const test = (value: string, wanted: string): boolean => {
      const patch = `[{"op":"test","path":"/v","value":${wanted}}]`;
      try {
        apply(`{"v":${value}}`, patch);
        return true;
      } catch (error) {
        expect(error).toMatchObject({ code: 'patch-test-failed', status: 422 });
        return false;
      }
    };
    expect([test(a, b), test(b, a)]).toEqual([isEqual, isEqual]);
  });

  it('says which failed, and nothing of what is stored', () => {
    const patch = '[{"op":"test","path":"/a","value":1},{"op":"test","path":"/secret","value":"x"}]';
    const { message } = failure('{"a":1,"secret":"1234"}', patch);
    expect(message).toBe('Operation [1], test "/secret": the value is another one');
  });
});

describe('RFC 6902 5, patches that are refused', () => {
  it.each([
    ['an object', '{"op":"add"}', 'A JSON Patch is an array of operations: [{"op": …, "path": …}, …]'],
    ['a string', '"x"', 'A JSON Patch is an array of operations: [{"op": …, "path": …}, …]'],
    [
      'no object in the array',
      '[1]',
      'Operation [0], which is no object: an operation is an object with "op" and "path"',
    ],
    [
      'an array in the array',
      '[[]]',
      'Operation [0], which is no object: an operation is an object with "op" and "path"',
    ],
    ['no op', '[{"path":"/a"}]', 'Operation [0], without "op" "/a": it has no "op"'],
    [
      'an unknown op',
      '[{"op":"delete","path":"/a"}]',
      'Operation [0], delete "/a": "op" has to be "add", "remove", "replace", "move", "copy" or "test"',
    ],
    ['an op in capitals', '[{"op":"ADD","path":"/a","value":1}]', 'Operation [0], "ADD" "/a": "op" has to be'],
    ['an op that objects inherit', '[{"op":"constructor","path":""}]', '"op" has to be'],
    ['no path', '[{"op":"remove"}]', 'Operation [0], remove without "path": it has no "path"'],
    [
      'a path that is no string',
      '[{"op":"remove","path":7}]',
      'Operation [0], remove without "path": "path" has to be a string, a JSON pointer',
    ],
    ['null for a path', '[{"op":"remove","path":null}]', '"path" has to be a string, a JSON pointer'],
    ['no value', '[{"op":"add","path":"/a"}]', 'Operation [0], add "/a": it has no "value"'],
    ['no value in a test', '[{"op":"test","path":"/a"}]', 'it has no "value"'],
    ['no from', '[{"op":"move","path":"/a"}]', 'Operation [0], move "/a": it has no "from"'],
    [
      'a path without "/"',
      '[{"op":"remove","path":"a"}]',
      'Operation [0], remove "a": "a" is no JSON pointer: it has to be empty or begin with "/"',
    ],
    ['a path as FHIRPath has it', '[{"op":"remove","path":"Patient.name"}]', 'it has to be empty or begin with "/"'],
    ['a fragment', '[{"op":"remove","path":"#/a"}]', 'is no JSON pointer'],
    ['a bare ~', '[{"op":"remove","path":"/a~"}]', 'after "~" there has to be 0 (for "~") or 1 (for "/")'],
    ['~2', '[{"op":"remove","path":"/a~2"}]', 'after "~"'],
    ['a bad from', '[{"op":"copy","path":"/a","from":"a"}]', 'Operation [0], copy "/a": "a" is no JSON pointer'],
    [
      'a later one that is malformed, before any is applied',
      '[{"op":"test","path":"/a","value":2},{"op":"x","path":""}]',
      'Operation [1], x ""',
    ],
  ])('%s', (_, patch, message) => {
    const error = failure('{"a":1}', patch);
    expect(error.message).toContain(message);
    expect(error).toMatchObject({ code: 'patch-invalid', status: 400 });
  });

  const document = '{"a":[1,2],"o":{"x":1},"s":"text","n":null}';
  it.each([
    ['[{"op":"add","path":"/a/3","value":0}]', 'Operation [0], add "/a/3": "/a" has 2 items, and there is no [3]'],
    ['[{"op":"add","path":"/a/01","value":0}]', '"/a" is an array, and "01" no index of one'],
    ['[{"op":"add","path":"/a/-1","value":0}]', '"/a" is an array, and "-1" no index of one'],
    ['[{"op":"add","path":"/a/1e0","value":0}]', '"/a" is an array, and "1e0" no index of one'],
    ['[{"op":"add","path":"/a/ 1","value":0}]', 'no index of one'],
    ['[{"op":"add","path":"/a/","value":0}]', '"/a" is an array, and "" no index of one'],
    ['[{"op":"add","path":"/a/length","value":0}]', 'no index of one'],
    ['[{"op":"replace","path":"/a/length","value":0}]', 'no index of one'],
    ['[{"op":"add","path":"/a/99999999999999999999","value":0}]', 'there is no [99999999999999999999]'],
    [
      '[{"op":"replace","path":"/a/-","value":0}]',
      '"/a" has 2 items, and "-" is the place behind them, where there is none',
    ],
    ['[{"op":"remove","path":"/a/-"}]', '"-" is the place behind them'],
    ['[{"op":"remove","path":"/a/2"}]', 'there is no [2]'],
    ['[{"op":"test","path":"/a/-","value":0}]', '"-" is the place behind them'],
    ['[{"op":"add","path":"/a/-/x","value":0}]', '"-" is the place behind them'],
    ['[{"op":"copy","from":"/a/-","path":"/b"}]', '"-" is the place behind them'],
    ['[{"op":"add","path":"/s/0","value":0}]', '"/s" is no object or array'],
    ['[{"op":"add","path":"/s/length","value":0}]', '"/s" is no object or array'],
    ['[{"op":"test","path":"/s/length","value":4}]', 'there is no "/s/length"'],
    ['[{"op":"add","path":"/n/x","value":0}]', '"/n" is no object or array'],
    ['[{"op":"remove","path":"/o/y"}]', 'Operation [0], remove "/o/y": there is no "/o/y"'],
    ['[{"op":"replace","path":"/o/y","value":1}]', 'there is no "/o/y"'],
    ['[{"op":"replace","path":"/o/toString","value":1}]', 'there is no "/o/toString"'],
    ['[{"op":"add","path":"/constructor/prototype/x","value":1}]', 'there is no "/constructor"'],
    ['[{"op":"test","path":"/o/y","value":null}]', 'there is no "/o/y"'],
    ['[{"op":"add","path":"/o/y/z","value":1}]', 'there is no "/o/y"'],
    ['[{"op":"copy","from":"/q","path":"/r"}]', 'Operation [0], copy "/r": there is no "/q"'],
    ['[{"op":"move","from":"/q","path":"/q"}]', 'there is no "/q"'],
    ['[{"op":"move","from":"/o","path":"/o/x"}]', 'Operation [0], move "/o/x": "/o" cannot be moved into itself'],
    ['[{"op":"move","from":"","path":"/o"}]', '"" cannot be moved into itself'],
    ['[{"op":"remove","path":""}]', 'the whole document cannot be removed'],
    ['[{"op":"remove","path":"/o"},{"op":"remove","path":"/o"}]', 'Operation [1], remove "/o": there is no "/o"'],
    [
      '[{"op":"add","path":"","value":1},{"op":"add","path":"/a","value":1}]',
      'Operation [1], add "/a": "" is no object or array',
    ],
  ])('%s', (patch, message) => {
    const error = failure(document, patch);
    expect(error.message).toContain(message);
    // A test of what is absent fails as a test.
    const expected = patch.includes('"test"') ? { code: 'patch-test-failed', status: 422 } : { code: 'patch-target', status: 400 }; // prettier-ignore
    expect(error).toMatchObject(expected);
  });

  it.each(['/__proto__', '/o/__proto__'])('add %s', (path) => {
    const error = failure('{"o":{}}', `[{"op":"add","path":"${path}","value":{"polluted":1}}]`);
    expect(error).toMatchObject({ code: 'json-forbidden-key', status: 400 });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each(['/__proto__/polluted', '/o/__proto__/polluted', '/a/__proto__/polluted'])('add %s', (path) => {
    expect(failure('{"o":{},"a":[]}', `[{"op":"add","path":"${path}","value":1}]`).code).toBe('patch-target');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('a path that is long is told in part', () => {
    expect(failure('{}', `[{"op":"remove","path":"/${'x'.repeat(100_000)}"}]`).message.length).toBeLessThan(300);
  });
});

describe('Limits of a JSON Patch', () => {
  it('operations', () => {
    const patch = Array.from({ length: 1001 }, () => ({ op: 'test', path: '', value: {} }));
    expect(applyJsonPatch({}, patch.slice(1))).toEqual({});
    expect(failure('{}', JSON.stringify(patch))).toMatchObject({
      code: 'patch-too-large',
      status: 413,
      message: 'The patch has 1001 operations; 1000 are allowed',
    });
    expect(() => applyJsonPatch({}, patch, { maxOperations: 2000 })).not.toThrow();
  });

  it('a document that doubles and doubles', () => {
    const patch = Array.from({ length: 60 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }));
    const error = failure(`{"a":["${'x'.repeat(1000)}"]}`, JSON.stringify(patch));
    expect(error).toMatchObject({ code: 'resource-too-large', status: 413 });
    expect(error.message).toMatch(/^Operation \[\d+\], copy "\/a\/-": the patch copies more than a resource may hold$/);
  });

  it('counts names and strings, and each value', () => {
    const patch = [{ op: 'copy', from: '/a', path: '/b' }];
    const document = { a: { name: 'text', list: [1, true] } };
    const size = 1 + (4 + 1 + 4) + (4 + 1) + 2;
    expect(applyJsonPatch(document, patch, { maxCopied: size })).toEqual({ ...document, b: document.a });
    expect(() => applyJsonPatch(document, patch, { maxCopied: size - 1 })).toThrow('copies more');
  });

  const deep = (levels: number): JsonValue => (levels === 0 ? 1 : [deep(levels - 1)]);

  it('depth', () => {
    const add = (path: string, levels: number): JsonValue => ({ op: 'add', path, value: deep(levels) });
    expect(() => applyJsonPatch({}, [add('/a', 99)])).not.toThrow();
    for (const patch of [[add('/a', 100)], [add('/a', 99), add(`/a${'/0'.repeat(98)}/-`, 1)]]) {
      expect(() => applyJsonPatch({}, patch)).toThrow(
        'What the patch makes: objects and arrays may be nested 100 deep',
      );
    }
    expect(failure('{}', `[{"op":"add","path":"${'/a'.repeat(101)}","value":1}]`)).toMatchObject({
      code: 'patch-target',
      message: expect.stringContaining('leads more than 100 levels deep') as string,
    });
  });

  it('a document that is folded into itself deeper and deeper', () => {
    const patch: JsonValue[] = [];
    for (let i = 0; i < 400; i++) {
      patch.push({ op: 'add', path: '/x', value: deep(98) });
      patch.push({ op: 'move', from: '/a', path: `/x${'/0'.repeat(97)}/-` }, { op: 'move', from: '/x', path: '/a' });
    }
    const end = [...patch, { op: 'copy', from: '/a', path: '/b' }];
    for (const operations of [patch, end]) {
      const run = (): JsonValue => applyJsonPatch({ a: 1 }, operations, { maxOperations: 5000 });
      expect(run).toThrow('objects and arrays may be nested 100 deep');
    }
  });

  it('many items put before many others take no time', () => {
    const document = { a: Array.from({ length: 200_000 }, (_, i) => i), o: {} as JsonObject };
    for (let i = 0; i < 20_000; i++) document.o[`k${i}`] = i;
    const patch: JsonValue[] = [];
    for (let i = 0; i < 500; i++) {
      patch.push({ op: 'add', path: '/a/0', value: -i }, { op: 'add', path: `/o/n${i}`, value: i });
    }
    const took = processorTime();
    const result = applyJsonPatch(document, patch) as JsonObject;
    expect((result['a'] as JsonValue[]).length).toBe(200_500);
    expect(isObject(result['o']) && Object.keys(result['o']).length).toBe(20_500);
    expect(took()).toBeLessThan(2000);
  });
});
