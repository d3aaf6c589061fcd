import type { CompartmentRow } from '../../contract/search.js';
import type { Resource } from '../../fhir/resource.js';
import type { IndexEntry } from '../../indexing/entry.js';
import { ITSELF } from '../parse/scope.js';
import type { CompartmentRule } from './read-graph.js';

/** Reads the compartments that a resource is in. */
export type CompartmentsOf = (resource: Resource, row: CompartmentRow) => ReadonlySet<string>;

/**
 * Ids of the compartments of a type that a resource is in: those that its index entries refer to, and its own. https://hl7.org/fhir/R5/compartmentdefinition.html
 */
export function compartmentsOf(
  resource: Resource,
  { type, members }: CompartmentRow,
  entries: readonly IndexEntry[],
): ReadonlySet<string> {
  const codes = members[resource.resourceType] ?? [];
  const found = new Set<string>();
  if (codes.includes(ITSELF) && typeof resource.id === 'string') found.add(resource.id);
  for (const entry of entries) {
    if (entry.kind !== 'reference' || !codes.includes(entry.param)) continue;
    if (entry.type === type && entry.id !== undefined && entry.base === undefined) found.add(entry.id);
  }
  return found;
}

/**
 * Whether the compartment rules allow a link between two resources: they share a compartment where a rule requires the same one,
 * and share none where a rule requires different ones. Where a condition does not hold, the rules do not apply.
 * https://hl7.org/fhir/R5/valueset-graph-compartment-rule.html
 */
export function fulfilsRules(
  rules: readonly CompartmentRule[],
  source: Resource,
  target: Resource,
  compartments: CompartmentsOf,
): boolean {
  const holds = ({ compartment, isSame }: CompartmentRule): boolean => {
    const own = compartments(source, compartment);
    return [...compartments(target, compartment)].some((id) => own.has(id)) === isSame;
  };
  const isMeant = rules.every((rule) => !rule.isCondition || holds(rule));
  return !isMeant || rules.every((rule) => rule.isCondition || holds(rule));
}
