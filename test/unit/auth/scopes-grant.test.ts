import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { coversCustom } from '../../../runtime/auth/scopes/custom.js';
import { GRANT_LIMITS, grantScopes, type RegisteredScopes } from '../../../runtime/auth/scopes/grant.js';
import { processorTime } from '../../processor-time.js';
import { rules } from './scopes-setup.js';

function grant(requested: string, scope: string, dialect?: RegisteredScopes['dialect']) {
  return grantScopes(requested, { scope, ...(dialect && { dialect }) }, rules.knows, rules.customs, rules);
}

/** Requested, registered, canonical, spelled where that differs. */
const CASES: readonly (readonly [requested: string, registered: string, canonical: string, spelled?: string])[] = [
  ['system/Patient.rs', 'system/Patient.rs', 'system/Patient.rs'],
  ['system/Patient.rs', 'system/Patient.r', 'system/Patient.r'],
  ['system/*.rs', 'system/Patient.cruds', 'system/Patient.rs'],
  ['system/Patient.rs', 'system/*.cruds', 'system/Patient.rs'],
  ['system/*.cruds', 'system/*.rs', 'system/*.rs'],
  ['system/*.rs', 'system/Patient.rs system/Binary.r', 'system/Binary.r system/Patient.rs'],
  ['system/Patient.r system/Patient.s', 'system/Patient.rs', 'system/Patient.rs', 'system/Patient.r system/Patient.s'],
  ['system/Patient.rs', 'system/Patient.r system/Patient.s', 'system/Patient.rs'],
  ['system/*.rs system/Patient.r', 'system/*.rs', 'system/*.rs', 'system/*.rs system/Patient.r'],
  ['system/Patient.rs system/Nothing.rs patient/*.rs launch', 'system/*.rs', 'system/Patient.rs'],
  ['system/Patient.rs system/Patient.rs', 'system/*.rs', 'system/Patient.rs'],
  ['system/Patient.rs system/Observation.rs', 'system/Patient.rs', 'system/Patient.rs'],
  // Words.
  ['system/Patient.read', 'system/Patient.rs', 'system/Patient.rs', 'system/Patient.read'],
  ['system/Patient.read', 'system/Patient.r', 'system/Patient.r'],
  ['system/Patient.write', 'system/Patient.cruds', 'system/Patient.cud', 'system/Patient.write'],
  ['system/Patient.write', 'system/Patient.u', 'system/Patient.u'],
  ['system/*.*', 'system/*.cruds', 'system/*.cruds', 'system/*.*'],
  [
    'system/Patient.read system/Patient.search',
    'system/Patient.rs',
    'system/Patient.rs',
    'system/Patient.read system/Patient.search',
  ],
  [
    'system/DocumentReference.create system/Patient.read system/Patient.search',
    'system/DocumentReference.create system/Patient.read system/Patient.search',
    'system/DocumentReference.c system/Patient.rs',
    'system/DocumentReference.create system/Patient.read system/Patient.search',
  ],
  // Without .create beside it, .read would mean more than was given.
  ['system/Patient.read system/Patient.create', 'system/Patient.r', 'system/Patient.r'],
  // Constraints.
  ['system/Observation.rs?category=a', 'system/Observation.rs', 'system/Observation.rs?category=a'],
  ['system/Observation.rs', 'system/Observation.rs?category=a', 'system/Observation.rs?category=a'],
  [
    'system/Observation.rs?category=a',
    'system/Observation.rs?category=b',
    'system/Observation.rs?category=a&category=b',
  ],
  ['system/Observation.r?category=a', 'system/Observation.rs?category=a', 'system/Observation.r?category=a'],
  [
    'system/Observation.rs?code=1&category=%61',
    'system/Observation.rs?category=a&code=1',
    'system/Observation.rs?category=a&code=1',
    'system/Observation.rs?code=1&category=%61',
  ],
  ['system/*.rs?_tag=x', 'system/Patient.rs', 'system/Patient.rs?_tag=x'],
  ['system/*.rs', 'system/Observation.rs?category=a', 'system/Observation.rs?category=a'],
  ['system/Observation.rs?category=a', 'system/*.rs?_tag=x', 'system/Observation.rs?_tag=x&category=a'],
  ['system/Patient.rs?category=a system/Patient.r', 'system/*.rs', 'system/Patient.r'],
  [
    'system/Observation.rs',
    'system/Observation.r system/Observation.rs?category=a',
    'system/Observation.r system/Observation.s?category=a',
  ],
  // Custom scopes.
  ['__admin.expunge', '__admin', '__admin.expunge'],
  ['__admin', '__admin', '__admin'],
  ['__admin', '__admin.expunge __admin.reindex', '__admin.expunge __admin.reindex'],
  ['__admin __introspect', '__admin', '__admin'],
  [
    '__admin.expunge system/Patient.d',
    'system/*.cruds __admin.expunge',
    'system/Patient.d __admin.expunge',
    '__admin.expunge system/Patient.d',
  ],
  // `*` says nothing of changing what happened.
  ['system/AuditEvent.cruds', 'system/*.cruds', 'system/AuditEvent.crs'],
  ['system/*.cruds', 'system/AuditEvent.cruds', 'system/AuditEvent.crs'],
  ['system/AuditEvent.u', 'system/*.cruds system/AuditEvent.ud', 'system/AuditEvent.u'],
  [
    'system/*.cruds system/AuditEvent.cruds',
    'system/*.cruds system/AuditEvent.ud',
    'system/*.cruds system/AuditEvent.ud',
    // What the second asks for beyond that is in the first.
    'system/*.cruds system/AuditEvent.cruds',
  ],
];

describe('what is requested and registered', () => {
  it.each(
    CASES.map(
      ([requested, registered, canonical, spelled = canonical]) => [requested, registered, canonical, spelled] as const,
    ),
  )('%s of %s: %s', (requested, registered, canonical, spelled) => {
    expect(grant(requested, registered)).toEqual({ canonical, spelled });
  });

  it.each([
    ['', 'system/*.cruds'],
    ['system/Patient.rs', ''],
    ['system/Patient.d', 'system/Patient.crus'],
    ['system/Patient.rs', 'system/Observation.rs'],
    ['system/*.cruds', '__admin'],
    ['__admin', 'system/*.cruds'],
    ['__introspect', '__admin'],
    ['__admin.other', '__admin'],
    ['system/AuditEvent.u', 'system/*.cruds'],
    ['user/*.cruds', 'user/*.cruds'],
    ['system/Patient.rs?category=a', 'system/*.rs'],
    ['system/*.rs?category=a', 'system/*.rs'],
    [`system/Patient.rs${' '.repeat(8192)}`, 'system/*.rs'],
  ])('"%s" of "%s": nothing', (requested, registered) => {
    expect(grant(requested, registered)).toBeUndefined();
  });

  it('reads .read in the dialect of the client, at registration and in requests', () => {
    expect(grant('system/Patient.read', 'system/*.rs', 'eu-0.1')).toEqual({
      canonical: 'system/Patient.r',
      spelled: 'system/Patient.read',
    });
    expect(grant('system/Patient.read', 'system/*.rs', 'v1')).toEqual({
      canonical: 'system/Patient.rs',
      spelled: 'system/Patient.read',
    });
    expect(grant('system/Patient.rs', 'system/Patient.read', 'eu-0.1')?.canonical).toBe('system/Patient.r');
    expect(grant('system/Patient.rs', 'system/Patient.read', 'v1')?.canonical).toBe('system/Patient.rs');
    expect(grant('system/Patient.read', 'system/Patient.r', 'v1')?.spelled).toBe('system/Patient.r');
  });

  it('never gives a constraint that nobody checks', () => {
    const without = grantScopes('system/Patient.rs?_tag=x', { scope: 'system/*.rs' }, rules.knows, rules.customs);
    expect(without).toBeUndefined();
  });

  it('gives as much as a token can carry', () => {
    const all = tables.resourceTypes.map((type) => `system/${type}.rs`).join(' ');
    const given = grant(all, 'system/*.rs')!;
    expect(given.canonical.length).toBeLessThanOrEqual(GRANT_LIMITS.canonical);
    expect(given.canonical.length).toBeGreaterThan(GRANT_LIMITS.canonical - 100);
    expect(given.spelled).toBe(given.canonical);
    // What a wider scope has takes no room, wherever it stands.
    expect(grant(`${all} system/*.rs`.slice(-8000), 'system/*.rs')?.canonical).toBe('system/*.rs');
  });

  it('gives a part of what stands for too many', () => {
    const registered = tables.resourceTypes.map((type) => `system/${type}.rs`).join(' ');
    const given = grant('system/*.rs __admin', `${registered} __admin`)!;
    expect(given.canonical).toMatch(/^system\/Account\.rs .* __admin$/);
    expect(given.canonical.length).toBeGreaterThan(GRANT_LIMITS.canonical / 2);
    expect(given.spelled).toBe(given.canonical);
  });

  it('ends soon, whatever is asked', () => {
    const asked = Array.from({ length: 256 }, (_, n) => `system/*.rs?_tag=${n}`).join(' ');
    const registered = tables.resourceTypes.map((type) => `system/${type}.rs`).join(' ');
    const took = processorTime();
    expect(grant(asked, registered)!.canonical.length).toBeLessThanOrEqual(GRANT_LIMITS.canonical);
    expect(took()).toBeLessThan(2000);
  });
});

describe('custom scopes', () => {
  it('cover what stands below their names, not what begins alike', () => {
    expect(coversCustom('__admin', '__admin.x')).toBe(true);
    expect(coversCustom('__admin', '__administrator')).toBe(false);
    expect(coversCustom('__admin.x', '__admin')).toBe(false);
  });

  it('cover by their names what the table says that they cover', () => {
    const { custom } = tables.scopes;
    for (const { scope, covers = [] } of custom) {
      const covered = custom.filter((other) => coversCustom(scope, other.scope)).map((other) => other.scope);
      expect(covered.sort()).toEqual([scope, ...covers].sort());
    }
  });
});
