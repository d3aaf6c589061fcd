import { describe, expect, it } from 'vitest';

import { toRowTests, type Names } from '../../../../runtime/store/sqlite/query/compile/row-tests.js';
import { processorTime } from '../../../processor-time.js';

const NAMES: Names = { param: () => 1, term: () => 2 };

/** The URIs that a test for all above one asks for. */
function above(value: string): unknown[] {
  return toRowTests({ is: 'uri-above', value }, NAMES).map(({ values }) => values[1]);
}

describe('URIs above one', () => {
  it('end before a separator or after a slash', () => {
    expect(above('http://a/b/')).toEqual(['http:', 'http:/', 'http://', 'http://a', 'http://a/', 'http://a/b', 'http://a/b/']); // prettier-ignore
    expect(above('urn:oid:1.2.3')).toEqual(['urn:oid', 'urn:oid:1', 'urn:oid:1.2', 'urn:oid:1.2.3']);
    expect(above('/a')).toEqual(['', '/', '/a']);
  });

  it('may have a million characters together', () => {
    expect(above('/'.repeat(1000))).toHaveLength(1001);
    expect(above(`urn:oid:${'1'.repeat(900_000)}`)).toHaveLength(2);
  });

  it.each(['/', './', ':/', '.'])('are refused where they have more: %j', (part) => {
    const took = processorTime();
    expect(() => above(`urn:oid:${part.repeat(60_000 / part.length)}`)).toThrow(
      expect.objectContaining({ code: 'parameter-invalid', status: 400 }),
    );
    expect(took()).toBeLessThan(1000);
  });
});
