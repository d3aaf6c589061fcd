/** A code system whose concepts differ in all that makes one inactive, and one of each kind of content. */
export const ODD = 'http://odd.example';

const PROPERTIES = 'http://hl7.org/fhir/concept-properties#';
const head = { resourceType: 'CodeSystem', status: 'active', content: 'complete', caseSensitive: true, language: 'en' };
const declared = (code: string, type: string, name = code) => ({ code, uri: `${PROPERTIES}${name}`, type });
const status = (code: string) => ({ code, property: [{ code: 'state', valueCode: code }] });
const dated = (code: string) => ({ code, property: [{ code, valueDateTime: '2020-01-01' }] });

const valueSet = (id: string, compose: object, more: object = {}) => ({
  ...{ resourceType: 'ValueSet', id: `odd-${id}`, url: `${ODD}/vs/${id}`, status: 'active', compose },
  ...more,
});

const system = (id: string, more: object) => ({ ...head, id: `odd-${id}`, url: `${ODD}/${id}`, name: id, ...more });

const map = (id: string, group: readonly object[], more: object = {}) => ({
  ...{ resourceType: 'ConceptMap', id: `odd-${id}`, url: `${ODD}/map/${id}`, status: 'draft', group },
  ...more,
});

/** What is stored before the cases of odd forms run. */
export const ODD_FIXTURES = [
  system('states', {
    property: [
      declared('inactive', 'boolean'),
      declared('state', 'code', 'status'),
      declared('deprecationDate', 'dateTime'),
      declared('off', 'boolean', 'notSelectable'),
    ],
    concept: [
      ...['active', 'experimental', 'deprecated', 'retired', 'inactive', 'withdrawn'].map(status),
      { code: 'flagged', property: [{ code: 'inactive', valueBoolean: true }] },
      { code: 'unflagged', property: [{ code: 'inactive', valueBoolean: false }] },
      dated('deprecationDate'),
      { code: 'group', property: [{ code: 'off', valueBoolean: true }], concept: [{ code: 'leaf' }] },
      {
        code: 'both',
        property: [
          { code: 'off', valueBoolean: true },
          { code: 'inactive', valueBoolean: true },
        ],
      },
    ],
  }),
  system('tongues', {
    concept: [{ code: 'hi', display: 'Hello', designation: [{ language: 'de', value: 'Hallo' }, { language: 'de-CH', value: 'Grüezi' }, { language: 'pt-BR', value: 'Oi' }] }, { code: 'plain', display: 'Plain' }], // prettier-ignore
  }),
  system('types', {
    property: [
      ...[['string', 'string'], ['integer', 'integer'], ['decimal', 'decimal'], ['boolean', 'boolean'], ['code', 'code']].map(([code, type]) => ({ code, type })), // prettier-ignore
      ...[
        ['coding', 'Coding'],
        ['dateTime', 'dateTime'],
        ['kin', 'code'],
      ].map(([code, type]) => ({ code, type })),
    ],
    concept: [
      {
        code: 'all',
        display: 'All',
        property: [
          ...[{ code: 'string', valueString: 's' }, { code: 'integer', valueInteger: 7 }, { code: 'decimal', valueDecimal: 1.5 }], // prettier-ignore
          ...[{ code: 'boolean', valueBoolean: false }, { code: 'code', valueCode: 'k' }, { code: 'dateTime', valueDateTime: '2020-01-02' }], // prettier-ignore
          ...[{ code: 'coding', valueCoding: { system: 'http://c.example', code: 'x' } }, { code: 'kin', valueCode: 'one' }, { code: 'kin', valueCode: 'two' }], // prettier-ignore
        ],
      },
      { code: 'one', display: 'One' },
    ],
  }),
  // Two parents: below is in both.
  system('poly', {
    hierarchyMeaning: 'is-a',
    concept: [{ code: 'top' }, { code: 'left', property: [{ code: 'parent', valueCode: 'top' }] }, { code: 'right', property: [{ code: 'parent', valueCode: 'top' }] }, { code: 'below', property: [{ code: 'parent', valueCode: 'left' }, { code: 'parent', valueCode: 'right' }] }], // prettier-ignore
  }),
  system('part-of', { hierarchyMeaning: 'part-of', concept: [{ code: 'body', concept: [{ code: 'hand' }] }] }),
  system('any-case', {
    caseSensitive: false,
    concept: [{ code: 'Top', concept: [{ code: 'Upper' }] }, { code: 'Other' }],
  }),
  system('example', { content: 'example', concept: [{ code: 'shown', display: 'Shown' }] }),
  system('absent', { content: 'not-present', concept: undefined }),
  valueSet('states', { include: [{ system: `${ODD}/states` }] }),
  valueSet('tongues', { include: [{ system: `${ODD}/tongues` }] }),
  valueSet('german', { include: [{ system: `${ODD}/tongues` }] }, { language: 'de' }),
  valueSet('types', { include: [{ system: `${ODD}/types` }] }),
  valueSet('poly', { include: [{ system: `${ODD}/poly` }] }),
  valueSet('example', { include: [{ system: `${ODD}/example` }] }),
  valueSet('absent', { include: [{ system: `${ODD}/absent` }] }),
  valueSet('absent-list', { include: [{ system: `${ODD}/absent`, concept: [{ code: 'x', display: 'Ex' }] }] }),
  valueSet('kept', { include: [{ system: 'http://gone.example' }] }, { expansion: { timestamp: '2026-01-01', total: 2, contains: [{ system: 'http://gone.example', code: 'k1', display: 'Kept' }, { system: 'http://gone.example', code: 'k2', abstract: true }] } }), // prettier-ignore
  valueSet('cut', { include: [{ system: 'http://gone.example' }] }, { expansion: { timestamp: '2026-01-01', total: 9, contains: [{ system: 'http://gone.example', code: 'k1' }] } }), // prettier-ignore
  valueSet('excludes-all', { include: [{ system: `${ODD}/poly` }], exclude: [{ valueSet: [`${ODD}/vs/poly`] }] }),
  valueSet('versioned-import', { include: [{ valueSet: [`${ODD}/vs/poly|7`] }] }),
  map('chain-1', [{ source: ODD, target: 'http://t1.example', element: [{ code: 'a', target: [{ code: 'A', relationship: 'equivalent' }] }], unmapped: { mode: 'other-map', otherMap: `${ODD}/map/chain-2` } }]), // prettier-ignore
  map('chain-2', [{ source: ODD, target: 'http://t2.example', element: [{ code: 'b', target: [{ code: 'B', relationship: 'equivalent' }] }], unmapped: { mode: 'other-map', otherMap: `${ODD}/map/chain-3` } }]), // prettier-ignore
  map('chain-3', [{ source: ODD, target: 'http://t3.example', element: [{ code: 'c', noMap: true }], unmapped: { mode: 'fixed', code: 'Z', relationship: 'related-to' } }]), // prettier-ignore
  map('chain-lost', [{ source: ODD, target: 'http://t1.example', element: [{ code: 'a', noMap: true }], unmapped: { mode: 'other-map', otherMap: `${ODD}/map/nowhere` } }]), // prettier-ignore
  ...['lost', 'loop'].map((id) => map(id, [{ source: `${ODD}/${id}`, target: 'http://t1.example', element: [{ code: 'none', noMap: true }], unmapped: { mode: 'other-map', otherMap: `${ODD}/map/${id === 'loop' ? id : 'nowhere'}` } }])), // prettier-ignore
  map('found', [{ source: `${ODD}/lost`, target: 'http://t1.example', element: [{ code: 'a', target: [{ code: 'A', relationship: 'equivalent' }] }] }]), // prettier-ignore
  map('any-case', [{ source: `${ODD}/any-case`, target: 'http://t1.example', element: [{ code: 'Upper', target: [{ code: 'U', relationship: 'equivalent' }] }] }]), // prettier-ignore
  map('versioned', [{ source: `${ODD}|1`, target: 'http://t1.example|4', element: [{ code: 'a', target: [{ code: 'A', relationship: 'equivalent' }] }] }]), // prettier-ignore
  map('depends', [{ source: ODD, target: 'http://t1.example', element: [{ code: 'a', target: [{ code: 'A', relationship: 'equivalent', dependsOn: [{ attribute: 'side', valueCoding: { system: 'http://s.example', code: 'x' } }] }] }] }], { additionalAttribute: [{ code: 'side', uri: 'http://side.example', type: 'Coding' }] }), // prettier-ignore
  map('by-set', [{ source: `${ODD}/poly`, target: 'http://t1.example', element: [{ valueSet: `${ODD}/vs/poly`, target: [{ code: 'ANY', relationship: 'related-to' }] }] }]), // prettier-ignore
];
