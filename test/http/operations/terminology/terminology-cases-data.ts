/** The code system of the cases, in version 2. */
export const CS = 'http://cases.example/cs';
export const OTHER = 'http://cases.example/other';
export const LOOSE = 'http://cases.example/loose';
export const VS = 'http://cases.example/vs';
export const MAP = 'http://cases.example/map';
export const TARGET = 'http://cases.example/target';
export const UNKNOWN = 'http://unknown.example';

const PROPERTIES = 'http://hl7.org/fhir/concept-properties#';

interface Fixture {
  readonly resourceType: string;
  readonly id: string;
  readonly [name: string]: unknown;
}

const flag = (code: string, value: object) => ({ code, ...value });
const head = { resourceType: 'CodeSystem', status: 'active', content: 'complete', caseSensitive: true, language: 'en' };

/**
 * a (abstract)
 * ├ b ─ c
 * ├ d (inactive)
 * └ e (retired)
 * f (deprecated)
 */
const concepts = (last: readonly object[]) => [
  {
    ...{
      code: 'a',
      display: 'Alpha',
      definition: 'The first',
      property: [flag('notSelectable', { valueBoolean: true })],
    },
    concept: [
      {
        ...{ code: 'b', display: 'Beta', property: [flag('weight', { valueDecimal: 2.5 })] },
        designation: [
          { language: 'de', value: 'Bä' },
          { language: 'fr', use: { system: 'http://use.example', code: 'short' }, value: 'Bé' },
        ],
        concept: [{ code: 'c', display: 'Gamma ray' }],
      },
      { code: 'd', display: 'Delta', property: [flag('off', { valueBoolean: true })] },
      { code: 'e', display: 'Epsilon', property: [flag('status', { valueCode: 'retired' })] },
    ],
  },
  { code: 'f', display: 'Phi', property: [flag('status', { valueCode: 'deprecated' })] },
  ...last,
];

const property = [
  { code: 'notSelectable', uri: `${PROPERTIES}notSelectable`, type: 'boolean' },
  { code: 'off', uri: `${PROPERTIES}inactive`, type: 'boolean' },
  { code: 'status', uri: `${PROPERTIES}status`, type: 'code' },
  { code: 'weight', uri: 'http://cases.example/weight', type: 'decimal' },
];

const valueSet = (id: string, compose: object, more: object = {}): Fixture => ({
  ...{ resourceType: 'ValueSet', id: `vs-${id}`, url: `${VS}/${id}`, version: '1', name: id, status: 'draft', compose },
  ...more,
});

const conceptMap = (id: string, group: readonly object[], more: object = {}): Fixture => ({
  ...{ resourceType: 'ConceptMap', id: `map-${id}`, url: `${MAP}/${id}`, status: 'active', group },
  ...more,
});

/** What is stored before the cases run. */
export const TERMINOLOGY_FIXTURES: readonly Fixture[] = [
  { ...head, id: 'cs-1', url: CS, version: '1', name: 'Cases', property, concept: concepts([]) },
  { ...head, id: 'cs-2', url: CS, version: '2', name: 'Cases', valueSet: `${CS}-all`, property, concept: concepts([{ code: 'g', display: 'New' }]) }, // prettier-ignore
  { ...head, id: 'other', url: OTHER, name: 'Other', concept: [{ code: 'b', display: 'Other b' }, { code: 'z', display: 'Zed' }] }, // prettier-ignore
  {
    ...head,
    id: 'loose',
    url: LOOSE,
    name: 'Loose',
    caseSensitive: false,
    concept: [{ code: 'Mixed', display: 'Mixed' }],
  },
  { ...head, id: 'grouped', url: 'http://cases.example/grouped', hierarchyMeaning: 'grouped-by', concept: [{ code: 'x', concept: [{ code: 'y' }] }] }, // prettier-ignore
  { ...head, id: 'fragment', url: 'http://cases.example/fragment', content: 'fragment', concept: [{ code: 'known' }] },
  { ...head, id: 'supplement', url: 'http://cases.example/more', content: 'supplement', supplements: CS, property: [{ code: 'rays', uri: 'http://cases.example/rays', type: 'integer' }], concept: [{ code: 'c', designation: [{ language: 'it', value: 'Raggio' }], property: [{ code: 'rays', valueInteger: 3 }] }] }, // prettier-ignore
  valueSet('all', { include: [{ system: CS }] }),
  valueSet('one', { include: [{ system: CS, version: '1' }] }),
  valueSet('active', { inactive: false, include: [{ system: CS }] }),
  valueSet('listed', { include: [{ system: CS, concept: [{ code: 'c', display: 'Third' }, { code: 'd' }, { code: 'nope' }] }] }), // prettier-ignore
  valueSet('isa', { include: [{ system: CS, filter: [{ property: 'concept', op: 'is-a', value: 'b' }] }] }),
  valueSet('two-filters', { include: [{ system: CS, filter: [{ property: 'concept', op: 'is-a', value: 'a' }, { property: 'weight', op: 'exists', value: 'true' }] }] }), // prettier-ignore
  valueSet('excluded', {
    include: [{ system: CS }],
    exclude: [{ system: CS, concept: [{ code: 'a' }, { code: 'b' }] }],
  }),
  valueSet('two', { include: [{ system: CS, concept: [{ code: 'b' }, { code: 'c' }] }, { system: OTHER }] }),
  valueSet('imported', { include: [{ valueSet: [`${VS}/two`] }] }),
  valueSet('intersection', { include: [{ valueSet: [`${VS}/isa`, `${VS}/listed`] }] }),
  valueSet('part-of-import', { include: [{ system: CS, filter: [{ property: 'concept', op: 'is-a', value: 'b' }], valueSet: [`${VS}/listed`] }] }), // prettier-ignore
  valueSet('imports-excluded', { include: [{ system: CS }], exclude: [{ valueSet: [`${VS}/listed`] }] }),
  valueSet('loose', { include: [{ system: LOOSE }] }),
  valueSet('lost', { include: [{ system: UNKNOWN }] }),
  valueSet('lost-list', { include: [{ system: UNKNOWN, concept: [{ code: 'x', display: 'Ex' }] }] }),
  valueSet('missing-import', { include: [{ valueSet: [`${VS}/nowhere`] }] }),
  valueSet('circle-1', { include: [{ valueSet: [`${VS}/circle-2`] }] }),
  valueSet('circle-2', { include: [{ valueSet: [`${VS}/circle-3`] }, { system: CS }] }),
  valueSet('circle-3', { include: [{ valueSet: [`${VS}/circle-1`] }] }),
  valueSet('circle-behind', { include: [{ system: OTHER }, { valueSet: [`${VS}/circle-before`] }] }),
  valueSet('circle-before', { include: [{ system: OTHER }], exclude: [{ valueSet: [`${VS}/circle-behind`] }] }),
  valueSet('units', { include: [{ system: 'http://unitsofmeasure.org' }] }),
  valueSet('fragment', { include: [{ system: 'http://cases.example/fragment' }] }),
  valueSet('supplemented', { include: [{ system: CS }] }, { extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/valueset-supplement', valueCanonical: 'http://cases.example/more' }] }), // prettier-ignore
  { resourceType: 'ValueSet', id: 'vs-expanded', url: `${VS}/expanded`, status: 'active', expansion: { timestamp: '2026-01-01', contains: [{ system: UNKNOWN, code: 'p', contains: [{ system: UNKNOWN, code: 'q', inactive: true }] }] } }, // prettier-ignore
  { ...valueSet('all', { include: [{ system: OTHER }] }), id: 'vs-all-0', version: '0.5' },
  conceptMap('main', [
    {
      ...{ source: CS, target: TARGET },
      element: [
        { code: 'b', target: [{ code: 'B', display: 'Bee', relationship: 'equivalent' }, { code: 'BB', relationship: 'source-is-narrower-than-target' }] }, // prettier-ignore
        { code: 'c', target: [{ code: 'B', relationship: 'source-is-broader-than-target' }] },
        { code: 'd', target: [{ code: 'X', relationship: 'not-related-to' }] },
        { code: 'e', noMap: true },
      ],
    },
    { source: CS, target: OTHER, element: [{ code: 'b', target: [{ code: 'z', relationship: 'related-to' }] }] },
  ], { sourceScopeUri: `${VS}/all`, targetScopeUri: `${VS}/targets` }), // prettier-ignore
  conceptMap('fixed', [{ source: CS, target: TARGET, element: [{ code: 'none', noMap: true }], unmapped: { mode: 'fixed', code: 'U', display: 'Unknown', relationship: 'related-to' } }]), // prettier-ignore
  conceptMap('same', [{ source: CS, target: TARGET, element: [{ code: 'none', noMap: true }], unmapped: { mode: 'use-source-code', relationship: 'equivalent' } }]), // prettier-ignore
  conceptMap('via', [{ source: CS, target: TARGET, element: [{ code: 'none', noMap: true }], unmapped: { mode: 'other-map', otherMap: `${MAP}/main` } }]), // prettier-ignore
  conceptMap('product', [{ source: CS, target: TARGET, element: [{ code: 'b', target: [{ code: 'B', relationship: 'equivalent', property: [{ code: 'p', valueString: 'v' }], product: [{ attribute: 'side', valueCode: 'left' }] }] }] }], { property: [{ code: 'p', uri: 'http://p.example', type: 'string' }], additionalAttribute: [{ code: 'side', uri: 'http://side.example', type: 'code' }] }), // prettier-ignore
];
