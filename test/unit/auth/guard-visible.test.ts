import { describe, expect, it } from 'vitest';

import { isWithinReach, visibleTypes, versionsWithinReach } from '../../../runtime/auth/access/visible.js';
import type { Reach } from '../../../runtime/auth/scopes/reach.js';
import type { StoredVersion } from '../../../runtime/store/store.js';
import { accessOf, candidateOf, LABORATORY, observation } from './scopes-setup.js';

const inside = () => candidateOf(observation('laboratory'));
const outside = () => candidateOf(observation('vital-signs'));
const never = (): never => {
  throw new Error('nobody needs to look');
};

const constrained = (letters: string): Reach =>
  accessOf(`system/Observation.${letters}?category=${LABORATORY}`).on('Observation', letters);

describe('a resource', () => {
  it('is visible within the constraint', () => {
    expect(isWithinReach(constrained('r'), inside)).toBe(true);
    expect(isWithinReach(constrained('r'), outside)).toBe(false);
    expect(isWithinReach('everything', never)).toBe(true);
    expect(isWithinReach('nothing', never)).toBe(false);
  });

  it('is visible by any of several constraints', () => {
    const access = accessOf(`system/Observation.r?category=${LABORATORY} system/Observation.r?status=final`);
    const reach = access.on('Observation', 'r');
    expect(isWithinReach(reach, inside)).toBe(true);
    expect(isWithinReach(reach, () => candidateOf(observation('vital-signs', { status: 'final' })))).toBe(true);
    expect(isWithinReach(reach, outside)).toBe(false);
    const both = accessOf(`system/Observation.r?category=${LABORATORY}&status=final`).on('Observation', 'r');
    expect(isWithinReach(both, inside)).toBe(false);
    expect(isWithinReach(both, () => candidateOf(observation('laboratory', { status: 'final' })))).toBe(true);
  });

  it('is visible by any value of an OR list, by tag on all types, and by reference', () => {
    const or = accessOf('system/Observation.r?category=laboratory,imaging').on('Observation', 'r');
    expect(isWithinReach(or, () => candidateOf(observation('imaging')))).toBe(true);
    expect(isWithinReach(or, outside)).toBe(false);
    const tag = accessOf('system/*.r?_tag=http://x|y').on('Observation', 'r');
    expect(
      isWithinReach(tag, () => candidateOf(observation('a', { meta: { tag: [{ system: 'http://x', code: 'y' }] } }))),
    ).toBe(true);
    expect(isWithinReach(tag, () => candidateOf(observation('a', { meta: { tag: [{ code: 'y' }] } })))).toBe(false);
    const mine = accessOf('system/Observation.r?patient=Patient/1').on('Observation', 'r');
    expect(isWithinReach(mine, () => candidateOf(observation('a', { subject: { reference: 'Patient/1' } })))).toBe(
      true,
    );
    expect(isWithinReach(mine, () => candidateOf(observation('a', { subject: { reference: 'Patient/2' } })))).toBe(
      false,
    );
    const id = accessOf('system/Observation.r?_id=o').on('Observation', 'r');
    expect(isWithinReach(id, outside)).toBe(true);
  });
});

describe('a history', () => {
  const version = (n: number, category: string | undefined, type = 'Observation'): StoredVersion => ({
    type,
    id: 'o',
    version: n,
    lastUpdated: n,
    ...(category !== undefined && { json: JSON.stringify({ ...observation(category), resourceType: type }) }),
  });
  const all = [
    version(6, 'vital-signs'),
    version(5, undefined),
    version(4, 'laboratory'),
    version(3, undefined),
    version(2, 'vital-signs'),
    version(1, 'laboratory'),
  ];
  const sight = (scopes: string) => ({
    reach: (type: string): Reach => accessOf(scopes).on(type, 'r'),
    candidate: ({ json }: StoredVersion) => candidateOf(JSON.parse(json!) as Record<string, unknown>),
    before: (deletion: StoredVersion) => all.find(({ version }) => version === deletion.version - 1),
  });
  const seen = (scopes: string, versions = all) =>
    versionsWithinReach(versions, sight(scopes)).map((each) => each.version);

  it('shows each version by its own content, a deletion by the version before', () => {
    expect(seen(`system/Observation.r?category=${LABORATORY}`)).toEqual([5, 4, 1]);
    expect(seen('system/Observation.r?category=vital-signs')).toEqual([6, 3, 2]);
    expect(seen('system/Observation.r')).toEqual([6, 5, 4, 3, 2, 1]);
    expect(seen('system/Patient.r')).toEqual([]);
  });

  it('shows no deletion whose version before is gone, where a condition decides', () => {
    const bounds = { ...sight(`system/Observation.r?category=${LABORATORY}`), before: () => undefined };
    expect(versionsWithinReach(all, bounds).map((each) => each.version)).toEqual([4, 1]);
  });

  it('hides deletions of types without scope', () => {
    const mixed = [version(2, undefined, 'Patient'), version(3, undefined), version(2, undefined, 'Device')];
    const reach = (type: string): Reach =>
      accessOf(`system/Observation.s?category=${LABORATORY} system/Patient.s`).on(type, 's');
    const seen = versionsWithinReach(mixed, { ...sight(''), reach });
    expect(seen.map(({ type }) => type)).toEqual(['Patient']);
    expect(visibleTypes(['Device', 'Observation', 'Patient'], reach)).toEqual(['Observation', 'Patient']);
  });
});
