import type { SearchRow, SearchTable } from '../../runtime/contract/search.js';
import type { ServiceTables } from '../../runtime/core/services.js';

/** Four types, so that tests of the runtime need no generated tables. */
const types = ['Basic', 'Binary', 'Observation', 'Patient'];

const row = (type: SearchRow['type'], code: string, get: string, types: string[]): SearchRow => ({
  code,
  type,
  url: `http://example.org/SearchParameter/${code}`,
  paths: [{ text: get, steps: [{ get }], types }],
});

/** What all types inherit, and what `toyExtract` finds. */
const search: readonly SearchTable[] = [
  {
    type: 'Resource',
    parameters: [row('token', '_id', 'id', ['id']), row('date', '_lastUpdated', 'meta', ['instant'])],
  },
  ...types.map((type): SearchTable => {
    const own = [
      row('string', 'family', 'name', ['HumanName']),
      row('token', 'identifier', 'identifier', ['Identifier']),
    ];
    if (type === 'Observation')
      own.push({ ...row('reference', 'subject', 'subject', ['Reference']), targets: ['Patient'] });
    return { type, base: 'Resource', parameters: type === 'Binary' ? [] : own };
  }),
];

/** Tables of the toy server, with routes that nothing is wired for, as the generated ones have them. */
export const toyTables: ServiceTables = {
  origin: { contract: 1, package: 'toy@1.0.0', fhirVersion: '5.0.0' },
  resourceTypes: types,
  operations: [],
  codes: [],
  primitives: [],
  routes: [
    { method: 'GET', path: 'metadata', interaction: 'capabilities' },
    { method: 'POST', path: '', interaction: 'bundle' },
    { method: 'DELETE', path: '', interaction: 'conditional-delete' },
    { method: 'GET', path: '_history', interaction: 'history-system' },
    { method: 'GET', path: '$data-requirements', interaction: 'operation', operation: 'Library-data-requirements' },
    { method: 'GET', path: '[type]', interaction: 'search-type' },
    { method: 'POST', path: '[type]', interaction: 'create' },
    { method: 'PUT', path: '[type]', interaction: 'conditional-update' },
    { method: 'PATCH', path: '[type]', interaction: 'conditional-patch' },
    { method: 'DELETE', path: '[type]', interaction: 'conditional-delete' },
    { method: 'POST', path: '[type]/_search', interaction: 'search-type' },
    { method: 'GET', path: '[type]/_history', interaction: 'history-type' },
    { method: 'GET', path: '[type]/[id]', interaction: 'read' },
    { method: 'PUT', path: '[type]/[id]', interaction: 'update' },
    { method: 'PATCH', path: '[type]/[id]', interaction: 'patch' },
    { method: 'DELETE', path: '[type]/[id]', interaction: 'delete' },
    { method: 'GET', path: '[type]/[id]/_history', interaction: 'history-instance' },
    { method: 'GET', path: '[type]/[id]/_history/[vid]', interaction: 'vread' },
    { method: 'GET', path: '[type]/[id]/$apply', interaction: 'operation', operation: 'ActivityDefinition-apply' },
    { method: 'GET', path: 'Patient/[id]/Observation', interaction: 'search-compartment' },
  ],
  search,
  compartments: [
    { type: 'Patient', url: 'http://example.org/CompartmentDefinition/patient', members: { Observation: ['subject'] } },
  ],
  types: [],
  // Nobody comes with a token.
  exchanges: { headers: {}, rows: [] },
  scopes: { rows: [], custom: [], withheld: [], ownChains: [] },
  capabilities: types.map((type) => ({ type, profile: `http://hl7.org/fhir/StructureDefinition/${type}` })),
};
