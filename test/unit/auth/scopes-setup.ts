import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import { createAccessReader } from '../../../runtime/auth/scopes/access.js';
import { createConstraintReader } from '../../../runtime/auth/scopes/constraint.js';
import { createScopeRules } from '../../../runtime/auth/scopes/scope-rules.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import type { Candidate } from '../../../runtime/search/query/match.js';
import { utc } from '../../../runtime/indexing/values/zone.js';

/** Scopes by the generated tables, as a server has them. */
export const constraints = createConstraintReader({ tables, zone: utc, own: new OwnBases(['http://here/fhir']) });
export const rules = createScopeRules(tables, constraints);
export const accessOf = createAccessReader({ rules, constraints });

const extract = createExtractor(tables, { own: new OwnBases(['http://here/fhir']) });

/** A resource as conditions see it. */
export function candidateOf(resource: Record<string, unknown>): Candidate {
  return { id: String(resource['id']), lastUpdated: Date.parse('2024-01-02T03:04:05Z'), entries: extract(resource) };
}

export const LABORATORY = 'http://terminology.hl7.org/CodeSystem/observation-category|laboratory';

export function observation(category: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const system = 'http://terminology.hl7.org/CodeSystem/observation-category';
  return { resourceType: 'Observation', id: 'o', category: [{ coding: [{ system, code: category }] }], ...more };
}
