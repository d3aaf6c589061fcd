import { describe, expect, it } from 'vitest';

import { createAccessReader } from '../../../runtime/auth/scopes/access.js';
import type { ConstraintReader } from '../../../runtime/auth/scopes/constraint.js';
import { commonReach, eitherReach, withinReach, type Reach } from '../../../runtime/auth/scopes/reach.js';
import { EVERYTHING, NOTHING } from '../../../runtime/search/query/query.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import { accessOf, constraints, rules } from './scopes-setup.js';

const shown = (reach: Reach): string => (typeof reach === 'string' ? reach : printCondition(reach));

describe('constraints of scopes', () => {
  it.each([
    ['Observation', 'category', 'laboratory'],
    ['Observation', 'category', 'http://terminology.hl7.org/CodeSystem/observation-category|laboratory,vital-signs'],
    ['Observation', 'patient', 'Patient/1'],
    ['Observation', 'patient', 'https://here/fhir/Patient/1'],
    ['Observation', 'date', '2024'],
    ['Observation', 'value-quantity', '5|http://unitsofmeasure.org|mg'],
    ['Observation', 'code-value-quantity', 'http://loinc.org|1$5'],
    ['Patient', 'name', 'eve'],
    // It begins like a prefix, and is a name.
    ['Patient', 'family', 'geller'],
    ['Patient', '_id', 'a,b'],
    ['Patient', '_lastUpdated', '2024-01'],
    ['*', '_tag', 'x'],
    ['*', '_security', 'http://x|R'],
    ['*', '_profile', 'http://x'],
    ['DocumentReference', 'setting', 'x'],
  ])('%s?%s=%s', (type, name, value) => {
    expect(constraints.accepts(type, name, value)).toBe(true);
  });

  it.each([
    ['Observation', 'nonsense', 'x'],
    ['Observation', 'family', 'x'],
    ['*', 'category', 'x'],
    ['*', 'patient', 'x'],
    ['Observation', 'category:not', 'x'],
    ['Observation', 'category:in', 'x'],
    ['Observation', 'patient:Patient', '1'],
    ['Observation', 'patient.name', 'x'],
    ['DocumentReference', 'patient.identifier', 'x'],
    ['Observation', '_has:Provenance:target:_id', 'x'],
    ['Observation', 'date', 'ge2024'],
    ['Observation', 'date', '2024,lt2020'],
    ['Observation', 'value-quantity', 'gt5'],
    ['Observation', 'code-value-quantity', 'x$gt5'],
    ['Observation', 'code-value-quantity', 'x'],
    ['Observation', 'date', 'yesterday'],
    ['Observation', 'category', ''],
    ['Observation', 'category', 'a,'],
    ['Observation', 'category', Array.from({ length: 65 }, (_, n) => n).join(',')],
    ['Patient', '_sort', 'family'],
    ['Patient', '_count', '1'],
    ['Patient', '_elements', 'name'],
    ['Patient', '_summary', 'true'],
    ['Patient', '_include', 'Patient:link'],
    ['Patient', '_filter', 'name eq x'],
    ['Patient', '_list', '1'],
    ['Patient', '_in', 'Group/1'],
    ['Patient', '_query', 'x'],
    ['Patient', '_type', 'Patient'],
    ['Patient', '_text', 'x'],
    ['Patient', '_content', 'x'],
    ['Patient', '_format', 'json'],
    ['Patient', 'constructor', 'x'],
    ['Patient', '__proto__', 'x'],
  ])('not %s?%s=%s', (type, name, value) => {
    expect(constraints.accepts(type, name, value)).toBe(false);
    expect(constraints.read(type, [[name, value]])).toBeUndefined();
    expect(
      constraints.read(type, [
        ['_id', 'x'],
        [name, value],
      ]),
    ).toBeUndefined();
  });
});

/** Scopes, type, letters, what is reached. */
const CASES: readonly (readonly [scopes: string, type: string, letters: string, reach: string])[] = [
  ['system/Patient.rs', 'Patient', 'r', 'everything'],
  ['system/Patient.rs', 'Patient', 'rs', 'everything'],
  ['system/Patient.rs', 'Patient', 'u', 'nothing'],
  ['system/Patient.rs', 'Patient', 'us', 'nothing'],
  ['system/Patient.rs', 'Patient', '', 'nothing'],
  ['system/Patient.rs', 'Observation', 'r', 'nothing'],
  ['system/*.rs', 'Observation', 'r', 'everything'],
  ['system/*.rs', 'Unknown', 'r', 'nothing'],
  ['system/*.rs', '*', 'r', 'nothing'],
  ['system/*.cruds', 'AuditEvent', 'crs', 'everything'],
  ['system/*.cruds', 'AuditEvent', 'u', 'nothing'],
  ['system/*.cruds', 'AuditEvent', 'd', 'nothing'],
  ['system/AuditEvent.d system/*.rs', 'AuditEvent', 'd', 'everything'],
  ['', 'Patient', 'r', 'nothing'],
  ['system/Observation.rs?category=a', 'Observation', 'r', 'category = "a"'],
  ['system/Observation.rs?category=a', 'Observation', 'rs', 'category = "a"'],
  ['system/Observation.rs?category=a&code=b', 'Observation', 'r', '(category = "a") and (code = "b")'],
  [
    'system/Observation.rs?category=a system/Observation.rs?category=b',
    'Observation',
    's',
    '(category = "a") or (category = "b")',
  ],
  ['system/Observation.rs?category=a system/Observation.r', 'Observation', 'r', 'everything'],
  ['system/Observation.rs?category=a system/Observation.r', 'Observation', 's', 'category = "a"'],
  ['system/Observation.rs?category=a system/*.rs', 'Observation', 'rs', 'everything'],
  [
    'system/Observation.r?category=a system/Observation.s?category=b',
    'Observation',
    'rs',
    '(category = "a") and (category = "b")',
  ],
  ['system/*.rs?_tag=a', 'Observation', 'r', '_tag = "a"'],
  ['system/*.rs?_tag=a system/Observation.r?code=b', 'Observation', 'r', '(_tag = "a") or (code = "b")'],
  // What nobody understands, as an external server may send it, gives nothing.
  ['system/Observation.rs?nonsense=a', 'Observation', 'r', 'nothing'],
  ['system/Observation.rs?category:not=a', 'Observation', 'r', 'nothing'],
  ['system/Observation.rs?_id=', 'Observation', 'r', 'nothing'],
  ['system/Observation.rs?nonsense=a system/Observation.s', 'Observation', 'rs', 'nothing'],
];

describe('what scopes reach', () => {
  it.each(CASES)('%s on %s.%s: %s', (scopes, type, letters, reach) => {
    const access = accessOf(scopes);
    expect(shown(access.on(type, letters))).toBe(reach);
    expect(access.isWhole(type, letters)).toBe(reach === 'everything');
  });

  it('takes any of several sets of letters', () => {
    const access = accessOf('system/Observation.r?category=a system/Observation.s?category=b system/Patient.s');
    expect(shown(access.onAny('Observation', ['r', 's']))).toBe('(category = "a") or (category = "b")');
    expect(shown(access.onAny('Patient', ['r', 's']))).toBe('everything');
    expect(shown(access.onAny('Patient', ['rs', 'c']))).toBe('nothing');
    expect(shown(access.onAny('Patient', []))).toBe('nothing');
  });

  it('knows custom scopes by name', () => {
    expect(accessOf('__admin').holds('__admin.expunge')).toBe(true);
    expect(accessOf('__admin').holds('__introspect')).toBe(false);
    expect(accessOf('__admin.reindex').holds('__admin.expunge')).toBe(false);
    expect(accessOf('__admin.reindex').holds('__admin')).toBe(false);
    expect(accessOf('system/*.cruds').holds('__admin')).toBe(false);
    expect(accessOf('__admin').on('Patient', 'r')).toBe('nothing');
  });

  it('reads a text once, and keeps those used last', () => {
    let reads = 0;
    const counting: ConstraintReader = {
      ...constraints,
      read: (type, pairs) => {
        reads++;
        return constraints.read(type, pairs);
      },
    };
    const read = createAccessReader({ rules, constraints: counting }, 2);
    const scope = (n: number): string => `system/Patient.rs?_tag=${n}`;
    const first = read(scope(1));
    for (let i = 0; i < 3; i++) first.on('Patient', 'r');
    expect(reads).toBe(1);
    read(scope(2));
    expect(read(scope(1))).toBe(first);
    read(scope(3));
    expect(read(scope(1))).toBe(first);
    read(scope(2));
    read(scope(3));
    expect(read(scope(1))).not.toBe(first);
  });
});

describe('reaches', () => {
  const a = { ids: ['a'] };
  const b = { ids: ['b'] };

  it('join', () => {
    expect(eitherReach([])).toBe('nothing');
    expect(eitherReach(['nothing', a])).toEqual(a);
    expect(eitherReach([a, b, a])).toEqual({ some: [a, b] });
    expect(eitherReach([a, 'everything'])).toBe('everything');
    expect(commonReach(['everything', a])).toEqual(a);
    expect(commonReach([a, b, a])).toEqual({ all: [a, b] });
    expect(commonReach([a, 'nothing'])).toBe('nothing');
  });

  it('narrow conditions', () => {
    expect(withinReach(a, 'everything')).toBe(a);
    expect(withinReach(a, 'nothing')).toEqual(NOTHING);
    expect(withinReach(a, b)).toEqual({ all: [a, b] });
    expect(withinReach(EVERYTHING, b)).toEqual({ all: [b] });
    expect(withinReach({ some: [a, b] }, b)).toEqual({ all: [{ some: [a, b] }, b] });
  });
});
