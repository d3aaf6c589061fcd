import type { Resource } from '../fhir/resource.js';

/** Types of terminology resources. */
export type TerminologyType = 'CodeSystem' | 'ValueSet' | 'ConceptMap';

/**
 * Whether a version is one that was asked for. Parts that are missing or `x` match anything: `1`, `1.x` and `1.0` are all of `1.0.3`.
 * https://hl7.org/fhir/R5/references.html#canonical
 */
export function isVersion(actual: unknown, asked: string): boolean {
  if (actual === asked) return true;
  if (typeof actual !== 'string') return false;
  const parts = actual.split('.');
  const wanted = asked.split('.');
  return wanted.length <= parts.length && wanted.every((part, i) => isAny(part) || part === parts[i]);
}

/** Whether a version stands for several. */
export function isPattern(version: string): boolean {
  return version.split('.').some(isAny);
}

function isAny(part: string): boolean {
  return part === 'x' || part === 'X' || part === '*';
}

/** The resource with the greatest version, numbers compared as numbers; of equal ones the one that was changed last. */
export function latest(resources: readonly Resource[]): Resource | undefined {
  const of = (resource: Resource): string => String(resource['version'] ?? '');
  const changed = (resource: Resource): string =>
    String((resource['meta'] as { lastUpdated?: string } | undefined)?.lastUpdated ?? '');
  return [...resources].sort(
    (a, b) => of(b).localeCompare(of(a), 'en', { numeric: true }) || changed(b).localeCompare(changed(a)),
  )[0];
}
