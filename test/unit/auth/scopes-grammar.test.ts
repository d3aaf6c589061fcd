import { describe, expect, it } from 'vitest';

import { readWord } from '../../../runtime/auth/scopes/dialect.js';
import { parseScope } from '../../../runtime/auth/scopes/parse-scope.js';
import { readScopes } from '../../../runtime/auth/scopes/read-scopes.js';
import { printScope } from '../../../runtime/auth/scopes/scope.js';
import { rules } from './scopes-setup.js';

/** The scope in its v2 form, or nothing where it is none. */
const v2 = (text: string, read: 'r' | 'rs' = 'rs'): string | undefined => {
  const scope = parseScope(text, read);
  return scope && printScope(scope);
};

describe('the grammar of scopes', () => {
  it.each([
    ['system/Patient.rs', 'system/Patient.rs'],
    ['system/*.cruds', 'system/*.cruds'],
    ['system/Patient.c', 'system/Patient.c'],
    ['system/Patient.read', 'system/Patient.rs'],
    ['system/Patient.write', 'system/Patient.cud'],
    ['system/Patient.*', 'system/Patient.cruds'],
    ['system/*.*', 'system/*.cruds'],
    ['system/Patient.search', 'system/Patient.s'],
    ['system/Patient.create', 'system/Patient.c'],
    ['system/Observation.rs?category=laboratory', 'system/Observation.rs?category=laboratory'],
    ['system/Observation.rs?b=2&a=1', 'system/Observation.rs?a=1&b=2'],
    ['system/Observation.rs?a=1&a=1', 'system/Observation.rs?a=1'],
    ['system/Observation.rs?%61=%31', 'system/Observation.rs?a=1'],
    ['system/Observation.rs?code=http%3A%2F%2Floinc.org%7C1%2C2', 'system/Observation.rs?code=http://loinc.org|1,2'],
    ['system/Observation.rs?a=b=c', 'system/Observation.rs?a=b%3Dc'],
    ['system/Observation.rs?a=x%20y%22%5C', 'system/Observation.rs?a=x%20y%22%5C'],
    ['system/Observation.rs?a=x+y', 'system/Observation.rs?a=x%2By'],
    ['system/Observation.rs?a=%C3%A9', 'system/Observation.rs?a=%C3%A9'],
  ])('%s is %s', (text, meaning) => {
    expect(v2(text)).toBe(meaning);
    expect(v2(meaning)).toBe(meaning);
  });

  it.each([
    '',
    'system',
    'system/',
    'system/Patient',
    'system/Patient.',
    'system/.rs',
    'system/patient.rs',
    'System/Patient.rs',
    'system/Patient.sr',
    'system/Patient.dus',
    'system/Patient.rrs',
    'system/Patient.rx',
    'system/Patient.READ',
    'system/Patient.reads',
    'system/Patient.delete',
    'system/Patient.update',
    'system/Patient.constructor',
    'system/Patient.__proto__',
    'system/Patient/1.rs',
    'patient/Patient.rs',
    'user/Patient.rs',
    'launch',
    'openid',
    'fhirUser',
    'offline_access',
    'ITI-67',
    'system/Patient.rs?',
    'system/Patient.rs?a',
    'system/Patient.rs?a=',
    'system/Patient.rs?=1',
    'system/Patient.rs?a=1&',
    'system/Patient.rs?a=%',
    'system/Patient.rs?a=%FF',
    'system/Patient.rs?%FF=a',
    'system/Patient.read?a=1',
    'system/Patient.*?a=1',
    'system/Patient.rs?a="x"',
    'system/Patient.rs?a=x\\y',
    'system/Patient.rs?a=é',
    'system/Patient.rs\n',
    `system/Patient.rs?a=${'x'.repeat(1024)}`,
    `system/Patient.rs?${Array.from({ length: 17 }, (_, n) => `a${n}=1`).join('&')}`,
  ])('%s is none', (text) => {
    expect(v2(text)).toBeUndefined();
  });
});

describe('what .read means', () => {
  it.each([
    ['eu-0.1', 'system/Patient.read', 'r'],
    ['v1', 'system/Patient.read', 'rs'],
    ['v1', 'system/Patient.read system/Patient.search', 'rs'],
    ['v2', 'system/Patient.read', 'rs'],
    [undefined, 'system/Patient.read', 'rs'],
    [undefined, 'system/Patient.read system/DocumentReference.create', 'r'],
    ['v2', 'system/Patient.read system/*.search', 'r'],
    [undefined, 'system/Patient.read system/Patient.searches', 'rs'],
    [undefined, 'system/Patient.read system/Patient.write system/Patient.rs', 'rs'],
  ] as const)('to a client of dialect %s in "%s": %s', (dialect, list, meaning) => {
    expect(readWord(dialect, list.split(' '))).toBe(meaning);
  });
});

describe('lists of scopes', () => {
  it('drops one by one what means nothing here', () => {
    const list =
      'system/Patient.rs system/Unknown.rs patient/Patient.rs __admin __other  system/Patient.rs?nonsense=1 system/Patient.rs';
    const { read, dropped } = readScopes(list, 'v2', rules);
    expect(read.map(({ text }) => text)).toEqual(['system/Patient.rs', '__admin']);
    expect(dropped).toEqual(['system/Unknown.rs', 'patient/Patient.rs', '__other', 'system/Patient.rs?nonsense=1']);
  });

  it('reads so many, and no part of a text that is too long', () => {
    const many = Array.from({ length: 300 }, (_, n) => `system/Patient.r?_tag=${n}`);
    expect(readScopes(many.join(' '), 'v2', rules).read).toHaveLength(256);
    const long = `${'x'.repeat(8175)} system/Patient.rs?_tag=secret`;
    expect(readScopes(long, 'v2', rules).read).toEqual([]);
  });
});
