import { separatorsOf, urisAbove } from '../../../../search/query/uri.js';
import type {
  Interval,
  Ends,
  QuantityTest,
  ReferenceTest,
  SystemTest,
  TokenCaseTest,
  ValueTest,
} from '../../../../search/query/query.js';
import { canonicalParam, placeOf, referenceParam } from '../../bson/index-rows.js';
import { dateRange } from './date-range.js';
import type { FieldTest, FieldTests, Kind, Range, RowTest } from './row-test.js';
import { escapeRegex, prefixRange } from './text.js';

/**
 * Converts a test of a value to tests of the rows of a parameter, one of which some row has to fulfil. Without any test
 * no entry can fulfil the original one.
 *
 * @throws FhirError for a URI of far too many parts
 */
export function toRowTests(p: string, test: ValueTest): readonly RowTest[] {
  const one = (kind: Kind, fields: FieldTests): RowTest[] => [{ kind, p, fields }];
  switch (test.is) {
    case 'token':
      return one('token', { ...equal('code', test.code), ...systemTest(test.system) });
    case 'token-code-begins':
      return one('token', { code: { beginsAnyCase: test.lower } });
    case 'token-any-case':
      return one('token', anyCase(test));
    case 'token-other':
      return Object.entries(anyCase(test)).flatMap(([name, field]) => one('token', { [name]: { differs: field } }));
    case 'of-type': {
      const type = { ...equal('code', test.code), ...systemTest(test.system) };
      return one('token', { ...equal('code', test.value), ofType: { some: type } });
    }
    case 'string-begins':
      return one('string', { folded: { range: prefixRange(test.folded) } });
    case 'string-contains':
      return one('string', { folded: { contains: test.folded } });
    case 'string-ends':
      return one('string', { folded: { ends: test.folded } });
    case 'string-range': {
      const { is: _is, ...range } = test;
      return one('string', {
        folded: range.gte !== undefined && range.gte === range.lte ? { in: [range.gte] } : { range },
      });
    }
    case 'string-equals':
      return one('string', equal('text', test.text));
    case 'date':
      return one('date', endTests(test, dateRange));
    case 'number':
      return one(
        'number',
        endTests(test, (bounds) => bounds),
      );
    case 'quantity':
      return quantityTests(p, test);
    case 'reference':
      return [{ kind: 'reference', p: referenceParam(p, byOf(test)), fields: referenceTest(test) }];
    case 'identifier': {
      const fields = { ...equal('to', test.value), ...systemTest(test.system) };
      return [{ kind: 'reference', p: referenceParam(p, 'identifier'), fields }];
    }
    case 'uri-equals':
      return one('uri', equal('value', test.value));
    case 'uri-below':
      return belowRanges(test.value).map((field) => ({ kind: 'uri', p, fields: { value: field } }));
    case 'uri-above':
      return one('uri', { value: { in: urisAbove(test.value) } });
  }
}

function anyCase({ system, lower }: TokenCaseTest): FieldTests {
  return { ...(lower !== undefined && { code: { equalsAnyCase: lower } }), ...systemTest(system) };
}

/** No test where there is nothing to compare with. */
function equal(name: string, value: string | undefined): FieldTests {
  return value === undefined ? {} : { [name]: { in: [value] } };
}

function systemTest(system: SystemTest | undefined): FieldTests {
  return system === null ? { system: { isAbsent: true } } : equal('system', system);
}

function endTests({ low, high }: Ends, toRange: (bounds: Interval, end: 'low' | 'high') => Range): FieldTests {
  return {
    ...(low !== undefined && { low: { range: toRange(low, 'low') } }),
    ...(high !== undefined && { high: { range: toRange(high, 'high') } }),
  };
}

function quantityTests(p: string, test: QuantityTest): readonly RowTest[] {
  const kind = 'number';
  const { canonical, system, unit } = test;
  const ends = endTests(test, (bounds) => bounds);
  if (canonical !== undefined) return [{ kind, p: canonicalParam(p, canonical), fields: ends }];
  const fields = { ...ends, ...equal('system', system) };
  if (unit === undefined) return [{ kind, p, fields }];
  const names = system === undefined ? ['code', 'unit'] : ['code'];
  return names.map((name) => ({ kind, p, fields: { ...fields, ...equal(name, unit) } }));
}

function byOf({ url }: ReferenceTest): 'url' | undefined {
  return url === undefined ? undefined : 'url';
}

function referenceTest({ types, id, base, version, versionPrefix, url, fragment }: ReferenceTest): FieldTests {
  const more = {
    ...equal('version', version),
    ...(versionPrefix !== undefined && { version: { range: prefixRange(versionPrefix) } }),
    ...equal('fragment', fragment),
  };
  if (url !== undefined) {
    // What has a URL here has no place.
    if (id !== undefined) return { to: { in: [] } };
    const ofTypes: FieldTests = types === undefined ? {} : { type: { in: types } };
    return { to: { in: [url] }, ...ofTypes, ...more };
  }
  if (id === undefined) throw new Error('a reference is looked for by an id or a URL');
  if (types !== undefined) return { to: { in: types.map((type) => placeOf(type, id, base)) }, ...more };
  // Ids hold no null character, and regular expressions cannot.
  if (`${base}${id}`.includes('\0')) return { to: { in: [] } };
  return {
    to: { pattern: `^${base === undefined ? '' : `${escapeRegex(base)}/`}[^/]+/${escapeRegex(id)}$` },
    ...more,
  };
}

/** The URI itself, and what follows it after a separator. */
function belowRanges(uri: string): FieldTest[] {
  if (uri.endsWith('/')) return [{ range: prefixRange(uri) }];
  return [{ in: [uri] }, ...[...separatorsOf(uri)].map((separator) => ({ range: prefixRange(uri + separator) }))];
}
