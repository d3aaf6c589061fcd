import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { SearchRow } from '../../../runtime/contract/search.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import { weightOf } from '../../../runtime/search/query/criterion.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { checkName, parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import { processorTime } from '../../processor-time.js';
import { contextOf, definitions, parse, refusal } from './chain-parser.js';

/** Milliseconds that something takes. */
function timeOf(run: () => void): number {
  const took = processorTime();
  run();
  return took();
}

describe('the depth of chains', () => {
  const deep = (links: number): string => `Observation?${'has-member:Observation.'.repeat(links)}code`;
  const back = (links: number): string => `Observation?${'_has:Observation:has-member:'.repeat(links)}code`;

  it.each([deep, back])('is eight links', (make) => {
    expect(JSON.stringify(parse(make(8), 'x')).match(/"where"/g)).toHaveLength(8);
    expect(refusal(make(9), 'x')).toMatch(
      /^400 parameter-invalid: .* goes over more than 8 links \(chains and _has together\)/,
    );
    expect(refusal(make(50), 'x')).toMatch(/ goes over more than 8 links /);
    expect(refusal(make(100_000), 'x')).toMatch(/ goes over more than 8 links /);
  });

  it('counts both kinds together, and is configurable', () => {
    const mixed = `Observation?${'has-member:Observation._has:Observation:has-member:'.repeat(4)}code`;
    expect(refusal(mixed, 'x')).toBe('it is taken');
    expect(refusal(mixed.replace('code', 'subject.name'), 'x')).toMatch(/ more than 8 links /);
    const links = { type: 'Observation', definitions, most: 2 };
    expect(refusal(deep(2), 'x', { links })).toBe('it is taken');
    expect(refusal(deep(3), 'x', { links })).toMatch(/ more than 2 links /);
  });
});

describe('references to any type', () => {
  it('may be followed to each of them', () => {
    const criterion = parse('Provenance?target.identifier', 'x');
    expect('chain' in criterion && criterion.chain.length).toBeGreaterThan(100);
    expect(refusal('Provenance?target:Patient.organization.name', 'x')).toBe('it is taken');
  });

  it('are refused where they multiply, naming how to say which types are meant, in little time', () => {
    const name = `Provenance?${'target.'.repeat(8)}identifier`;
    const time = timeOf(() => {
      for (let i = 0; i < 20; i++) expect(refusal(name, 'x')).toMatch(/leads over more than 256 combinations of types; say which are meant, as in "target:/); // prettier-ignore
    });
    expect(time).toBeLessThan(2000);
    expect(refusal('Observation?subject:Patient._has:Provenance:target:target.subject.name', 'x')).toContain(
      '"target:',
    );
  });

  it('are refused where nothing at their end has the parameter, in little time', () => {
    const name = `Provenance?${'target.'.repeat(8)}nothing`;
    expect(timeOf(() => refusal(name, 'x'))).toBeLessThan(500);
    expect(refusal(name, 'x')).toMatch(/^400 parameter-unknown: .*nothing"/);
  });

  it('take so many values that the tests of all types are few enough', () => {
    const values = (n: number): string => Array.from({ length: n }, (_, i) => `v${i}`).join(',');
    expect(weightOf(parse('Provenance?target.identifier', values(100)))).toBeLessThanOrEqual(20_300);
    expect(refusal('Provenance?target.identifier', values(1000))).toMatch(
      /^400 parameter-invalid: .*has 1000 values, and would compare each in many types/,
    );
    // One type takes as many as without a chain, whatever the depth.
    const most = { maxAlternatives: 30_000 };
    expect(refusal('Observation?patient.organization.partof.identifier', values(30_000), most)).toBe('it is taken');
    expect(refusal('Observation?patient.organization.partof.identifier', values(30_001), most)).toMatch(
      /has 30001 values, and would|has 30001 values, and may/,
    );
  });
});

describe('a toy-size table', () => {
  const reference = (code: string, targets?: string[]): SearchRow => ({
    code,
    type: 'reference',
    url: `urn:${code}`,
    paths: [{ text: code, steps: [], types: ['Reference'] }],
    ...(targets !== undefined && { targets }),
  });
  const word = (code: string, type: SearchRow['type'] = 'string'): SearchRow => ({
    code,
    type,
    url: `urn:${code}`,
    paths: [{ text: code, steps: [], types: [type === 'token' ? 'code' : 'string'] }],
  });
  const toys = searchDefinitions({
    resourceTypes: ['Ant', 'Bee'],
    search: [
      { type: 'Resource', parameters: [word('_tag', 'token')] },
      {
        type: 'Ant',
        base: 'Resource',
        parameters: [reference('any'), reference('bee', ['Bee', 'Abstract']), word('name')],
      },
      {
        type: 'Bee',
        base: 'Resource',
        parameters: [reference('hive', ['Ant']), word('name', 'token')],
        aliases: [{ name: 'home', code: 'hive' }],
      },
    ],
  });
  const print = (type: string, name: string, value: string): string => {
    const { hierarchy: _none, ...context } = contextOf('Patient', {
      rows: toys.rowsOf(type),
      links: { type, definitions: toys },
    });
    return printCondition(parseCriterion(name, value, context));
  };

  it.each([
    ['Ant', 'any.name', 'any -> (Ant (name begins "x") or Bee (name = "x"))'],
    ['Ant', 'any:Bee.name', 'any -> Bee (name = "x")'],
    ['Ant', 'bee._tag', 'bee -> Bee (_tag = "x")'],
    ['Ant', 'any.hive.name', 'any -> Bee (hive -> Ant (name begins "x"))'],
    ['Ant', 'any.home.name', 'any -> Bee (hive -> Ant (name begins "x"))'],
    ['Ant', '_has:Bee:home:name', 'hive of Bee (name = "x") -> this'],
    ['Ant', '_has:Ant:any:_has:Bee:hive:name', 'any of Ant (hive of Bee (name = "x") -> this) -> this'],
    [
      'Bee',
      '_has:Ant:bee:any._has:Bee:hive:name',
      'bee of Ant (any -> Ant (hive of Bee (name = "x") -> this)) -> this',
    ],
    ['Bee', 'hive.bee.hive.bee.name', 'hive -> Ant (bee -> Bee (hive -> Ant (bee -> Bee (name = "x"))))'],
  ])('%s?%s', (type, name, condition) => {
    expect(print(type, name, 'x')).toBe(condition);
  });

  it('doubles at each step, up to the bound', () => {
    expect(print('Ant', 'any:Ant.any:Ant.any:Ant.any.name', 'x').match(/Bee/g)).toHaveLength(1);
    expect(print('Ant', 'any.name', 'x')).toContain(' or ');
  });
});

describe('whatever the name', () => {
  const codes = fc.constantFrom(
    'subject',
    'patient',
    'organization',
    'target',
    'name',
    '_id',
    '_tag',
    'code',
    'related',
    'format',
    'x',
    '',
  );
  const types = fc.constantFrom(
    'Patient',
    'Observation',
    'Provenance',
    'DocumentReference',
    'Foo',
    'identifier',
    'constructor',
    '',
  );
  const part = fc.oneof(
    { weight: 4, arbitrary: codes },
    fc.tuple(codes, types).map(([code, type]) => `${code}:${type}`),
    fc.tuple(types, codes).map(([type, code]) => `_has:${type}:${code}:`),
    fc.constantFrom('_has', '_has:', '__proto__', 'toString', ':', '.', 'name:exact', 'x:missing'),
    fc.string({ maxLength: 5 }),
  );
  const names = fc.array(fc.tuple(part, fc.constantFrom('.', '.', '', ':')), { minLength: 1, maxLength: 12 });
  const values = fc.oneof(
    fc.constantFrom('x', 'true', 'Patient/1', '2020', 'a,b', 'a$b', ''),
    fc.string({ maxLength: 8 }),
  );

  it('it is read, or refused by a FhirError that says something of it', () => {
    let taken = 0;
    fc.assert(
      fc.property(names, values, types, (parts, value, type) => {
        const name = parts.map(([text, separator]) => text + separator).join('');
        try {
          const criterion = parseCriterion(name, value, contextOf(type));
          expect(JSON.stringify(criterion).length).toBeGreaterThan(2);
          checkName(name, contextOf(type));
          taken++;
        } catch (error) {
          expect(error).toBeInstanceOf(FhirError);
          expect((error as FhirError).status).toBe(400);
          expect((error as FhirError).message.length).toBeLessThan(6000);
        }
      }),
      { numRuns: 5000, seed: 9 },
    );
    expect(taken).toBeGreaterThan(10);
  });

  it('what is written by the grammar is taken', () => {
    const link = fc.constantFrom(
      'has-member:Observation.',
      '_has:Observation:has-member:',
      'derived-from:Observation.',
    );
    const last = fc.constantFrom(
      'code',
      'code:not',
      'date',
      'subject:Patient',
      'subject:identifier',
      '_id',
      'code:missing',
    );
    const chain = fc.array(link, { maxLength: 8 });
    fc.assert(
      fc.property(chain, last, (links, end) => {
        const value = end.endsWith('missing') ? 'true' : end === 'date' ? '2020' : '1';
        const criterion = parse(`Observation?${links.join('')}${end}`, value);
        expect(JSON.stringify(criterion).match(/"where"/g) ?? []).toHaveLength(links.length);
      }),
      { numRuns: 500, seed: 9 },
    );
  });
});
