import type { Resource } from '../../fhir/resource.js';
import type { Candidate } from '../../search/query/match.js';
import type { StoredVersion } from '../../store/store.js';
import type { Services } from '../services.js';

/** A version as conditions of scopes see it, which ask for no words. @param resource what it holds */
export function candidateOf(
  { id, lastUpdated }: Pick<StoredVersion, 'id' | 'lastUpdated'>,
  resource: Resource,
  { extract }: Pick<Services, 'extract'>,
): Candidate {
  return { id, lastUpdated, entries: extract(resource, 'words') };
}
