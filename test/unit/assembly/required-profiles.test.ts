import { describe, expect, it } from 'vitest';

import { profiles as rows } from '../../../generated/profiles.js';
import { tables } from '../../../generated/tables.js';
import { checkRequiredProfiles, requiredProfiles } from '../../../runtime/assembly/required-profiles.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import { createFhirTypes } from '../../../runtime/validate/profiles/fhir-types.js';

const VITALS = 'http://hl7.org/fhir/StructureDefinition/vitalsigns';
const types = createFhirTypes(tables);
const profile = (canonical: string): (typeof rows)[number] | undefined => rows.find(({ url }) => url === canonical);

function check(table: object, validation = 'full'): Promise<void> {
  const { config } = readConfig({ 'validation-profiles': JSON.stringify(table), validation }, {});
  return checkRequiredProfiles(config, { types, profile, required: requiredProfiles(config) });
}

describe('the setting validation.profiles', () => {
  it('takes profiles that are known and fit the type, none by default', async () => {
    await check({ Observation: [VITALS] });
    expect(requiredProfiles(readConfig({}, {}).config).size).toBe(0);
  });

  it('refuses unknown profiles and types, profiles of other types, and less than full validation', async () => {
    await expect(check({ Patient: ['http://x.org/p'] })).rejects.toThrow(
      'http://x.org/p is neither shipped nor stored',
    );
    await expect(check({ Patint: [VITALS] })).rejects.toThrow('Patint is no resource type');
    await expect(check({ Patient: [VITALS] })).rejects.toThrow('is for Observation');
    await expect(check({ Observation: [VITALS] }, 'structure')).rejects.toThrow('needs validation: full');
  });

  it('validation.codes needs full validation, too', async () => {
    const of = (validation: string): Promise<void> => {
      const { config } = readConfig({ 'validation-codes': 'true', validation }, {});
      return checkRequiredProfiles(config, { types, profile, required: new Map() });
    };
    await of('full');
    await expect(of('structure')).rejects.toThrow('validation.codes needs validation: full; it is structure');
  });

  it('is an object of lists of URLs', () => {
    for (const wrong of ['[]', '{"Patient":"http://x.org/p"}', '{"Patient":["no url"]}', 'x']) {
      expect(() => readConfig({ 'validation-profiles': wrong }, {}), wrong).toThrow('canonical URLs');
    }
  });
});
