import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { integrityOf } from '../../../runtime/assembly/integrity.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import type { Integrity } from '../../../runtime/core/references/integrity.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { OwnBases } from '../../../runtime/path/own-bases.js';

function made(paths: object, integrity = 'none'): Integrity | undefined {
  const { config } = readConfig({ integrity, 'integrity-paths': JSON.stringify(paths) }, {});
  return integrityOf(config, { tables, own: new OwnBases(), isShipped: () => false });
}

const to = (reference: string): object => ({ reference });

describe('the setting integrity', () => {
  it('is none by default, and then there is nothing to check', () => {
    const { config } = readConfig({}, {});
    expect([config.integrity, config['integrity.paths']]).toEqual(['none', {}]);
    expect(made({})).toBeUndefined();
    expect(made({ Basic: 'none', AuditEvent: 'enforced' })).toBeUndefined();
  });

  it.each([
    [{ Patint: 'written' }, 'integrity.paths: there is no resource type Patint; did you mean Patient?'],
    [{ 'Observation.subjekt': 'written' }, 'integrity.paths: there is no element Observation.subjekt'],
    [{ 'Observation.component.valueReference': 'written' }, 'there is no element Observation.component.valueReference'],
    [{ HumanName: 'written' }, 'there is no resource type HumanName'],
    [{ '': 'written' }, 'there is no resource type '],
  ])('refuses %j with its name', (paths, message) => {
    expect(() => made(paths)).toThrow(message);
  });

  it('takes the mode of the longest path, of an element and of what is below it', () => {
    const integrity = made({ Observation: 'none', 'Observation.component': 'written', 'Observation.component.value[x]': 'enforced', 'Basic.extension': 'none' }, 'written')!; // prettier-ignore
    const component = [{ extension: [{ url: 'x', valueReference: to('Patient/3') }], valueReference: to('Patient/2') }];
    const observation = { resourceType: 'Observation', subject: to('Patient/1'), component } as unknown as Resource;
    expect(integrity.targetsOf(observation, undefined)).toEqual([
      { type: 'Patient', id: '3', expression: 'Observation.component[0].extension[0].value' },
      { type: 'Patient', id: '2', expression: 'Observation.component[0].value', isHeld: true },
    ]);
    expect(integrity.holding).toEqual(['Observation']);
    expect(integrity.holds(observation, { type: 'Patient', id: '2' })).toBe(true);
    expect(integrity.holds(observation, { type: 'Patient', id: '3' })).toBe(false);
    const extension = [{ url: 'x', valueReference: to('Patient/3') }];
    const basic = { resourceType: 'Basic', subject: to('Patient/1/_history/2'), extension } as unknown as Resource;
    const target = { type: 'Patient', id: '1', version: 2, expression: 'Basic.subject' };
    expect(integrity.targetsOf(basic, undefined)).toEqual([target]);
    expect(integrity.targetsOf(basic, basic)).toBeUndefined();
  });
});
