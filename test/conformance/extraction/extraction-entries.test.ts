import { describe, expect, it } from 'vitest';
import { tables } from '../../../generated/tables.js';
import { CONTEXT } from '../../../runtime/indexing/context-entries.js';
import { isPlace, type IndexEntry, type SimpleEntry } from '../../../runtime/indexing/entry.js';
import { createExtractor, createValueExtractor } from '../../../runtime/indexing/extract.js';
import { REFERS } from '../../../runtime/indexing/other-references.js';
import { tableTypes } from './extraction-branches.js';
import { exampleFiles, readExample } from '../formats/examples.js';
import { createFilledResources } from './filled-resource.js';

const extract = createValueExtractor(tables);
const extractAll = createExtractor(tables);
const parameters = (type: string): { code: string; type: string; from: string }[] =>
  tableTypes(tables, type).flatMap((from) =>
    (tables.search.find((table) => table.type === from)?.parameters ?? [])
      // What a union has is in the entries of others.
      .filter(({ paths, unionOf }) => paths.length > 0 && unionOf === undefined)
      .map(({ code, type: search }) => ({ code, type: search, from })),
  );

/** Parameters that give no entries though they have values, and why. */
const WITHOUT_ENTRIES: Readonly<Record<string, string>> = {
  'Resource._in': 'membership is looked up from the side of the Group, List or CareTeam',
  'Location.contains': 'a boundary is GeoJSON, which no filled resource has',
  'Composition.section-text': 'special: narrative, for full text',
  'Composition.section-code-text': 'one of its components is that special one',
};

/** Others are our own, and no search asks for them: a Binary's context, by which it is seen or not, and references to contained resources. */
const isOfParameter = ({ param }: IndexEntry): boolean =>
  param !== CONTEXT.param && param !== REFERS && !param.endsWith('#');

describe('index entries', () => {
  it('every parameter of every type gives entries, of its kind, from a resource that has every element', () => {
    const fill = createFilledResources(tables);
    const silent = new Set<string>();
    for (const type of tables.resourceTypes) {
      const kinds = new Map<string, Set<string>>();
      for (let variant = 0; variant < 60; variant++) {
        for (const { param, kind } of extract(fill(type, variant)).filter(isOfParameter)) {
          kinds.set(param, (kinds.get(param) ?? new Set()).add(kind));
        }
      }
      for (const { code, type: search, from } of parameters(type)) {
        const given = [...(kinds.get(code) ?? [])];
        if (given.length === 0) silent.add(`${from}.${code}`);
        else expect(given, `${type}.${code}`).toEqual([code === 'near' ? 'position' : search]);
        kinds.delete(code);
      }
      expect([...kinds.keys()], `parameters that ${type} does not have`).toEqual([]);
    }
    expect([...silent].sort()).toEqual(Object.keys(WITHOUT_ENTRIES).sort());
  }, 60_000);

  it('are the same whether the paths of a type are compiled together or each alone', () => {
    const fill = createFilledResources(tables);
    const sorted = (entries: readonly IndexEntry[]): string[] => entries.map((entry) => JSON.stringify(entry)).sort();
    for (const type of tables.resourceTypes) {
      const rows = tableTypes(tables, type).flatMap(
        (from) => tables.search.find((table) => table.type === from)?.parameters ?? [],
      );
      const alone = rows.map((row) => createValueExtractor({ ...tables, search: [{ type, parameters: [row] }] }));
      for (const variant of [0, 1, 2, 61]) {
        const resource = fill(type, variant);
        const together = extract(resource).filter(isOfParameter);
        expect(sorted(together)).toEqual(sorted(alone.flatMap((each) => each(resource)).filter(isOfParameter)));
      }
    }
  }, 60_000);

  it('of all official examples are well formed, for the parameters of their types', () => {
    const faults: string[] = [];
    const pairs = new Set<string>();
    let entries = 0;
    for (const file of exampleFiles()) {
      const { resource } = readExample(file);
      const type = String(resource['resourceType']);
      for (const entry of extractAll(resource)) {
        entries++;
        pairs.add(`${type}.${entry.param}`);
        const fault = faultOf(entry);
        if (fault !== undefined) faults.push(`${file}: ${fault}: ${JSON.stringify(entry)}`);
      }
    }
    const own = [...pairs].filter((pair) => !/\._/.test(pair)).length;
    console.log(`${entries} entries of the examples, for ${own} own (type, parameter) pairs`);
    expect(faults.slice(0, 10)).toEqual([]);
  }, 60_000);

  it('of Patient/example read as one would expect', () => {
    const entries = extract(readExample('Patient-example.json').resource);
    const of = (param: string): object[] =>
      entries.filter((entry) => entry.param === param).map(({ param: _, kind, ...rest }) => ({ kind, ...rest }));
    expect(of('_id')).toEqual([{ kind: 'token', code: 'example' }]);
    expect(of('family')).toEqual([
      { kind: 'string', text: 'Chalmers', folded: 'chalmers' },
      { kind: 'string', text: 'Windsor', folded: 'windsor' },
    ]);
    expect(of('gender')).toEqual([
      { kind: 'token', system: 'http://hl7.org/fhir/administrative-gender', code: 'male' },
    ]);
    expect(of('deceased')).toEqual([{ kind: 'token', code: 'false' }]);
    expect(of('birthdate')).toEqual([
      { kind: 'date', low: Date.parse('1974-12-25T00:00:00Z'), high: Date.parse('1974-12-25T23:59:59.999Z') },
    ]);
    expect(of('organization')).toEqual([{ kind: 'reference', type: 'Organization', id: '1' }]);
    expect(of('identifier')).toEqual([
      {
        kind: 'token',
        system: 'urn:oid:1.2.36.146.595.217.0.1',
        code: '12345',
        ofType: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'MR' }],
      },
    ]);
    expect(of('phone')).toEqual(
      ['(03) 5555 6473', '(03) 3410 5613', '(03) 5555 8834'].map((code) => ({ kind: 'token', code })),
    );
  });
});

/** What is wrong with an entry; undefined: nothing. */
function faultOf(entry: IndexEntry): string | undefined {
  if (entry.kind === 'words') return /^(\n( [^\s]+)+ )+$/.test(entry.text) ? undefined : 'no lines of words';
  if (entry.kind !== 'composite') return isPlace(entry) ? undefined : simpleFault(entry);
  if (entry.parts.length < 2) return 'a composite of one part';
  for (const part of entry.parts) {
    if (part.length === 0) return 'an empty part';
    for (const each of part) {
      const fault = simpleFault(each);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function simpleFault(entry: SimpleEntry): string | undefined {
  if (Object.values(entry).some((value) => value === undefined || value === '')) return 'an empty field';
  switch (entry.kind) {
    case 'token':
      return 'code' in entry || 'system' in entry ? undefined : 'an empty token';
    case 'reference':
      if (entry.param.endsWith('#')) return 'fragment' in entry ? undefined : 'no target';
      return ('type' in entry && 'id' in entry) || 'url' in entry || 'identifier' in entry ? undefined : 'no target';
    case 'date':
      if (entry.low === undefined && entry.high === undefined) return 'open at both ends';
      return (entry.low ?? -Infinity) <= (entry.high ?? Infinity) ? undefined : 'not an interval';
    case 'number':
    case 'quantity':
      return Number.isFinite(entry.value) ? undefined : 'not a number';
    default:
      return undefined;
  }
}
