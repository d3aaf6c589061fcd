import { describe, expect, it } from 'vitest';

import { compareText } from '../../../../runtime/search/query/compare-text.js';
import type { Condition, ValueTest } from '../../../../runtime/search/query/query.js';
import { compile } from '../../../../runtime/store/mongo/query/compile/compile.js';
import { readCursor, writeCursor } from '../../../../runtime/store/plan/cursor.js';
import { isKeyOf, sortOf } from '../../../../runtime/store/mongo/query/places.js';
import { dateRange } from '../../../../runtime/store/mongo/query/compile/date-range.js';
import { sizeOfArm, type Access } from '../../../../runtime/store/mongo/query/plan/access.js';
import { boundsAround } from '../../../../runtime/store/mongo/query/plan/bounds.js';
import { toOrder } from '../../../../runtime/store/mongo/query/compile/order.js';
import { anyCasePatterns, escapeRegex, prefixRange } from '../../../../runtime/store/mongo/query/compile/text.js';
import { EARLIEST, LATEST, toIndexRows } from '../../../../runtime/store/mongo/bson/index-rows.js';
import { processorTime } from '../../../processor-time.js';

const compiled = (where: Condition): string => JSON.stringify(compile('Patient', where).map(({ filter }) => filter));
const any = (...tests: ValueTest[]): Condition => ({ param: 'code', any: tests });
const DAY = 86_400_000;

describe('searches as filters of MongoDB', () => {
  it('10,000 codes are one list, with the systems beside it', () => {
    const tests = Array.from({ length: 10_000 }, (_, n): ValueTest => ({ is: 'token', code: `c${n}`, system: 's' }));
    const [{ filter } = { filter: {} }] = compile('Patient', any(...tests));
    expect(filter).toEqual({
      token: { $elemMatch: { p: 'code', code: { $in: tests.map((_, n) => `c${n}`) }, system: { $eq: 's' } } },
    });
    const [two] = compile('Patient', any({ is: 'token', code: 'a', system: 's' }, { is: 'token', code: 'b' }));
    expect(two?.ways).toMatchObject([{ arms: [{ index: 'token', keys: { values: ['a', 'b'] } }], isExact: false }]);
  });

  it('10,000 ids of any type are one list of ids, and soon', () => {
    const types = Array.from({ length: 158 }, (_, n) => `Type${n}`);
    const tests = Array.from({ length: 10_000 }, (_, n): ValueTest => ({ is: 'reference', id: `r${n}`, types }));
    const took = processorTime();
    const [{ filter } = { filter: {} }] = compile('Patient', any(...tests));
    // Listed, they are 1.6 million texts and take 5 s or more.
    expect(took()).toBeLessThan(1000);
    const names = `^(?:${types.join('|')})/[^/]*$`;
    const ids = tests.map((_, n) => `r${n}`);
    expect(filter).toEqual({
      reference: { $elemMatch: { p: 'code', id: { $in: ids }, to: { $regex: names } } },
    });
    const few = compile('Patient', any(...tests.slice(0, 20)));
    expect(few[0]?.ways).toMatchObject([{ arms: [{ index: 'reference' }] }]);
    const [{ arms } = { arms: [] }] = few[0]!.ways as readonly Access[];
    expect(arms.map(sizeOfArm)).toEqual([20 * 158]);
    // Many conditions are as many as one.
    const together = compile('Patient', { all: Array.from({ length: 199 }, () => any(tests[0]!)) });
    expect(together[0]?.filter).toMatchObject({ reference: { $elemMatch: { id: { $eq: 'r0' } } } });
  });

  it('values stand behind operators only, whatever they look like', () => {
    const value = '$gt';
    const all: readonly Condition[] = [
      any({ is: 'token', code: value, system: value }),
      any({ is: 'string-equals', text: value }),
      any({ is: 'uri-equals', value }),
      any({ is: 'identifier', value, system: value }),
      { ids: [value] },
    ];
    for (const where of all) expect(compiled(where)).not.toMatch(/"\$gt":/);
    const composite = compiled({ param: 'code', composite: [[[{ is: 'token', code: value }], [{ is: 'number' }]]] });
    expect(composite).toContain('"$literal":[{"k0":"$gt","v0":["$gt"]}]');
  });

  it('regular expressions are escaped, and not used for what cannot be in one', () => {
    const text = '^(a+)+$.*?[x]{2}|\\';
    expect(new RegExp(`^${escapeRegex(text)}$`).test(text)).toBe(true);
    expect(compiled(any({ is: 'string-contains', folded: 'a.c' }))).toContain('"$regex":"a\\\\.c"');
    for (const folded of ['a\0b', 'x'.repeat(5000)]) {
      const filter = compiled(any({ is: 'string-contains', folded }));
      expect(filter).not.toContain('$regex');
      expect(filter).toContain('$indexOfBytes');
    }
  });

  it('beginnings are ranges of code points', () => {
    for (const [prefix, end] of [
      ['ab', 'ac'],
      ['a\u{10ffff}', 'b'],
      ['\ud7ff', '\ue000'],
      ['\uffff', '\u{10000}'],
      ['\u{10ffff}\u{10ffff}', undefined],
      ['', undefined],
    ] as const) {
      expect(prefixRange(prefix)).toEqual({ gte: prefix, ...(end !== undefined && { lt: end }) });
      if (end !== undefined) expect(compareText(`${prefix}\u{10ffff}`, end)).toBeLessThan(0);
    }
    const patterns = anyCasePatterns('a1b.é').map((pattern) => new RegExp(pattern, 'u'));
    expect(patterns.map(({ source }) => source)).toEqual(['^A1B\\.é', '^A1b\\.é', '^a1B\\.é', '^a1b\\.é']);
    for (const [code, is] of [
      ['A1b.éX', true],
      ['a1B.é', true],
      ['a1b.É', false],
      ['xa1b.é', false],
    ] as const)
      // prettier-ignore
      expect(patterns.some((pattern) => pattern.test(code)), code).toBe(is);
  });

  it('an end that is open is within no bound on its side, however far that is', () => {
    const far = 9e15;
    expect(dateRange({ lte: far }, 'high').lte).toEqual(new Date(LATEST.getTime() - 1));
    expect(dateRange({ lt: far }, 'high').lt).toEqual(LATEST);
    expect(dateRange({ gte: far }, 'high').gte).toEqual(LATEST);
    expect(dateRange({ gte: -far }, 'low').gte).toEqual(new Date(EARLIEST.getTime() + 1));
    expect(dateRange({ lte: -far }, 'low').lte).toEqual(EARLIEST);
    expect(dateRange({ gt: 1.5, lt: 3.5 }, 'low')).toEqual({ gt: new Date(1), lt: new Date(4) });
  });

  it('bounds of one end are bounds of the other', () => {
    const ge = [{ high: { range: { gt: 9 } } }, { low: { range: { gte: 5 } }, high: { range: { lte: 9 } } }];
    expect(boundsAround(ge)).toEqual({ low: {}, high: { gte: 5 } });
    expect(boundsAround([{ low: { range: { gte: 5 } }, high: { range: { lt: 9 } } }])).toEqual({
      low: { gte: 5, lt: 9 },
      high: { gte: 5, lt: 9 },
    });
  });

  it('what ends after one instant and begins before another has a way of its own, by how wide it is', () => {
    const since = any({ is: 'date', high: { gte: 100 * DAY } });
    const until = any({ is: 'date', low: { lt: 101 * DAY } });
    for (const all of [[since, until], [until, since]]) // prettier-ignore
      expect(compile('Patient', { all }).map(({ ways }) => ways.length)).toEqual([0, 0, 1]); // prettier-ignore
    const [, , together] = compile('Patient', { all: [since, until] });
    expect(together?.isImplied).toBe(true);
    expect(JSON.stringify(together?.filter)).toContain(
      `"p":"code","low":{"$gte":"${new Date(99 * DAY).toISOString()}","$lt":"${new Date(101 * DAY).toISOString()}"`,
    );
    const date = (low?: number, high?: number) => ({ kind: 'date' as const, param: 'code', ...(low !== undefined && { low }), ...(high !== undefined && { high }) }); // prettier-ignore
    const spansOf = (...entries: ReturnType<typeof date>[]) => (toIndexRows(entries).date ?? []).map(({ p }) => p).filter((p) => p !== 'code'); // prettier-ignore
    expect(spansOf(date(0, DAY))).toEqual([]);
    expect(spansOf(date(0, 1), date(2 * DAY, 3 * DAY))).toEqual(['~1code']);
    expect(spansOf(date(0, 33 * DAY))).toEqual(['~2code']);
    expect(spansOf(date(0))).toEqual(['~3code']);
  });

  it('cursors hold what they were made of, for their order only', () => {
    const sort = [
      { param: 'a', by: 'token', isDescending: false },
      { param: 'b', by: 'date', isDescending: true },
    ] as const;
    const order = toOrder('Patient', sort, () => undefined);
    const last = { key: 'Patient/x', values: [['c'], [5]] };
    const text = writeCursor('sort', last, 7);
    expect(readCursor(text, sortOf(order), isKeyOf('Patient'))).toEqual({
      place: { source: 'sort', after: last },
      total: 7,
    });
    const arm = [0, 1, 'name'] as const;
    const source = ['arms', [0, [0, 0]]] as const;
    const walked = writeCursor(source, { ...last, place: { arm: () => arm, at: [['c', 'Patient/x']] } }, undefined);
    expect(readCursor(walked, undefined, isKeyOf('Patient'))).toEqual({
      place: { source, at: { arm, at: [['c', 'Patient/x']] } },
    });
    const other = toOrder('Patient', sort.slice(0, 1), () => undefined);
    for (const [cursor, of] of [
      [text, other],
      [text, undefined],
      [walked, order],
      ['{', order],
    ] as const)
      // prettier-ignore
      expect(() => readCursor(cursor, sortOf(of), isKeyOf('Patient'))).toThrow(expect.objectContaining({ code: 'page-invalid' }));
    // A page behind the resource of another type would begin among those of other types.
    expect(() => readCursor(text, sortOf(order), isKeyOf('Person'))).toThrow(expect.objectContaining({ code: 'page-invalid' })); // prettier-ignore
  });
});
