import { describe, expect, it } from 'vitest';

import { aliasFaults } from '../../../generator/model/aliases.js';
import { tables } from '../../../generated/tables.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { describeIndex } from '../../../runtime/indexing/index-record.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import { parseSortKey } from '../../../runtime/search/parse/parse-sort.js';
import { definitions, printed, refusal } from '../search/chain-parser.js';

/** As `decisions.md` has them (Search, last row). */
const MHD = ['format', 'event', 'facility', 'setting', 'related', 'security-label'];

describe('names of IHE MHD on DocumentReference (decisions.md, Search)', () => {
  it.each([
    ['format', 'urn:oid:1|x', 'format-code = "urn:oid:1"|"x"'],
    ['format:not', 'x', 'not (format-code = "x")'],
    ['format:missing', 'true', 'not (format-code is there)'],
    ['event', 'x', 'event-code = "x"'],
    ['facility', 'x', 'facility = "x"'],
    ['setting', 'x', 'setting = "x"'],
    ['security-label', 'x', 'security-label = "x"'],
    ['related', 'Encounter/1', 'event-reference -> Encounter {"id":"1"}'],
    ['related:identifier', 's|1', 'event-reference -> identifier "s"|"1"'],
    ['related:Encounter', '1', 'event-reference -> Encounter {"id":"1"}'],
    ['related:Encounter.identifier', 's|1', 'event-reference -> Encounter (identifier = "s"|"1")'],
    [
      'author.given',
      'x',
      'author -> (Patient (given begins "x") or Practitioner (given begins "x") or RelatedPerson (given begins "x"))',
    ],
    [
      'author.family:exact',
      'X',
      'author -> (Patient (family = "X") or Practitioner (family = "X") or RelatedPerson (family = "X"))',
    ],
    ['patient.identifier', 's|1', 'patient -> Patient (identifier = "s"|"1")'],
  ])('%s=%s', (name, value, condition) => {
    expect(printed(`DocumentReference?${name}`, value)).toBe(condition);
  });

  it('work behind references and in _has, and name the parameter itself', () => {
    expect(printed('Patient?_has:DocumentReference:subject:format', 'x')).toBe(
      'subject of DocumentReference (format-code = "x") -> this',
    );
    expect(printed('Encounter?_has:DocumentReference:related:_id', '1')).toBe(
      'event-reference of DocumentReference (_id in ("1")) -> this',
    );
    expect(printed('DocumentReference?relatesto.format', 'x')).toBe(
      'relatesto -> DocumentReference (format-code = "x")',
    );
  });

  it('are names to sort by', () => {
    const rows = definitions.rowsOf('DocumentReference');
    expect(parseSortKey('-format', rows)).toEqual({ param: 'format-code', by: 'token', isDescending: true });
    expect(() => parseSortKey('formt', rows)).toThrow(/ format,/);
  });

  it('are rows of the parameters that they stand for, and each name has one', () => {
    const rows = definitions.rowsOf('DocumentReference');
    expect(MHD.map((name) => rows.get(name)?.code)).toEqual([
      'format-code',
      'event-code',
      'facility',
      'setting',
      'event-reference',
      'security-label',
    ]);
    // No other type has them.
    expect(definitions.rowsOf('Patient').has('format')).toBe(false);
    expect(refusal('Patient?format', 'x')).toMatch(/^400 parameter-unknown: Unknown parameter "format"/);
    expect(refusal('DocumentReference?formt', 'x')).toMatch(/ event, .* format, /);
  });

  it('are not indexed by themselves', () => {
    const search = new Map(tables.search.map((table) => [table.type, table]));
    const codes = [...parametersOf('DocumentReference', search).keys()];
    expect(codes).not.toContain('format');
    const entries = createExtractor(tables)({
      resourceType: 'DocumentReference',
      id: '1',
      status: 'current',
      event: [{ concept: { coding: [{ code: 'x' }] } }, { reference: { reference: 'Encounter/1' } }],
      content: [{ attachment: {}, profile: [{ valueCoding: { code: 'f' } }] }],
    } as never);
    const names = entries.map(({ param }) => param);
    expect(names).toEqual(expect.arrayContaining(['event-code', 'event-reference', 'format-code']));
    for (const name of ['event', 'format', 'related']) expect(names).not.toContain(name);
  });

  it('leave what indexes were made by as it was', () => {
    const bare = tables.search.map(({ aliases: _aliases, ...table }) => table);
    expect(describeIndex(tables.search, 'UTC').whole).toBe(describeIndex(bare, 'UTC').whole);
    expect(definitions.recordName('DocumentReference', 'format-code')).toBe('DocumentReference.format-code');
  });
});

describe('other names that lead nowhere', () => {
  const parameter = (code: string) =>
    ({ id: code, code, type: 'string', url: 'u', description: '', paths: [] }) as const;
  const search = [
    { type: 'Resource', parameters: [parameter('_id')] },
    { type: 'Animal', base: 'Resource', parameters: [parameter('name'), parameter('note')] },
  ];
  const alias = (name: string, code?: string, type = 'Animal') => ({
    package: 'p',
    type,
    name,
    reason: 'because of that',
    ...(code !== undefined && { code }),
  });

  it.each([
    ['a sound one', [alias('remark', 'note')], []],
    ['one for what is inherited', [alias('key', '_id')], []],
    ['a name that is there already, and said to be', [alias('note')], []],
    [
      'one that a parameter has',
      [alias('note', 'name')],
      ['Animal?note: Animal has a parameter of this name, which keeps its meaning'],
    ],
    ['one for what is not there', [alias('remark', 'notes')], ['Animal?remark: Animal has no parameter notes']],
    [
      'a name that is said to be there, and is not',
      [alias('remark')],
      ['Animal?remark: Animal has no parameter of this name; say by "code" which is meant'],
    ],
    [
      'one of a type that is not there',
      [alias('remark', 'note', 'Plant')],
      ['Plant?remark: there is no resource type Plant that is searched'],
    ],
    ['the same twice', [alias('remark', 'note'), alias('remark', 'name')], ['Animal?remark: is there twice']],
  ])('%s', (_what, aliases, faults) => {
    expect(aliasFaults(aliases, search)).toEqual(faults);
  });
});
