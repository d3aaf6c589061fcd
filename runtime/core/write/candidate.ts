import type { Resource } from '../../fhir/resource.js';
import type { Candidate } from '../../search/query/match.js';
import type { StoredVersion } from '../../store/store.js';
import type { Services } from '../services.js';

/** A version as a candidate for scope constraints, which never search text. @param resource content of the version */
export function candidateOf(
  { id, lastUpdated }: Pick<StoredVersion, 'id' | 'lastUpdated'>,
  resource: Resource,
  { extract }: Pick<Services, 'extract'>,
): Candidate {
  return { id, lastUpdated, entries: extract(resource, 'words') };
}
