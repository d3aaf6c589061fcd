import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { readContent, type Content, type ContentReaders } from '../../../runtime/auth/access/content.js';
import { decide, type Decision } from '../../../runtime/auth/access/decide.js';
import { neededOn, NONE_NEEDED, printNeeded, uniteNeeded } from '../../../runtime/auth/access/needed-scopes.js';
import { ownerOf, standingOf } from '../../../runtime/auth/access/owner.js';
import { indexScopeRows, type ScopeTarget } from '../../../runtime/auth/access/scope-rows.js';
import { ANYONE, Principal, SERVER } from '../../../runtime/auth/scopes/principal.js';
import type { Interaction, Level, ScopeRow } from '../../../runtime/contract/rest.js';
import { accessOf } from './scopes-setup.js';

const rowOf = indexScopeRows(tables.scopes);

/** Nothing of what a condition could bring is there. */
const NOTHING_BROUGHT: Content = {
  'if-none-exist': false,
  'conditional-reference': false,
  chain: false,
  'untyped-chain': false,
  list: false,
  in: false,
  'subscription-criteria': false,
  'types-named': false,
  'types-unnamed': false,
  'mode-create': false,
  'mode-update': false,
  'mode-delete': false,
  persist: false,
  'patient-named': false,
  'graphql-instance': false,
  'graphql-list': false,
  'hfql-statement': false,
  'hfql-introspection': false,
};

/** An aim by its name: `read`, `$diff system`. */
function aim(name: string): ScopeTarget {
  const [, operation, level] = /^\$(\S+) (\w+)$/.exec(name) ?? [];
  if (operation === undefined) return { interaction: name as Interaction };
  return { interaction: 'operation', operation, level: level as Level };
}

interface Request {
  readonly type?: string;
  readonly compartment?: string;
  readonly content?: Content;
}

function judge(name: string, scopes: string, { content, ...rest }: Request = {}): Decision {
  return decide({ row: rowOf(aim(name)), ...rest, content: { ...NOTHING_BROUGHT, ...content } }, accessOf(scopes));
}

/** `open`, `allowed`, what has to be known, or the scopes that are needed. */
function said(decision: Decision): string {
  if (decision.is === 'refused') return `needs ${printNeeded(decision.needed)}`;
  if (decision.is === 'pending') return `pending ${decision.needs.join(' ')}`;
  return decision.is;
}

const OBSERVATION: Request = { type: 'Observation' };
const PATIENT: Request = { type: 'Patient' };
const with_ = (type: string, content: Content): Request => ({ type, content });
const ALL = tables.resourceTypes;

type Case = readonly [name: string, request: Request, scopes: string, answer: string];

const INTERACTIONS: readonly Case[] = [
  ['capabilities', {}, '', 'open'],
  ['read', OBSERVATION, 'system/Observation.r', 'allowed'],
  ['read', OBSERVATION, 'system/*.r', 'allowed'],
  ['read', OBSERVATION, 'system/Observation.cuds', 'needs system/Observation.r'],
  ['read', OBSERVATION, 'system/Patient.cruds', 'needs system/Observation.r'],
  ['read', OBSERVATION, '', 'needs system/Observation.r'],
  ['read', OBSERVATION, 'system/Observation.r?category=a', 'allowed'],
  ['vread', OBSERVATION, 'system/Observation.s', 'needs system/Observation.r'],
  ['history-instance', OBSERVATION, 'system/Observation.s', 'needs system/Observation.r'],
  ['history-type', OBSERVATION, 'system/Observation.r', 'needs system/Observation.s'],
  ['history-type', OBSERVATION, 'system/Observation.s?category=a', 'allowed'],
  ['history-system', { content: { touched: ALL } }, 'system/Patient.s', 'allowed'],
  ['history-system', { content: { touched: ALL } }, 'system/Patient.r', 'needs system/*.s'],
  ['search-type', OBSERVATION, 'system/Observation.s', 'allowed'],
  ['search-type', OBSERVATION, 'system/Observation.r', 'needs system/Observation.s'],
  ['search-type', with_('Observation', { chain: ['Patient'] }), 'system/Observation.s system/Patient.s', 'allowed'],
  [
    'search-type',
    with_('Observation', { chain: ['Patient', 'Device'] }),
    'system/Observation.s',
    'needs system/Device.s system/Observation.s system/Patient.s',
  ],
  [
    'search-type',
    with_('Observation', { chain: ['Patient'] }),
    'system/Observation.s system/Patient.rs?_tag=x',
    'allowed',
  ],
  ['search-type', with_('Observation', { 'untyped-chain': [['Device', 'Patient']] }), 'system/*.s', 'allowed'],
  [
    'search-type',
    with_('Observation', { 'untyped-chain': [['Device', 'Patient']] }),
    'system/Observation.s system/Patient.s',
    'allowed',
  ],
  [
    'search-type',
    with_('Observation', {
      'untyped-chain': [
        ['Device', 'Patient'],
        ['Device', 'Group'],
      ],
    }),
    'system/Observation.s system/Patient.s',
    'needs system/*.s',
  ],
  ['search-type', with_('Patient', { list: ['List'] }), 'system/Patient.s', 'needs system/List.r system/Patient.s'],
  ['search-type', with_('Patient', { list: ['List'] }), 'system/Patient.s system/List.r', 'allowed'],
  [
    'search-type',
    with_('Patient', { in: ['Group'] }),
    'system/Patient.s system/List.r',
    'needs system/Group.r system/Patient.s',
  ],
  ['search-system', { content: { 'types-named': ['Observation', 'Patient'] } }, 'system/*.s', 'allowed'],
  [
    'search-system',
    { content: { 'types-named': ['Observation', 'Patient'] } },
    'system/Patient.rs',
    'needs system/Observation.s system/Patient.s',
  ],
  ['search-system', { content: { 'types-unnamed': ALL } }, 'system/Patient.s', 'allowed'],
  ['search-system', { content: { 'types-unnamed': ALL } }, 'system/Patient.cru', 'needs system/*.s'],
  [
    'search-compartment',
    { type: 'Observation', compartment: 'Patient', content: { 'types-named': ['Observation'] } },
    'system/Observation.s system/Patient.r',
    'allowed',
  ],
  [
    'search-compartment',
    { type: 'Observation', compartment: 'Patient', content: { 'types-named': ['Observation'] } },
    'system/Observation.s',
    'needs system/Observation.s system/Patient.r',
  ],
  [
    'search-compartment',
    { type: 'Observation', compartment: 'Patient', content: { 'types-named': ['Observation'] } },
    'system/Patient.s',
    'needs system/Observation.s system/Patient.s',
  ],
  [
    'search-compartment',
    { compartment: 'Patient', content: { 'types-unnamed': ALL } },
    'system/Patient.r system/Condition.s',
    'allowed',
  ],
  [
    'search-compartment',
    { compartment: 'Patient', content: { 'types-unnamed': ALL } },
    'system/Patient.r',
    'needs system/*.s system/Patient.r',
  ],
  [
    'search-compartment',
    { compartment: 'Patient', content: { 'types-named': ['Condition', 'Encounter'] } },
    'system/Patient.r system/Condition.s',
    'needs system/Condition.s system/Encounter.s system/Patient.r',
  ],
  ['create', OBSERVATION, 'system/Observation.c', 'allowed'],
  ['create', OBSERVATION, 'system/Observation.ruds', 'needs system/Observation.c'],
  ['create', OBSERVATION, 'system/Observation.c?category=a', 'allowed'],
  ['create', with_('Observation', { 'if-none-exist': true }), 'system/Observation.c', 'needs system/Observation.cs'],
  ['create', with_('Observation', { 'if-none-exist': true }), 'system/Observation.cs', 'allowed'],
  [
    'create',
    with_('Observation', { 'conditional-reference': ['Patient'] }),
    'system/Observation.c',
    'needs system/Observation.c system/Patient.s',
  ],
  [
    'create',
    with_('Subscription', { 'subscription-criteria': ['Encounter'] }),
    'system/Subscription.c system/Encounter.s',
    'needs system/Encounter.rs system/Subscription.c',
  ],
  ['update', OBSERVATION, 'system/Observation.u', 'allowed'],
  ['update', OBSERVATION, 'system/Observation.crds', 'needs system/Observation.u'],
  ['update', { type: 'AuditEvent' }, 'system/*.cruds', 'needs system/AuditEvent.u'],
  ['update', { type: 'AuditEvent' }, 'system/AuditEvent.u', 'allowed'],
  ['patch', OBSERVATION, 'system/Observation.cr', 'needs system/Observation.u'],
  ['conditional-update', OBSERVATION, 'system/Observation.u', 'needs system/Observation.us'],
  ['conditional-update', OBSERVATION, 'system/Observation.u?category=a system/Observation.s?category=b', 'allowed'],
  ['conditional-patch', OBSERVATION, 'system/Observation.us', 'allowed'],
  ['delete', OBSERVATION, 'system/Observation.crus', 'needs system/Observation.d'],
  ['delete', { type: 'AuditEvent' }, 'system/*.cruds', 'needs system/AuditEvent.d'],
  ['conditional-delete', OBSERVATION, 'system/Observation.d', 'needs system/Observation.ds'],
  // Of the whole server: as on each type that it goes over.
  ['conditional-delete', {}, 'system/*.cruds', 'pending touched'],
  ['conditional-delete', { content: { touched: ['List', 'Patient'] } }, 'system/*.ds', 'allowed'],
  [
    'conditional-delete',
    { content: { touched: ['List', 'Patient'] } },
    'system/List.ds',
    'needs system/List.ds system/Patient.ds',
  ],
  ['delete-history', OBSERVATION, 'system/*.cruds', 'needs system/Observation.d __admin.expunge'],
  ['delete-history', OBSERVATION, '__admin', 'needs system/Observation.d __admin.expunge'],
  ['delete-history', OBSERVATION, '__admin system/Observation.d', 'allowed'],
  [
    'delete-history-version',
    OBSERVATION,
    '__admin.expunge system/*.crus',
    'needs system/Observation.d __admin.expunge',
  ],
  ['delete-history-version', OBSERVATION, '__admin.expunge system/*.d', 'allowed'],
  ['bundle', {}, '', 'allowed'],
  ['bundle', { content: { 'conditional-reference': ['Patient'] } }, 'system/Observation.c', 'needs system/Patient.s'],
];

const OPERATIONS: readonly Case[] = [
  ['$Resource-meta instance', PATIENT, 'system/Patient.s', 'needs system/Patient.r'],
  ['$Resource-meta type', PATIENT, 'system/Patient.r', 'needs system/Patient.s'],
  ['$Resource-meta system', { content: { touched: ALL } }, 'system/Patient.r', 'needs system/*.s'],
  ['$Resource-meta-add instance', PATIENT, 'system/Patient.r', 'needs system/Patient.u'],
  ['$Resource-validate type', PATIENT, 'system/Patient.d', 'allowed'],
  ['$Resource-validate type', PATIENT, 'system/Observation.d', 'needs system/Patient.r'],
  ['$Resource-validate type', with_('Patient', { 'mode-create': true }), 'system/Patient.r', 'needs system/Patient.cr'],
  ['$Resource-validate instance', with_('Patient', { 'mode-delete': true }), 'system/Patient.rd', 'allowed'],
  ['$ValueSet-expand type', { type: 'ValueSet' }, 'system/ValueSet.s', 'allowed'],
  ['$ValueSet-expand type', { type: 'ValueSet' }, 'system/CodeSystem.s', 'needs system/ValueSet.r'],
  ['$ConceptMap-closure system', {}, 'system/ConceptMap.r', 'allowed'],
  [
    '$diff system',
    { content: { touched: ['Patient', 'Person'] } },
    'system/Patient.r',
    'needs system/Patient.r system/Person.r',
  ],
  ['$Resource-graphql system', {}, '', 'allowed'],
  [
    '$Resource-graphql system',
    { content: { 'graphql-list': ['Patient'] } },
    'system/Patient.r',
    'needs system/Patient.s',
  ],
  [
    '$hfql-execute system',
    { content: { 'hfql-statement': ['Patient'] } },
    'system/Patient.r',
    'needs system/Patient.s',
  ],
  ['$hfql-execute system', { content: { 'hfql-introspection': ALL } }, '', 'needs system/*.r'],
  ['$hfql-execute system', { content: { 'hfql-introspection': ALL } }, 'system/Patient.c', 'allowed'],
  ['$Patient-everything instance', PATIENT, 'system/Patient.r', 'allowed'],
  ['$Patient-everything type', PATIENT, 'system/Patient.r', 'needs system/Patient.rs'],
  [
    '$Composition-document instance',
    { type: 'Composition', content: { touched: ['Patient'] } },
    'system/Composition.r',
    'needs system/Composition.r system/Patient.r',
  ],
  [
    '$Composition-document instance',
    { type: 'Composition', content: { touched: [], persist: true } },
    'system/Composition.r',
    'needs system/Bundle.c system/Composition.r',
  ],
  ['$export system', { content: { 'types-named': ['Patient'] } }, 'system/Patient.rs', 'allowed'],
  [
    '$export system',
    { content: { 'types-named': ['Patient'] } },
    'system/Patient.rs?_tag=x',
    'needs system/Patient.rs',
  ],
  ['$export system', { content: { 'types-unnamed': ALL } }, 'system/Patient.rs?_tag=x', 'needs system/*.rs'],
  ['$export system', { content: { 'types-unnamed': ALL } }, 'system/Patient.rs?_tag=x system/List.rs', 'allowed'],
  ['$group-export instance', { type: 'Group', content: { 'types-unnamed': ALL } }, 'system/*.r', 'needs system/*.rs'],
  ['$expunge system', {}, 'system/*.cruds', 'needs __admin.expunge'],
  ['$expunge instance', PATIENT, '__admin', 'needs system/Patient.d __admin.expunge'],
  ['$expunge instance', PATIENT, '__admin.expunge system/Patient.d', 'allowed'],
  ['$reindex system', {}, '__admin.expunge', 'needs __admin.reindex'],
  ['$replace-references system', { content: { touched: ['Patient'] } }, '__admin system/Patient.u', 'allowed'],
  [
    '$replace-references system',
    { content: { touched: ['Patient'] } },
    '__admin',
    'needs system/Patient.u __admin.replace-references',
  ],
  ['$async-poll-status system', {}, '', 'allowed'],
  ['$export-poll-status system', {}, '', 'allowed'],
];

describe('what a token may do', () => {
  it.each(INTERACTIONS)('%s of %j with "%s": %s', (name, request, scopes, answer) => {
    expect(said(judge(name, scopes, request))).toBe(answer);
  });

  it.each(OPERATIONS)('%s of %j with "%s": %s', (name, request, scopes, answer) => {
    expect(said(judge(name, scopes, request))).toBe(answer);
  });

  it('is refused before the content is known where the type alone refuses, else pending', () => {
    const row = rowOf({ interaction: 'create' });
    const early = (scopes: string): string => said(decide({ row, type: 'Observation', content: {} }, accessOf(scopes)));
    expect(early('system/Patient.c')).toBe('needs system/Observation.c');
    expect(early('system/Observation.c')).toMatch(/^pending if-none-exist chain .*conditional-reference/);
    expect(said(decide({ row: rowOf(aim('$diff system')), content: {} }, accessOf('')))).toBe('pending touched');
  });

  describe('a job that some scopes started', () => {
    const customs = ['__admin', '__admin.reindex'];
    const ALL_USED = { scopes: [...neededOn('*', 'cruds').scopes, ...neededOn('AuditEvent', 'ud').scopes], customs };
    const principal = (scope: string, clientId = 'a', registration?: string) =>
      Principal.ofClient({ clientId, scope, access: accessOf(scope), registration });
    const standing = (started: string, asking: Principal) =>
      standingOf(asking, ownerOf(principal(started), ALL_USED, tables), tables);

    it.each([
      ['system/Patient.rs', 'system/Patient.rs'],
      ['system/Patient.rs', 'system/*.rs'],
      ['system/Patient.rs', 'system/Patient.r system/*.s'],
      ['system/Patient.rs?_tag=x', 'system/Patient.rs'],
      ['system/Patient.rs?_tag=x', 'system/Patient.cruds?_tag=x'],
      ['system/Patient.rs?_tag=x', 'system/*.cruds?_tag=x'],
      ['system/*.cruds', 'system/*.cruds __admin'],
      ['__admin.reindex', '__admin'],
      ['', 'system/Patient.r'],
    ])('"%s" is its own for "%s"', (started, asking) => {
      expect(standing(started, principal(asking))).toBe('owner');
    });

    it.each([
      ['system/Patient.rs', 'system/Patient.r'],
      ['system/Patient.rs', 'system/Patient.rs?_tag=x'],
      ['system/Patient.rs?_tag=x', 'system/Patient.rs?_tag=y'],
      ['system/Patient.rs?_tag=x', 'system/Patient.rs?_tag=x&gender=male'],
      ['system/*.rs', 'system/Patient.rs system/Observation.rs'],
      ['system/*.cruds', 'system/*.rs'],
      ['system/AuditEvent.ud', 'system/*.cruds'],
      ['__admin', '__admin.reindex'],
      ['system/Patient.rs', ''],
    ])('"%s" is more than "%s" gives', (started, asking) => {
      expect(standing(started, principal(asking))).toBe('narrower');
    });

    it('keeps of them what it needs', () => {
      const kept = (started: string) =>
        ownerOf(principal(started), { ...neededOn('Patient', 'rs'), customs: ['__admin.reindex'] }, tables).scope;
      expect(kept('system/*.cruds __admin')).toBe('system/Patient.rs __admin.reindex');
      expect(kept('system/Patient.rd?_tag=x system/Observation.rs')).toBe('system/Patient.r?_tag=x');
      expect(ownerOf(principal('system/*.cruds'), neededOn('AuditEvent', 'cud'), tables).scope).toBe(
        'system/AuditEvent.c',
      );
      expect(ownerOf(ANYONE, neededOn('Patient', 'rs'), tables)).toEqual({ clientId: '' });
    });

    it('is unknown to other clients, to one of the same id registered later, and to a server without authorization', () => {
      expect(standing('system/Patient.rs', principal('system/*.rs', 'b'))).toBe('stranger');
      expect(standing('system/Patient.rs', principal('system/*.rs', 'a', 'later'))).toBe('stranger');
      expect(standing('system/Patient.rs', ANYONE)).toBe('stranger');
    });

    it("is unknown to clients where the server started it itself, and is nobody else's without authorization", () => {
      const own = ownerOf(SERVER, NONE_NEEDED, tables);
      expect(standingOf(principal('system/*.cruds __admin', ''), own, tables)).toBe('stranger');
      expect(standingOf(ANYONE, own, tables)).toBe('owner');
    });
  });

  it('is never allowed by a row that decides nothing, nor without what it needs to know', () => {
    const row: ScopeRow = { interaction: 'operation', operation: 'x', needs: [] };
    expect(() => decide({ row, content: {} }, accessOf('system/*.cruds'))).toThrow('decides nothing');
    expect(() => judge('$export system', 'system/*.cruds')).toThrow('decides nothing');
    expect(said(judge('read', 'system/*.cruds'))).toBe('pending touched');
    expect(() => judge('search-compartment', 'system/*.cruds', OBSERVATION)).toThrow('needs a compartment');
    expect(() => rowOf({ interaction: 'operation', operation: 'unheard', level: 'system' })).toThrow('no scope row');
    expect(() => rowOf({ interaction: 'operation', operation: 'diff', level: 'type' })).toThrow('no scope row');
  });
});

describe('the scopes that are needed', () => {
  it('are told in one order, joined', () => {
    const all = [
      neededOn('Patient', 's'),
      neededOn('Observation', 'r'),
      neededOn('Patient', 'r'),
      neededOn('Patient', 's'),
    ];
    const text = 'system/Observation.r system/Patient.rs';
    expect(printNeeded(uniteNeeded(all))).toBe(text);
    expect(printNeeded(uniteNeeded([...all].reverse()))).toBe(text);
    expect(printNeeded({ scopes: [], customs: ['__b', '__a', '__b'] })).toBe('__a __b');
  });

  it('are told as * where they are too many for a header', () => {
    expect(printNeeded(uniteNeeded(ALL.map((type) => neededOn(type, 'r'))))).toBe('system/*.r');
    const some = [neededOn('Observation', 'c'), neededOn('Patient', 'dr')];
    expect(printNeeded(uniteNeeded([...some, ...ALL.map((type) => neededOn(type, 'rs'))]))).toBe(
      'system/*.rs system/Observation.c system/Patient.d',
    );
  });
});

describe('the content of a request', () => {
  it('does not compile before every condition has a reader, and what it brings its form', () => {
    const touched = (): readonly string[] => [];
    // @ts-expect-error readers are missing
    const readers: ContentReaders<string> = { touched };
    // @ts-expect-error a fact has no types
    const fact: Content = { 'if-none-exist': ['Patient'] };
    // @ts-expect-error no condition of any row
    const unknown: Content = { whatever: true };
    expect([readers, fact, unknown]).toHaveLength(3);
  });

  it('is read as far as the row asks for it', () => {
    const asked: string[] = [];
    const names = [
      ...Object.keys(NOTHING_BROUGHT),
      'touched',
      'include',
      'revinclude',
      'security-context',
      'graphql-reference',
    ];
    const readers = Object.fromEntries(
      names.map((name) => [name, () => (asked.push(name), name === 'conditional-reference' ? 'later' : false)]),
    ) as unknown as ContentReaders<string>;
    const content = readContent(rowOf({ interaction: 'create' }), 'request', readers);
    expect(content).not.toHaveProperty('conditional-reference');
    expect(content).toMatchObject({ 'if-none-exist': false, chain: false });
    expect(asked).not.toContain('hfql-statement');
    expect(asked).not.toContain('touched');
    asked.length = 0;
    readContent(rowOf(aim('$diff system')), 'request', readers);
    expect(asked).toContain('touched');
  });
});
