import { many, parameters, put, type HostileRequest, type StallCase } from './stall-case.js';

const SYSTEM = 'urn:bench:codes';

const concepts = (count: number, more: (n: number) => object = () => ({})): object[] =>
  many(count, (n) => ({ code: `c${n}`, display: `Concept ${n} of many words in it`, ...more(n) }));

const codeSystem = (id: string, concept: readonly object[], more: object = {}): HostileRequest =>
  put({
    resourceType: 'CodeSystem',
    id,
    ...{ url: id === 'codes' ? SYSTEM : `urn:bench:${id}`, status: 'active', content: 'complete', ...more, concept },
  });

const valueSet = (compose: object): object => ({
  resourceType: 'ValueSet',
  status: 'active',
  url: 'urn:bench:vs',
  compose,
});

const expand = (compose: object, ...more: object[]): HostileRequest =>
  parameters('/ValueSet/$expand', [{ name: 'valueSet', resource: valueSet(compose) }, ...more]);

const bySystem = { include: [{ system: SYSTEM }] };

/** Code systems and value sets at their limits. */
export const TERMINOLOGY_CASES: readonly StallCase[] = [
  { name: 'a CodeSystem of 100,000 concepts', requests: () => [codeSystem('codes', concepts(100_000))], status: 201 },
  {
    name: 'the first $expand of 100,000 concepts',
    requests: () => [expand(bySystem, { name: 'count', valueInteger: 1000 })],
    status: 200,
  },
  {
    name: '$expand by a long filter',
    requests: () => [
      expand(
        bySystem,
        { name: 'filter', valueString: many(60_000, (n) => `w${n}`).join(' ') },
        { name: 'count', valueInteger: 10 },
      ),
    ],
    status: 200,
  },
  {
    name: '$expand with 2,000 designations',
    requests: () => [
      expand(
        { include: [{ system: SYSTEM, concept: many(3000, (n) => ({ code: `c${n}` })) }] },
        ...many(2000, (n) => ({ name: 'designation', valueString: `x-${n}` })),
      ),
    ],
    status: 200,
  },
  {
    name: '$expand with 40,000 properties',
    requests: () => [
      expand(
        { include: [{ system: SYSTEM, concept: many(3000, (n) => ({ code: `c${n}` })) }] },
        ...many(40_000, (n) => ({ name: 'property', valueString: `x-${n}` })),
      ),
    ],
    status: 200,
  },
  {
    name: '$expand by regular expressions of repetitions',
    requests: () => [
      expand({
        include: [{ system: SYSTEM, filter: [{ property: 'code', op: 'regex', value: '(){9999}{9999}{9999}' }] }],
      }),
    ],
    status: 422,
  },
  {
    name: '$expand of 500 value sets in each other',
    requests: () => [
      expand({
        include: many(500, (n) => ({ system: SYSTEM, filter: [{ property: 'code', op: 'regex', value: `c.*${n}` }] })),
      }),
    ],
    status: 422,
  },
  {
    name: '$expand of excluded ones',
    requests: () => [
      expand({
        include: [{ system: SYSTEM }],
        exclude: many(100, (n) => ({ system: SYSTEM, concept: many(1000, (m) => ({ code: `c${n * 1000 + m}` })) })),
      }),
    ],
    status: 200,
  },
  {
    name: '$lookup of 40,000 properties',
    requests: () => [
      parameters('/CodeSystem/$lookup', [
        { name: 'code', valueCode: 'c1' },
        { name: 'system', valueUri: SYSTEM },
        ...many(40_000, (n) => ({ name: 'property', valueCode: `x-${n}` })),
      ]),
    ],
    status: 200,
  },
  {
    name: '$subsumes',
    requests: () => [
      parameters('/CodeSystem/$subsumes', [
        { name: 'codeA', valueCode: 'c1' },
        { name: 'codeB', valueCode: 'c2' },
        { name: 'system', valueUri: SYSTEM },
      ]),
    ],
    status: 200,
  },
  {
    name: '$find-matches of 1,000 properties',
    requests: () => [
      parameters('/CodeSystem/$find-matches', [
        { name: 'system', valueUri: SYSTEM },
        { name: 'exact', valueBoolean: false },
        ...many(1000, (n) => ({
          name: 'property',
          part: [
            { name: 'code', valueCode: 'display' },
            { name: 'value', valueString: `word ${n}` },
          ],
        })),
      ]),
    ],
    status: 422,
  },
  {
    name: '$validate-code with a CodeSystem of 200,000 concepts',
    requests: () => [
      parameters('/CodeSystem/$validate-code', [
        {
          name: 'codeSystem',
          resource: {
            resourceType: 'CodeSystem',
            url: 'urn:own',
            status: 'active',
            content: 'complete',
            concept: concepts(200_000),
          },
        },
        { name: 'code', valueCode: 'c1' },
      ]),
    ],
    status: 200,
  },
  {
    name: '$validate-code with a CodeSystem of 200,000 children of one',
    requests: () => [
      parameters('/CodeSystem/$validate-code', [
        {
          name: 'codeSystem',
          resource: {
            resourceType: 'CodeSystem',
            url: 'urn:own',
            status: 'active',
            content: 'complete',
            hierarchyMeaning: 'is-a',
            concept: [{ code: 'root', concept: concepts(200_000) }],
          },
        },
        { name: 'code', valueCode: 'c1' },
      ]),
    ],
    status: 200,
  },
  {
    name: '$validate-code of 5,000 codings',
    requests: () => [
      parameters('/ValueSet/$validate-code', [
        { name: 'valueSet', resource: valueSet(bySystem) },
        {
          name: 'codeableConcept',
          valueCodeableConcept: { coding: many(5000, (n) => ({ system: SYSTEM, code: `c${n}` })) },
        },
      ]),
    ],
    status: 200,
  },
  {
    name: '$translate by a map of 50,000 codes',
    before: () => [
      put({
        resourceType: 'ConceptMap',
        id: 'map',
        ...{
          url: 'urn:bench:map',
          status: 'active',
          group: [
            {
              source: SYSTEM,
              target: 'urn:other',
              element: many(50_000, (n) => ({
                code: `c${n}`,
                target: [{ code: `t${n}`, relationship: 'equivalent' }],
              })),
            },
          ],
        },
      }),
    ],
    requests: () => [
      parameters('/ConceptMap/$translate', [
        { name: 'url', valueUri: 'urn:bench:map' },
        { name: 'sourceCoding', valueCoding: { system: SYSTEM, code: 'c49999' } },
      ]),
    ],
    status: 200,
  },
  {
    name: '$closure of 5,000 codes',
    before: () => [parameters('/$closure', [{ name: 'name', valueString: 'bench' }])],
    requests: () => [
      parameters('/$closure', [
        { name: 'name', valueString: 'bench' },
        ...many(5000, (n) => ({ name: 'concept', valueCoding: { system: SYSTEM, code: `c${n}` } })),
      ]),
    ],
    status: 200,
  },
  {
    name: 'a CodeSystem of 100,000 children of one',
    requests: () => [codeSystem('flat', [{ code: 'root', concept: concepts(100_000) }], { hierarchyMeaning: 'is-a' })],
    status: 201,
  },
  {
    name: '$expand of 100,000 children',
    requests: () => [
      expand(
        { include: [{ system: 'urn:bench:flat', filter: [{ property: 'concept', op: 'is-a', value: 'root' }] }] },
        { name: 'count', valueInteger: 10 },
      ),
    ],
    status: 200,
  },
];
