import { tables } from '../../../generated/tables.js';
import { profiles } from '../../../generated/profiles.js';
import type { ProfileRow } from '../../../runtime/contract/index.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { createRuleEvaluator } from '../../../runtime/validate/profiles/evaluate-rule.js';
import { createFhirTypes } from '../../../runtime/validate/profiles/fhir-types.js';
import type { ProfileDeps } from '../../../runtime/validate/profiles/profile-deps.js';
import { profileRow } from '../../../runtime/validate/profiles/definition/profile-row.js';
import type {
  DefinedElement,
  StructureDefinition,
} from '../../../runtime/validate/profiles/definition/structure-definition.js';
import { validateProfiles } from '../../../runtime/validate/profiles/validate-profiles.js';
import { makeSnapshot } from '../../../runtime/validate/snapshot/make-snapshot.js';
import { packageDefinition } from './package-definitions.js';

export const types = createFhirTypes(tables);
const evaluators = createRuleEvaluator(tables);
const generated = new Map(profiles.map((row) => [row.url, row]));

/** A profile with this differential. */
export function made(
  id: string,
  type: string,
  element: readonly Partial<DefinedElement>[],
  more: Partial<StructureDefinition> = {},
): ProfileRow {
  const definition: StructureDefinition = {
    resourceType: 'StructureDefinition',
    url: `http://x.org/${id}`,
    type,
    derivation: 'constraint',
    baseDefinition: `http://hl7.org/fhir/StructureDefinition/${type}`,
    differential: { element: [{ path: type }, ...(element as DefinedElement[])] },
    ...more,
  };
  return profileRow({ ...definition, snapshot: { element: makeSnapshot(definition, packageDefinition) } }, types);
}

/** What validation asks for: these profiles beside the generated ones. */
export function depsOf(rows: readonly ProfileRow[], more: Partial<ProfileDeps> = {}): ProfileDeps {
  const own = new Map(rows.map((row) => [row.url, row]));
  return {
    types,
    // Later, as from a store.
    profile: (url) => own.get(url) ?? Promise.resolve(generated.get(url.split('|')[0] ?? url)),
    beginRules: evaluators,
    ...more,
  };
}

/** Severity, key and place of all that is found by the first of these profiles. */
export async function check(
  resource: Resource | Record<string, unknown>,
  rows: readonly ProfileRow[],
  more: Partial<ProfileDeps> = {},
): Promise<string[]> {
  const issues = await validateProfiles(resource as Resource, [rows[0]!.url], depsOf(rows, more));
  return issues.map(({ severity, rule, expression }) => `${severity} ${rule} ${expression}`);
}
