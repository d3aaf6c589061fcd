import { PENDING } from './answers.js';
import type { ProfileRun } from './profile-run.js';
import { CORE } from './definition/structure-definition.js';

/** The type that a profile constrains; undefined: it is not known here. */
export function typeOfProfile(canonical: string, run: ProfileRun): string | undefined | typeof PENDING {
  const base = baseType(canonical, run);
  if (base !== undefined) return base;
  const row = run.find(canonical);
  return row === PENDING ? PENDING : row?.type;
}

/**
 * Returns the type whose definition a canonical names, like `baseType`; undefined also where it names another version of FHIR
 * than that of this server.
 */
export function baseTypeHere(canonical: string, run: ProfileRun): string | undefined {
  const version = canonical.split('|')[1];
  return version === undefined || run.deps.types.areOf(version) ? baseType(canonical, run) : undefined;
}

/** The type whose definition a canonical names, of whatever version. */
export function baseType(canonical: string, { deps }: ProfileRun): string | undefined {
  if (!canonical.startsWith(CORE)) return undefined;
  const name = canonical.slice(CORE.length).split('|')[0] ?? '';
  return deps.types.kindOf(name) !== undefined || deps.types.isPrimitive(name) ? name : undefined;
}
