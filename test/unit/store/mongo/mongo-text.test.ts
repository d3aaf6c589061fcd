import fc from 'fast-check';
import { BSON } from 'mongodb';
import { describe, expect, it } from 'vitest';

import type { Resource } from '../../../../runtime/fhir/resource.js';
import { readJson } from '../../../../runtime/format/read-json.js';
import { writeJson } from '../../../../runtime/format/write-json.js';
import { fieldsOf, readValue } from '../../../../runtime/store/mongo/bson/bson.js';
import { copyVersion, toFields, toPast } from '../../../../runtime/store/mongo/write/plan-write.js';
import { toStoredVersion } from '../../../../runtime/store/mongo/bson/stored-version.js';
import { openRecent } from '../../../../runtime/store/mongo/read/recent.js';
import { toStorable } from '../../../../runtime/store/mongo/bson/to-storable.js';
import { anyJsonObjectText } from '../../format/any-json.js';

const STAMP = { versionId: '1', lastUpdated: '1970-01-01T00:00:01.000Z' };
const HEAD = { type: 'Basic', id: 'a', version: 1, lastUpdated: 1000 };

/** What BSON makes of a resource, as text again: as it is read, and after it was copied as a past version. */
function roundTrip(content: Resource): (string | undefined)[] {
  const fields = toFields(HEAD, 0, toStorable(content, STAMP));
  const bytes = toBytes({ _id: 'Basic/a', ...fields });
  const past = toBytes(toPast(copyVersion(bytes), 2000));
  return [toStoredVersion(bytes).json, toStoredVersion(past).json];
}

function toBytes(document: object): Buffer {
  return Buffer.from(BSON.serialize(document, { ignoreUndefined: true }));
}

/** The text that SQLite keeps of it. */
function expectedText(text: string): string {
  return `{"resourceType":"Basic","id":"a","meta":{"versionId":"1","lastUpdated":"${STAMP.lastUpdated}"}${text === '{}' ? '' : `,${text.slice(1, -1)}`}}`;
}

function expectSame(text: string): void {
  const rest = readJson(text) as Resource;
  const all = expectedText(writeJson(rest));
  const { resourceType: _type, id: _id, meta: _meta, ...others } = rest;
  expect(others).toEqual(rest);
  expect(roundTrip(Object.assign({ resourceType: 'Basic', id: 'a' }, rest))).toEqual([all, all]);
}

describe('JSON in MongoDB comes back with equal text', () => {
  it.each([
    ['numbers', '[0,-0,1,-1,1.0,1.50,-0.0,0.1,1e3,1E3,1e+3,1e-7,0.0000001,5e-324,1.7976931348623157e308]'],
    ['numbers beyond a double', '[1e400,-1e400,1e-400,66.899999999999991,9007199254740993,1e7000,-1e7000,1e-7000]'],
    ['large integers', '[2147483647,2147483648,-2147483648,-2147483649,9007199254740991,18446744073709551616,1e21]'],
    ['forty digits', '[1234567890123456789012345678901234567890,0.1234567890123456789012345678901234567890]'],
    ['strings', JSON.stringify(['', '\0', '"\\/\b\f\n\r\t\u001f\u007f\u2028', 'é𝒦\u{10ffff}', 'x'.repeat(100_000)])],
    ['empty values', '{"a":{},"b":[],"c":[{},[],null],"d":null,"e":false,"f":""}'],
    [
      'names',
      '{"":1,"$set":{"$ref":"x","$id":1,"$db":"y"},"a.b":2,".":3,"$":4,"_bsontype":"Int32","constructor":5,"é":6}',
    ],
    ['names that objects put in front', '{"b":{"z":1,"10":2,"9":[{"y":1,"0":1.0}]},"7":1,"a":1}'],
    ['names as of other types', '{"v":{"toBSON":"x","toJSON":1,"length":3,"inspect":{}}}'],
    ['names that the driver has a use for', '{"v":[{"_bsontype":"Int32","value":1},{"_bsontype":{"_bsontype":"x"}}]}'],
  ])('%s', (_name, text) => expectSame(text.startsWith('[') ? `{"v":${text}}` : text));

  it('any object', () => {
    fc.assert(
      fc.property(anyJsonObjectText, (text) => expectSame(text)),
      { numRuns: 2000 },
    );
  });

  it('names whose bytes are those of another name read as other characters', () => {
    const [other, name] = ['\u00cd\u00ad\u00c8\u00a9', '\u036d\u0229'];
    for (const each of [other, name, other]) {
      expect([...fieldsOf(toBytes({ [each]: 1 })).keys()]).toEqual([each]);
    }
  });

  it('more in meta', () => {
    const content = readJson('{"resourceType":"Basic","id":"a","meta":{"3":1.0,"tag":[{"code":"x"}]},"x":1.50}');
    const [text] = roundTrip(content as Resource);
    expect(text).toBe(
      `{"resourceType":"Basic","id":"a","meta":{"versionId":"1","lastUpdated":"${STAMP.lastUpdated}","3":1.0,"tag":[{"code":"x"}]},"x":1.50}`,
    );
  });

  it('a hundred levels of arrays and of objects', () => {
    expectSame(`{"v":${'['.repeat(98)}${']'.repeat(98)}}`);
    expectSame(`${'{"v":'.repeat(99)}1.0${'}'.repeat(99)}`);
  });
});

it('what was read a moment ago keeps no answer of the server that it was part of', () => {
  const answer = Buffer.alloc(5_000_000);
  const recent = openRecent();
  recent.note('Basic/a', answer.subarray(100, 300));
  expect(recent.take('Basic/a')?.buffer.byteLength).toBeLessThan(100_000);
});

describe('numbers in MongoDB', () => {
  it.each([
    ['1', 1],
    ['0.5', 0.5],
    ['5000000000', 5000000000],
  ])('%s is a plain one', (text, value) => {
    const { resource, numbers } = toStorable(readJson(`{"resourceType":"Basic","v":${text}}`) as Resource, STAMP);
    expect(resource.get('v')).toBe(value);
    expect(numbers).toBeUndefined();
  });

  it.each([
    ['1.0', false],
    ['72.50', false],
    ['9007199254740993', false],
    ['1e3', true],
    ['1234567890123456789012345678901234567890', true],
  ])('%s is a Decimal128; noted beside it: %s', (text, isNoted) => {
    const { resource, numbers } = toStorable(readJson(`{"resourceType":"Basic","v":${text}}`) as Resource, STAMP);
    const value = resource.get('v') as BSON.Decimal128;
    expect(value).toBeInstanceOf(BSON.Decimal128);
    expect(Number(value.toString())).toBeCloseTo(Number(text), 30 - text.length);
    expect(numbers).toEqual(isNoted ? [[0, text]] : undefined);
  });
});

describe('what MongoDB cannot hold', () => {
  it.each([
    ['json-forbidden-key', '{"resourceType":"Basic","a\\u0000b":1}'],
    ['json-forbidden-key', '{"resourceType":"Basic","x":[{"\\u0000":1}]}'],
    ['json-depth', `{"resourceType":"Basic","v":${'['.repeat(160)}${']'.repeat(160)}}`],
  ])('is refused: %s', (code, text) => {
    expect(() => toStorable(readJson(text, 1000) as Resource, STAMP)).toThrow(expect.objectContaining({ code }));
  });

  it('a document that was edited into what JSON cannot say is an error, not a wrong answer', () => {
    const document = { ...toFields(HEAD, 0), resource: { v: new BSON.ObjectId() } };
    expect(() => toStoredVersion(toBytes(document))).toThrow(/BSON type 7/);
    expect(() => toStoredVersion(toBytes({ resource: {} }))).toThrow(/no "type"/);
  });

  it('numbers that people put there with mongosh are printed', () => {
    const bytes = toBytes({ resource: { a: BSON.Long.fromString('9007199254740993'), b: new BSON.Double(5) } });
    const field = fieldsOf(bytes).get('resource');
    expect(readValue(bytes, field!)).toBeInstanceOf(Map);
    const document = { ...toFields(HEAD, 0), resource: { a: BSON.Long.fromString('9007199254740993'), b: 5 } };
    expect(toStoredVersion(toBytes(document)).json).toBe('{"a":9007199254740993,"b":5}');
  });
});
