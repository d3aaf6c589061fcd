import { matches, type Candidate } from '../../search/query/match.js';
import type { StoredVersion } from '../../store/store.js';
import type { Reach } from '../scopes/reach.js';

/**
 * Whether a resource, or a version of it, lies within reach. What lies outside is not found: 404 for who reads it.
 *
 * @param candidate asked for where a condition decides
 */
export function isWithinReach(reach: Reach, candidate: () => Candidate): boolean {
  if (typeof reach === 'string') return reach === 'everything';
  return matches(reach, candidate());
}

/** How versions are judged. */
export interface VersionVisibility {
  /** What may be seen of a type. */
  readonly reach: (type: string) => Reach;
  /** A version with content as conditions see it. */
  readonly candidate: (version: StoredVersion) => Candidate;
  /** The version before a deletion; undefined: there is none any more. */
  readonly before: (deletion: StoredVersion) => StoredVersion | undefined;
}

/**
 * The versions of a history that may be seen, each judged by its own content: an old version shows what the resource was
 * then. A deletion is seen where the version before it is. None left of an instance: 404.
 */
export function versionsWithinReach(
  versions: readonly StoredVersion[],
  { reach, candidate, before }: VersionVisibility,
): readonly StoredVersion[] {
  return versions.filter((version) => {
    const bounds = reach(version.type);
    if (typeof bounds === 'string') return bounds === 'everything';
    const told = version.json === undefined ? before(version) : version;
    return told?.json !== undefined && isWithinReach(bounds, () => candidate(told));
  });
}

/** The types of which anything may be seen, in their order. */
export function visibleTypes(types: readonly string[], reach: (type: string) => Reach): readonly string[] {
  return types.filter((type) => reach(type) !== 'nothing');
}
