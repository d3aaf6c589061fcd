import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import { utc } from '../../../runtime/search/values/zone.js';

const scopes = createScopes({ tables, zone: utc, base: 'https://here/fhir' });

describe('the scopes of a server', () => {
  it('are granted and enforced by the same rules', () => {
    const given = scopes.grant('system/Observation.read?x system/Observation.rs?category=a __admin.reindex', {
      scope: 'system/*.cruds __admin',
    })!;
    expect(given.canonical).toBe('system/Observation.rs?category=a __admin.reindex');
    const access = scopes.access(given.canonical);
    expect(access.on('Observation', 'rs')).toEqual({ param: 'category', any: [{ is: 'token', code: 'a' }] });
    expect(access.holds('__admin.reindex')).toBe(true);
    expect(scopes.grant('system/AuditEvent.d', { scope: 'system/*.cruds' })).toBeUndefined();
    expect(scopes.grant('system/*.rs?category=a', { scope: 'system/*.cruds' })).toBeUndefined();
  });

  it('say what of a registration means nothing', () => {
    const { dropped } = scopes.read({ scope: 'system/Patient.read user/Patient.rs system/Ptient.rs', dialect: 'v1' });
    expect(dropped).toEqual(['user/Patient.rs', 'system/Ptient.rs']);
  });
});
