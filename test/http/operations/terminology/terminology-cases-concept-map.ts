import type { TerminologyCase } from './terminology-cases.js';
import { CS, MAP, OTHER, TARGET, VS } from './terminology-cases-data.js';

const by = (title: string, query: string, gives: object): TerminologyCase => ({ title, path: `/ConceptMap/$translate?${query}`, gives: gives as TerminologyCase['gives'] }); // prettier-ignore
const posted = (title: string, post: readonly object[], gives: object): TerminologyCase => ({ title, path: '/ConceptMap/map-main/$translate', post, gives: gives as TerminologyCase['gives'] }); // prettier-ignore
const source = (map: string, code: string): string => `url=${MAP}/${map}&system=${CS}&sourceCode=${code}`;
const target = (map: string, code: string): string => `url=${MAP}/${map}&system=${TARGET}&targetCode=${code}`;
const to = (code: string, relationship: string, more: object = {}) => ({ concept: { code, ...more }, relationship });
const COUNTED = (count: number) => ({ asymmetricMatch: (value: unknown) => Array.isArray(value) && value.length === count }); // prettier-ignore

export const CONCEPT_MAP_CASES: readonly TerminologyCase[] = [
  by('all matches, each with its relationship and its map', source('main', 'b'), {
    ...{ status: 200, result: true },
    match: [
      { ...to('B', 'equivalent', { system: TARGET, display: 'Bee' }), originMap: `${MAP}/main` },
      to('BB', 'source-is-narrower-than-target', { system: TARGET }),
      to('z', 'related-to', { system: OTHER }),
    ],
  }),
  by('not-related-to: matches, and no result', source('main', 'd'), {
    result: false,
    match: [to('X', 'not-related-to')],
  }),
  by('noMap', source('main', 'e'), { status: 200, result: false, match: undefined }),
  by('a code that the map lacks', source('main', 'nope'), { status: 200, result: false, match: undefined }),
  by('a code of another system', `url=${MAP}/main&system=${OTHER}&sourceCode=b`, { result: false }),
  by('targetSystem', `${source('main', 'b')}&targetSystem=${OTHER}`, { result: true, match: [to('z', 'related-to')] }),
  by('a targetSystem that the map lacks', `${source('main', 'b')}&targetSystem=http://none.example`, { result: false }),
  by('a target: the relationship is read from source to target', target('main', 'B'), {
    result: true,
    match: [to('b', 'equivalent', { system: CS }), to('c', 'source-is-narrower-than-target', { system: CS })],
  }),
  by('a target that nothing leads to', target('main', 'nope'), { status: 200, result: false }),
  by('unmapped: fixed', source('fixed', 'q'), { result: true, match: [to('U', 'related-to', { display: 'Unknown' })] }),
  by('unmapped: use-source-code', source('same', 'q'), {
    result: true,
    match: [to('q', 'equivalent', { system: TARGET })],
  }),
  by('unmapped: other-map', source('via', 'b'), { result: true, match: COUNTED(3) }),
  by('properties and products', source('product', 'b'), { match: [{ property: [{ name: 'uri', valueUri: 'http://p.example' }, { name: 'value', valueString: 'v' }], product: [{ name: 'attribute', valueUri: 'http://side.example' }, { name: 'value', valueCode: 'left' }] }] }), // prettier-ignore
  by('the names of R4', `url=${MAP}/main&system=${CS}&code=c&targetsystem=${TARGET}`, { result: true, match: [to('B', 'source-is-broader-than-target')] }), // prettier-ignore
  by('reverse of R4', `url=${MAP}/main&system=${TARGET}&code=BB&reverse=true`, { result: true, match: [to('b', 'source-is-broader-than-target')] }), // prettier-ignore
  by('without a map: those whose scopes fit', `system=${CS}&sourceCode=c&sourceScope=${VS}/all&targetScope=${VS}/targets`, { result: true, match: [to('B', 'source-is-broader-than-target')] }), // prettier-ignore
  by('without a map: no scope fits', `system=${CS}&sourceCode=c&sourceScope=${VS}/none`, {
    status: 200,
    result: false,
  }),
  by('sourceScope limits the codes', `${source('main', 'b')}&sourceScope=${VS}/listed`, { result: false }),
  by('sourceScope that has the code', `${source('main', 'c')}&sourceScope=${VS}/listed`, { result: true }),
  by('"one (and only one)": none', `url=${MAP}/main`, { status: 400 }),
  by('"one (and only one)": two', `${source('main', 'b')}&targetCode=B`, { status: 400 }),
  by('"if a code is provided, a system must be provided"', `url=${MAP}/main&sourceCode=b`, { status: 400 }),
  by('an unknown map', `url=${MAP}/none&system=${CS}&sourceCode=b`, { status: 404 }),
  posted('a coding, at an instance', [{ name: 'sourceCoding', valueCoding: { system: CS, code: 'c' } }], { result: true, match: [to('B', 'source-is-broader-than-target')] }), // prettier-ignore
  posted('a CodeableConcept: all of its codings', [{ name: 'sourceCodeableConcept', valueCodeableConcept: { coding: [{ system: CS, code: 'c' }, { system: CS, code: 'd' }] } }], { result: true, match: COUNTED(2) }), // prettier-ignore
  posted('targetCoding', [{ name: 'targetCoding', valueCoding: { system: OTHER, code: 'z' } }], { result: true, match: [to('b', 'related-to', { system: CS })] }), // prettier-ignore
  { title: 'a map in the request', path: '/ConceptMap/$translate', post: [{ name: 'conceptMap', resource: { resourceType: 'ConceptMap', status: 'active', group: [{ source: CS, target: TARGET, element: [{ code: 'f', target: [{ code: 'F', relationship: 'equivalent' }] }] }] } }, { name: 'sourceCoding', valueCoding: { system: CS, code: 'f' } }], gives: { result: true, match: [to('F', 'equivalent')] } }, // prettier-ignore
  {
    title: 'an instance that is not there',
    path: `/ConceptMap/none/$translate?system=${CS}&sourceCode=b`,
    gives: { status: 404 },
  },
];
