import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import { utc } from '../../../runtime/indexing/values/zone.js';

const scopes = createScopes({ tables, zone: utc, own: new OwnBases(['http://here/fhir']) });

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

  it('say why each of them does', () => {
    const why = (scope: string): string => scopes.explain({ scope }).join('\n');
    const reasons: readonly (readonly [string, string])[] = [
      ['system/Patiend.rs', 'names no resource type; did you mean Patient?'],
      ['system/patient.rs', 'has "patient" where a type or * is'],
      ['patient/Patient.rs', 'does not begin with system/'],
      ['openid', 'does not begin with system/'],
      ['system/Patient', 'has no letters behind its type'],
      ['system/Patient.sr', 'has ".sr", and not some of the letters cruds, each once and in that order'],
      ['system/Patient.READ', 'has ".READ", and not some of the letters cruds'],
      ['system/Patient.rs?', 'has nothing behind its "?"'],
      ['__introspekt', 'is no scope; did you mean __introspect?'],
      ['system/Patient.read?gender=female', 'a constraint follows letters only: .rs?…'],
      ['system/Patient.rs?gender=', 'has "gender=" where a constraint is: parameter=value'],
      ['system/Patient.rs?gender=%FF', 'is not percent-encoded well: gender=%FF'],
      ['system/Patient.rs?gender="x"', 'has characters other than printable ASCII, or a quote'],
      ['system/Patient.rs?gendre=x', 'Patient has no search parameter "gendre"; did you mean "gender"?'],
      ['system/*.rs?category=x', 'not all types have search parameter "category"'],
      ['system/Patient.rs?gender:not=male', 'the name in a constraint has no modifier (gender:not)'],
      ['system/Patient.rs?birthdate=ge2000', 'the value in a constraint has no prefix (birthdate=ge2000)'],
      ['system/Patient.rs?birthdate=soon', 'birthdate'],
      ['system/Patient.rs?general-practitioner.name=x', 'a constraint is decided by the resource alone: no chain'],
      ['system/Patient.rs?_has:Group:member:_id=1', 'a constraint is decided by the resource alone: no chain'],
      ['system/Patient.rs?_in=Group/1', 'a constraint is decided by the resource alone'],
      ['system/Patient.rs?_list=1', 'a constraint is decided by the resource alone'],
      ['system/Location.rs?near=1|1|1|km', 'a constraint cannot go by near'],
      ['system/*.rs?code=x', 'valid there: _id, _language, _lastUpdated'],
      [`system/Patient.rs?_tag=${'x'.repeat(1024)}`, 'is longer than 1024 characters'],
    ];
    for (const [text, reason] of reasons) {
      expect(scopes.read({ scope: text }).read, text).toEqual([]);
      expect(why(text), text).toContain(`${text.slice(0, 200)} `);
      expect(why(text), text).toContain(reason);
    }
    const many = (count: number) => Array.from({ length: count }, (_, n) => `system/Patient.r?_tag=${n}`).join(' ');
    expect(why(many(257))).toBe('system/Patient.r?_tag=256 is one too many: 256 are read');
    expect(why(many(280)).split('\n')).toHaveLength(21);
    expect(why('x '.repeat(5000))).toContain('longer than 8192 characters');
    expect(why('system/Observation.rs?category=a,b&code=http://loinc.org|1 system/*.rs __admin')).toBe('');
  });
});
