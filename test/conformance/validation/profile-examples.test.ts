import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { profiles } from '../../../generated/profiles.js';
import { tables } from '../../../generated/tables.js';
import type { JsonObject, JsonValue, Resource } from '../../../runtime/fhir/resource.js';
import { createRuleEvaluator } from '../../../runtime/validate/profiles/evaluate-rule.js';
import { createFhirTypes } from '../../../runtime/validate/profiles/fhir-types.js';
import { claimedProfiles } from '../../../runtime/validate/profiles/claimed-profiles.js';
import { validateProfiles } from '../../../runtime/validate/profiles/validate-profiles.js';

const folder = fileURLToPath(new URL('../../packages/node_modules/hl7.fhir.r5.examples', import.meta.url));
const types = createFhirTypes(tables);
const evaluate = createRuleEvaluator(tables);
const rows = new Map(profiles.map((row) => [row.url, row]));

/** Files that hold resources which claim a profile. */
function claiming(): [string, Resource][] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== 'package.json')
    .flatMap((name): [string, Resource][] => {
      const text = readFileSync(join(folder, name), 'utf8');
      if (!text.includes('"profile"')) return [];
      const resource = JSON.parse(text) as Resource;
      return claims(resource).some((url) => rows.has(url)) ? [[name, resource]] : [];
    });
}

function claims(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(claims);
  if (typeof value !== 'object' || value === null) return [];
  const own = 'resourceType' in value ? claimedProfiles(value as Resource) : [];
  return [...own, ...Object.values(value as JsonObject).flatMap(claims)];
}

describe('official examples conform to the profiles that they claim', () => {
  const examples = claiming();
  it('there are such examples', () => {
    expect(examples.length).toBeGreaterThan(500);
  });
  it('but two have nested concepts without hierarchyMeaning, which is a warning (docs/validation.md, "The official examples")', async () => {
    const found: string[] = [];
    const warnings: string[] = [];
    for (const [name, resource] of examples) {
      const profile = (url: string): (typeof profiles)[number] | undefined => rows.get(url.split('|')[0] ?? url);
      const issues = await validateProfiles(resource, claimedProfiles(resource), {
        types,
        profile,
        beginRules: evaluate,
      });
      found.push(...issues.filter(({ severity }) => severity === 'error').map(({ text }) => `${name} ${text}`));
      warnings.push(...issues.filter(({ text }) => text.includes('rule scs-1')).map(({ severity, text }) => `${severity}: ${name} ${text}`)); // prettier-ignore
    }
    const broken =
      'rule scs-1: If a codesystem contains nested concepts, it must specify hierarchyMeaning (concept.concept.exists() implies hierarchyMeaning.exists()) (profile http://hl7.org/fhir/StructureDefinition/shareablecodesystem)';
    expect(found).toEqual([]);
    expect(warnings.map((each) => each.replace(/\[\d+\]/, '[n]'))).toEqual([
      `warning: Bundle-valuesets.json Bundle.entry[n].resource: ${broken}`,
      `warning: CodeSystem-fhir-types.json CodeSystem: ${broken}`,
    ]);
  }, 120_000);
});
