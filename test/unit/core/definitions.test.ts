import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadDefinitions, type Definitions } from '../../../generator/load/definitions.js';
import { scopeCoverageFaults } from '../../../generator/load/definitions-scopes.js';
import type { OperationDefinition, StructureDefinition } from '../../../generator/load/fhir-json.js';
import { operationLevels, operationMethods } from '../../../generator/load/operation-rules.js';
import type { Interaction, ScopeCondition } from '../../../runtime/contract/index.js';

const DEFINITIONS = 'definitions';
const CORE = 'node_modules/hl7.fhir.r5.core';

/** What the check reads of operations. */
const withLevels = (operations: readonly OperationDefinition[]) =>
  operations.map((operation) => ({ id: operation.id ?? '', levels: operationLevels(operation) }));

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T;

let definitions: Definitions;
let core: readonly OperationDefinition[];
let structures: ReadonlyMap<string, StructureDefinition>;

beforeAll(() => {
  definitions = loadDefinitions(DEFINITIONS);
  const files = readdirSync(CORE);
  core = files
    .filter((file) => /^OperationDefinition-(?!example)/.test(file))
    .map((file) => readJson<OperationDefinition>(join(CORE, file)));
  structures = new Map(
    files
      .filter((file) => file.startsWith('StructureDefinition-'))
      .map((file) => readJson<StructureDefinition>(join(CORE, file)))
      .map((structure) => [structure.url, structure]),
  );
});

describe('the definitions of this repository', () => {
  it('load, with every placeholder filled in', () => {
    expect(definitions.settings.vendor).toBe('svc');
    expect(definitions.packages.map(({ name }) => name)).toContain('hl7.fhir.r5.core');
    expect(JSON.stringify([definitions.operations, definitions.scopes])).not.toMatch(/\{[a-z]+\}/);
  });

  it('define each operation of service-description §4.1 that core lacks, and ours, at its levels and with its methods', () => {
    const table = definitions.operations.map((operation) => [
      operation.code,
      operation.resource?.join(' ') ?? '',
      operationLevels(operation).join(' '),
      operationMethods(operation).join(' '),
    ]);
    expect(table.sort()).toEqual([
      ['async-poll-status', '', 'system', 'GET DELETE'],
      ['async-result', '', 'system', 'GET'],
      ['bulk-delete', '', 'system', 'POST'],
      ['bulk-patch', '', 'system', 'POST'],
      ['bulk-publish', '', 'system', 'GET'],
      ['bulk-submit', '', 'system', 'POST'],
      ['bulk-submit-poll-status', '', 'system', 'GET DELETE'],
      ['bulk-submit-status', '', 'system', 'POST'],
      ['bulk-undo', '', 'system', 'POST'],
      ['changes', 'Resource', 'system type', 'GET POST'],
      ['diff', 'Resource', 'system instance version', 'GET POST'],
      ['export', '', 'system', 'GET POST'],
      ['export', 'Group', 'instance', 'GET POST'],
      ['export', 'Patient', 'type instance', 'GET POST'],
      ['export-poll-status', '', 'system', 'GET POST DELETE'],
      ['expunge', 'Resource', 'system type instance version', 'POST'],
      ['generate-metadata', 'DocumentReference', 'type', 'POST'],
      ['get-resource-counts', '', 'system', 'GET POST'],
      ['hfql-execute', '', 'system', 'POST'],
      ['import', '', 'system', 'POST'],
      ['import-poll-status', '', 'system', 'GET POST DELETE'],
      ['mark-all-resources-for-reindexing', '', 'system', 'POST'],
      ['perform-reindexing-pass', '', 'system', 'POST'],
      ['reindex', '', 'system', 'POST'],
      ['reindex', 'Resource', 'instance', 'POST'],
      ['reindex-dryrun', 'Resource', 'instance', 'GET POST'],
      ['reindex-terminology', '', 'system', 'POST'],
      ['sql-export', '', 'system', 'POST'],
      ['sql-export-poll-status', '', 'system', 'GET POST DELETE'],
      ['sql-run', '', 'system', 'GET POST'],
      ['svc.fhir.reindex-status', '', 'system', 'GET POST'],
      ['svc.fhir.replace-references', '', 'system', 'POST'],
      ['svc.fhir.undo-merge', 'Patient', 'type', 'POST'],
      ['svc.fhir.undo-replace-references', '', 'system', 'POST'],
    ]);
  });

  it.each([
    ['diff', 'from to includeMeta fromVersion'],
    [
      'reindex',
      'url reindexSearchParameters optimizeStorage optimisticLock correctCurrentVersion batchSize partitionId',
    ],
    ['svc.fhir.reindex-status', '_jobId _return'],
    ['export-poll-status', '_jobId _page'],
    [
      'export',
      // The last ones are of Bulk Data 2.0 and 3.0.
      '_outputFormat _type _since _until _typeFilter _typePostFetchFilterUrl _exportId _includeHistory _mdm patient ' +
        '_elements includeAssociatedData allowPartialManifests organizeOutputBy',
    ],
    [
      'hfql-execute',
      'action query statement continuation limit offset fetchSize introspectTableName introspectColumnName',
    ],
    ['perform-reindexing-pass', ''],
    ['mark-all-resources-for-reindexing', 'type'],
    ['get-resource-counts', ''],
    ['expunge', 'limit expungeDeletedResources expungePreviousVersions expungeEverything'],
    ['reindex-terminology', ''],
    ['svc.fhir.replace-references', 'source-reference-id target-reference-id resource-limit'],
    ['svc.fhir.undo-replace-references', 'source-reference-id target-reference-id'],
    ['graphql', 'query'],
    ['meta', ''],
  ])('take at system level the parameters that service-description §4.1 gives $%s', (code, names) => {
    const found = [...core, ...definitions.operations].filter((each) => each.code === code && each.system);
    expect(found).toHaveLength(1);
    const parameters = (found[0]?.parameter ?? []).filter(
      ({ use, scope }) => use === 'in' && (scope?.includes('system') ?? true),
    );
    expect(parameters.map(({ name }) => name).sort()).toEqual(names.split(' ').filter(Boolean).sort());
  });

  it('name only types of core as the types of parameters', () => {
    const known = new Set([...structures.values()].map(({ type }) => type));
    for (const { code, parameter } of definitions.operations) {
      const all = (parameter ?? []).flatMap((each) => [...(each.part ?? []), each]);
      for (const { name, type, allowedType, part } of all) {
        if (part !== undefined) continue;
        for (const each of [type, ...(allowedType ?? [])]) expect(known, `$${code} ${name}`).toContain(each);
      }
    }
  });

  it('claim the 63 profiles of service-description §2.1, each a profile of its type in core', () => {
    const claimed = Object.entries(definitions.profiles).flatMap(([type, urls]) => urls.map((url) => ({ type, url })));
    expect(claimed).toHaveLength(63);
    for (const { type, url } of claimed) {
      expect(structures.get(url), url).toMatchObject({ type, derivation: 'constraint', kind: 'resource' });
    }
  });
});

describe('operationMethods (R5 OperationDefinition.affectsState)', () => {
  it.each([
    ['Resource-meta', 'GET POST'],
    ['Resource-meta-add', 'POST'],
    ['Resource-graphql', 'GET POST'],
    // A complex parameter that is optional leaves GET ...
    ['ValueSet-expand', 'GET POST'],
    ['Resource-validate', 'GET POST'],
    // ... a search value written as a string is primitive ...
    ['ActivityDefinition-apply', 'GET POST'],
    // ... and a required complex one forbids it.
    ['Patient-match', 'POST'],
    ['Claim-submit', 'POST'],
  ])('of %s: %s', (id, methods) => {
    const operation = core.find((each) => each.id === id);
    expect(operation && operationMethods(operation).join(' ')).toBe(methods);
  });
});

describe('the scope policy (authorization §4.3-4.5, decisions "Access")', () => {
  const row = (interaction: Interaction, operation?: string, level?: string) =>
    definitions.scopes.rows.filter(
      (each) =>
        each.interaction === interaction &&
        each.operation === operation &&
        (level === undefined || each.levels === undefined || (each.levels as readonly string[]).includes(level)),
    );

  it('has exactly one row for each interaction', () => {
    // A record, so that the compiler asks for a new interaction here.
    const interactions: Record<Exclude<Interaction, 'operation'>, true> = {
      read: true,
      vread: true,
      update: true,
      patch: true,
      delete: true,
      'delete-history': true,
      'delete-history-version': true,
      'history-instance': true,
      'history-type': true,
      'history-system': true,
      create: true,
      'search-type': true,
      'search-system': true,
      'search-compartment': true,
      'conditional-update': true,
      'conditional-patch': true,
      'conditional-delete': true,
      capabilities: true,
      bundle: true,
    };
    const named = definitions.scopes.rows.flatMap((each) => (each.operation === undefined ? [each.interaction] : []));
    expect(named.sort()).toEqual(Object.keys(interactions).sort());
  });

  it('has exactly one row for each level of each operation, of core and our own, and none beside', () => {
    expect(core).toHaveLength(59);
    expect(scopeCoverageFaults(definitions.scopes, withLevels([...core, ...definitions.operations]))).toEqual([]);
  });

  it('is missed and met by name when an operation comes or goes', () => {
    const [first, ...others] = [...core, ...definitions.operations];
    const added = { ...(first as OperationDefinition), id: 'added', system: true, type: false, instance: false };
    const faults = scopeCoverageFaults(definitions.scopes, withLevels([...others, added]));
    expect(faults).toContain('added: has no row for level system');
    expect(faults).toContain(`${first?.id}: has a row, but there is no such operation`);
  });

  it('names only types of core', () => {
    const types = [...structures.values()].filter(({ kind }) => kind === 'resource').map(({ type }) => type);
    for (const { needs } of definitions.scopes.rows) {
      for (const { on } of needs) if (/^[A-Z]/.test(on)) expect(types).toContain(on);
    }
    for (const { type } of [...definitions.scopes.withheld, ...definitions.scopes.ownChains]) {
      expect(types).toContain(type);
    }
  });

  it('knows exactly the conditions of the contract', () => {
    const conditions: Record<ScopeCondition, true> = {
      'if-none-exist': true,
      'conditional-reference': true,
      chain: true,
      'untyped-chain': true,
      list: true,
      in: true,
      include: true,
      revinclude: true,
      'types-named': true,
      'types-unnamed': true,
      'security-context': true,
      'subscription-criteria': true,
      'mode-create': true,
      'mode-update': true,
      'mode-delete': true,
      persist: true,
      'patient-named': true,
      'graphql-instance': true,
      'graphql-list': true,
      'graphql-reference': true,
      'hfql-statement': true,
      'hfql-introspection': true,
    };
    const used = new Set(definitions.scopes.rows.flatMap(({ needs }) => needs.flatMap((need) => need.when ?? [])));
    expect([...used].sort()).toEqual(Object.keys(conditions).sort());
    const schema = readJson<{ $defs: { need: { properties: { when: { enum: string[] } } } } }>(
      join(DEFINITIONS, 'schemas/scopes.schema.json'),
    );
    expect([...schema.$defs.need.properties.when.enum].sort()).toEqual(Object.keys(conditions).sort());
  });

  it('asks u alone of update-as-create, and c with s of a conditional create', () => {
    expect(row('update')[0]?.needs.filter(({ when }) => when === undefined)).toEqual([{ on: 'type', letters: 'u' }]);
    expect(row('create')[0]?.needs.slice(0, 2)).toEqual([
      { on: 'type', letters: 'c' },
      { on: 'type', letters: 's', when: 'if-none-exist' },
    ]);
  });

  it('keeps administration to custom scopes', () => {
    expect(row('delete-history')[0]?.admin).toBe('__admin.expunge');
    for (const level of ['system', 'type', 'instance', 'version']) {
      expect(row('operation', 'expunge', level)[0]?.admin).toBe('__admin.expunge');
    }
    expect(row('operation', 'reindex-status')[0]?.admin).toBe('__admin.reindex');
    expect(row('operation', 'undo-replace-references')[0]?.admin).toBe('__admin.replace-references');
  });

  it('opens nothing but the capabilities', () => {
    expect(definitions.scopes.rows.filter(({ open }) => open).map(({ interaction }) => interaction)).toEqual([
      'capabilities',
    ]);
  });

  it('asks r or s on the type in the URL of terminology operations', () => {
    for (const id of ['ValueSet-expand', 'CodeSystem-lookup', 'ConceptMap-translate', 'CodeSystem-subsumes']) {
      expect(row('operation', id)[0]?.needs).toEqual([{ on: 'type', anyOf: ['r', 's'] }]);
    }
  });
});
