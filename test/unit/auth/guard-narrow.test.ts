import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { narrowIncludes } from '../../../runtime/auth/access/narrow-includes.js';
import { narrowMultiType } from '../../../runtime/auth/access/narrow-search.js';
import { printNeeded } from '../../../runtime/auth/access/needed-scopes.js';
import { isOwnChain, linksOf } from '../../../runtime/auth/access/search-links.js';
import { isWithinReach } from '../../../runtime/auth/access/visible.js';
import type { Access } from '../../../runtime/auth/scopes/access.js';
import { commonReach, eitherReach, type Reach } from '../../../runtime/auth/scopes/reach.js';
import { matches, type Candidate, type Neighbours } from '../../../runtime/search/query/match.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import type { Condition, Criterion } from '../../../runtime/search/query/query.js';
import type { IncludeDirective } from '../../../runtime/store/store.js';
import { processorTime } from '../../processor-time.js';
import { accessOf } from './scopes-setup.js';

const token = (param: string, code: string): Condition => ({ param, any: [{ is: 'token', code }] });
const chain = (param: string, types: readonly string[], where: Condition): Condition => ({
  param,
  chain: types.map((type) => ({ type, where })),
});
const has = (type: string, param: string, where: Condition): Condition => ({ has: { type, param, where } });

/** A search of one type. */
function narrowSearch(where: Condition, type: string, access: Access) {
  const found = narrowMultiType([{ type, where }], access);
  return found.is === 'refused' ? found : { is: found.is, where: found.parts[0]!.where };
}

function narrowed(where: Condition, scopes: string): string {
  const found = narrowSearch(where, 'Observation', accessOf(scopes));
  return found.is === 'refused' ? `needs ${printNeeded(found.needed)}` : printCondition(found.where);
}

const CODE = token('code', 'x');
const NAME = token('name', 'eve');

/** Condition on Observation, scopes, what is searched. */
const CASES: readonly (readonly [string, Condition, string, string])[] = [
  ['all', CODE, 'system/Observation.s', 'code = "x"'],
  ['not the letter', CODE, 'system/Observation.r', 'needs system/*.s'],
  ['constraint', CODE, 'system/Observation.s?category=a', '(code = "x") and (category = "a")'],
  ['everything within a constraint', { all: [] }, 'system/Observation.s?category=a', '(category = "a")'],
  [
    'alternatives within a constraint',
    { some: [CODE, { not: CODE }] },
    'system/Observation.s?category=a',
    '((code = "x") or (not (code = "x"))) and (category = "a")',
  ],
  ['a chain', chain('patient', ['Patient'], NAME), 'system/*.s', 'patient -> Patient (name = "eve")'],
  ['a chain to no scope', chain('patient', ['Patient'], NAME), 'system/Observation.s', 'needs system/Patient.s'],
  [
    'a chain to r alone',
    chain('patient', ['Patient'], NAME),
    'system/Observation.s system/Patient.r',
    'needs system/Patient.s',
  ],
  [
    'a chain to a constraint',
    chain('patient', ['Patient'], NAME),
    'system/Observation.s system/Patient.s?_tag=x',
    'patient -> Patient ((name = "eve") and (_tag = "x"))',
  ],
  [
    'an untyped chain',
    chain('subject', ['Device', 'Group', 'Patient'], NAME),
    'system/Observation.s system/Patient.s system/Group.s?_tag=x',
    'subject -> (Group ((name = "eve") and (_tag = "x")) or Patient (name = "eve"))',
  ],
  [
    'an untyped chain to none',
    chain('subject', ['Device', 'Patient'], NAME),
    'system/Observation.s',
    'needs system/*.s',
  ],
  [
    'a chain behind a chain',
    chain('patient', ['Patient'], chain('organization', ['Organization'], NAME)),
    'system/Observation.s system/Patient.s',
    'needs system/Organization.s',
  ],
  [
    '_has',
    has('Provenance', 'target', CODE),
    'system/Observation.s system/Provenance.s?_tag=x',
    'target of Provenance ((code = "x") and (_tag = "x")) -> this',
  ],
  ['_has without scope', has('Provenance', 'target', CODE), 'system/Observation.s', 'needs system/Provenance.s'],
  [
    'links within not and or',
    { not: { some: [CODE, chain('patient', ['Patient'], NAME)] } },
    'system/Observation.s',
    'needs system/Patient.s',
  ],
  [
    'several that are missing',
    { all: [chain('patient', ['Patient'], NAME), has('Provenance', 'target', CODE)] },
    'system/Observation.s',
    'needs system/Patient.s system/Provenance.s',
  ],
];

describe('a search within scopes', () => {
  it.each(CASES)('%s', (_, where, scopes, answer) => {
    expect(narrowed(where, scopes)).toBe(answer);
  });

  it('has names that count as its own', () => {
    const { ownChains } = tables.scopes;
    const names = ['author.given', 'author.family', 'patient.identifier'];
    for (const name of names) {
      expect(isOwnChain(ownChains, 'DocumentReference', name)).toBe(true);
      expect(isOwnChain(ownChains, 'Observation', name)).toBe(false);
      expect(isOwnChain(ownChains, 'DocumentReference', `${name}:exact`)).toBe(false);
    }
    for (const name of [
      'author:Practitioner.given',
      'patient:Patient.identifier',
      'patient.name',
      'subject.identifier',
    ]) {
      expect(isOwnChain(ownChains, 'DocumentReference', name)).toBe(false);
    }
  });

  it('over several types leaves out those without s', () => {
    const parts = ['Device', 'Observation', 'Patient'].map((type) => ({ type, where: CODE }));
    const found = narrowMultiType(parts, accessOf('system/Observation.s?category=a system/Patient.s system/Device.r'));
    if (found.is === 'refused') throw new Error('refused');
    expect(found.parts.map(({ type, where }) => `${type} ${printCondition(where)}`)).toEqual([
      'Observation (code = "x") and (category = "a")',
      'Patient code = "x"',
    ]);
    const none = narrowMultiType(parts, accessOf('system/*.r'));
    expect(none.is === 'refused' && printNeeded(none.needed)).toBe('system/*.s');
    const chained = narrowMultiType(
      [{ type: 'Patient', where: has('Observation', 'patient', CODE) }],
      accessOf('system/Patient.s'),
    );
    expect(chained.is === 'refused' && printNeeded(chained.needed)).toBe('system/Observation.s');
  });
});

describe('the types that criteria reach into', () => {
  const hierarchy: Criterion = {
    param: 'location',
    hierarchies: [{ direction: 'below', type: 'Location', by: 'partof', ids: ['1'] }],
  };

  it('are found through all that a criterion is made of', () => {
    const criteria: readonly Criterion[] = [
      CODE,
      { not: { some: [chain('patient', ['Patient'], NAME)] } },
      has('Provenance', 'target', chain('agent', ['Device', 'Practitioner'], NAME)),
      hierarchy,
      { param: 'encounter', chain: [{ type: 'Encounter', where: hierarchy }] },
    ];
    expect(linksOf(criteria, accessOf('system/*.s'))).toEqual({
      chain: ['Encounter', 'Location', 'Patient', 'Provenance'],
      'untyped-chain': [['Device', 'Practitioner']],
      list: false,
      in: false,
    });
    expect(linksOf([CODE], accessOf('system/*.s'))).toEqual({
      chain: false,
      'untyped-chain': false,
      list: false,
      in: false,
    });
  });

  it('are not looked for behind a type without scope', () => {
    const both = chain('subject', ['Device', 'Patient'], chain('organization', ['Organization'], NAME));
    expect(linksOf([both], accessOf('system/*.s'))).toEqual({
      chain: ['Organization'],
      'untyped-chain': [['Device', 'Patient']],
      list: false,
      in: false,
    });
    expect(linksOf([both], accessOf('system/Observation.s'))).toEqual({
      chain: false,
      'untyped-chain': [['Device', 'Patient']],
      list: false,
      in: false,
    });
  });
});

describe('what comes with a page', () => {
  const forward: IncludeDirective = { isReverse: false, source: 'Observation', params: ['subject'], iterates: false };
  const named: IncludeDirective = { ...forward, targets: ['Device', 'Patient'] };
  const reverse: IncludeDirective = { isReverse: true, source: 'Provenance', params: ['target'], iterates: true };
  const types = ['Device', 'Group', 'Patient'];
  const narrow = (directive: IncludeDirective, scopes: string) => narrowIncludes([directive], accessOf(scopes), types);

  it('has r or s where it is referred to, and s where it refers', () => {
    expect(narrow(named, 'system/*.rs')).toEqual([named]);
    expect(narrow(forward, 'system/*.r')).toEqual([forward]);
    expect(narrow(named, 'system/Patient.r')).toEqual([{ ...named, targets: ['Patient'] }]);
    expect(narrow(named, 'system/Device.s system/Patient.r')).toEqual([named]);
    expect(narrow(named, 'system/Patient.cud')).toEqual([]);
    expect(narrow(forward, 'system/Patient.s')).toEqual([{ ...forward, targets: ['Patient'] }]);
    expect(narrow(reverse, 'system/Provenance.s')).toEqual([reverse]);
    expect(narrow(reverse, 'system/Provenance.r')).toEqual([]);
  });

  it('lies within the constraint of either', () => {
    const within = narrow(named, 'system/Patient.r?_tag=a system/Patient.s?_tag=b system/Device.r');
    expect(within).toEqual([{ ...named, within: { Patient: { some: [token('_tag', 'a'), token('_tag', 'b')] } } }]);
    expect(narrow(named, 'system/Patient.r?_tag=a system/Patient.s')).toEqual([{ ...named, targets: ['Patient'] }]);
    expect(narrow(reverse, 'system/Provenance.rs?_tag=a')).toEqual([
      { ...reverse, within: { Provenance: token('_tag', 'a') } },
    ]);
  });
});

/** A small world: resources of three types that refer to each other, and what a token may search of them. */
const TYPES = ['A', 'B', 'C'] as const;
const IDS = ['0', '1', '2'] as const;
const anyType = fc.constantFrom(...TYPES);
const anyId = fc.constantFrom(...IDS);

interface World {
  readonly all: ReadonlyMap<string, readonly Candidate[]>;
}

const reference = fc
  .record({ type: anyType, id: anyId })
  .map((to) => ({ kind: 'reference' as const, param: 'ref', ...to }));
const world = fc
  .array(fc.array(fc.array(reference, { maxLength: 3 }), { minLength: 3, maxLength: 3 }), {
    minLength: 3,
    maxLength: 3,
  })
  .map((types): World => {
    const candidates = types.map((some) => some.map((entries, i) => ({ id: IDS[i]!, lastUpdated: 0, entries })));
    return { all: new Map(TYPES.map((type, i) => [type, candidates[i]!])) };
  });

const ids = fc.subarray([...IDS]).map((some) => ({ ids: some }));
const reach: fc.Arbitrary<Reach> = fc.oneof(fc.constant('everything' as const), fc.constant('nothing' as const), ids);

const { condition } = fc.letrec<{ condition: Condition; target: { type: string; where: Condition } }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'condition' },
    ids,
    fc.array(tie('condition'), { maxLength: 2 }).map((all) => ({ all })),
    fc.array(tie('condition'), { maxLength: 2 }).map((some) => ({ some })),
    tie('condition').map((not) => ({ not })),
    fc
      .tuple(fc.subarray([...TYPES], { minLength: 1 }), fc.array(tie('condition'), { minLength: 3, maxLength: 3 }))
      .map(([types, wheres]) => ({ param: 'ref', chain: types.map((type, i) => ({ type, where: wheres[i]! })) })),
    fc.tuple(anyType, tie('condition')).map(([type, where]) => ({ has: { type, param: 'ref', where } })),
  ),
  target: fc.record({ type: anyType, where: tie('condition') }),
}));

function accessWith(reaches: ReadonlyMap<string, Reach>): Access {
  const on = (type: string): Reach => reaches.get(type) ?? 'nothing';
  return {
    on: (type, letters) => commonReach([...letters].map(() => on(type))),
    onAny: (type, anyOf) => eitherReach(anyOf.map(() => on(type))),
    isWhole: (type) => on(type) === 'everything',
    holds: () => false,
  };
}

function neighbours({ all }: World, type: string): Neighbours {
  const of = (name: string): Neighbours => neighbours({ all }, name);
  return { type, of, targets: (name) => all.get(name) ?? [], sources: (name) => all.get(name) ?? [] };
}

const found = (world: World, type: string, where: Condition): readonly string[] =>
  (world.all.get(type) ?? []).filter((each) => matches(where, each, neighbours(world, type))).map(({ id }) => id);

it('is narrowed in proportion to what it is written as, though types share what is asked of them', () => {
  let where: Condition = CODE;
  const types = tables.resourceTypes.slice(0, 20);
  for (let depth = 0; depth < 8; depth++) where = chain('subject', types, where);
  const access = accessOf('system/*.s?_tag=x');
  const took = processorTime();
  expect(narrowSearch(where, 'Observation', access).is).toBe('narrowed');
  expect(linksOf([where], access)['untyped-chain']).toEqual([types]);
  expect(took()).toBeLessThan(500);
});

describe('a search within scopes, in small worlds', () => {
  const worlds = fc.record({ world, reaches: fc.tuple(reach, reach, reach), type: anyType, condition });

  it('finds what it would find if the rest did not exist', () => {
    fc.assert(
      fc.property(worlds, ({ world, reaches, type, condition }) => {
        const access = accessWith(new Map(TYPES.map((name, i) => [name, reaches[i]!])));
        const narrowed = narrowSearch(condition, type, access);
        if (narrowed.is === 'refused') return;
        const visible = new Map(
          [...world.all].map(([name, some]) => [
            name,
            some.filter((each) => isWithinReach(access.on(name, 's'), () => each)),
          ]),
        );
        expect(found(world, type, narrowed.where)).toEqual(found({ all: visible }, type, condition));
      }),
      { numRuns: 3000 },
    );
  });

  it('is refused by the links alone, or not at all', () => {
    fc.assert(
      fc.property(worlds, ({ reaches, condition }) => {
        const access = accessWith(
          new Map([...TYPES.map((name, i) => [name, reaches[i]!] as const), ['Top', 'everything']]),
        );
        const { chain, 'untyped-chain': groups } = linksOf([condition], access);
        const isMissing =
          (chain || []).some((type) => access.on(type, 's') === 'nothing') ||
          (groups || []).some((types) => types.every((type) => access.on(type, 's') === 'nothing'));
        expect(narrowSearch(condition, 'Top', access).is === 'refused').toBe(isMissing);
      }),
      { numRuns: 3000 },
    );
  });
});
