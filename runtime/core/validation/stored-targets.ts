import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import type { ReferenceText } from '../../path/reference-text.js';
import type { Soon } from '../../validate/profiles/profile-deps.js';
import { readVisible } from '../access/read-visible.js';
import type { VisibilityServices } from '../access/security-context.js';
import { readStored } from '../read-stored.js';
import type { Services, ValidatingCall } from '../services.js';

/**
 * Finds what references of a resource lead to: resources that the same transaction writes, and stored ones that the token may read. What it
 * may not read is as good as missing, so that validation tells nothing of it.
 *
 * @param resource the one that is validated: where it refers to itself, it is not the stored version that counts
 * @returns undefined where the target is not to be had
 */
export function targetFinder(
  resource: Resource,
  call: ValidatingCall,
  services: VisibilityServices & Pick<Services, 'tables'>,
): (reference: string) => Soon<Resource | undefined> {
  const { principal, signal, together } = call;
  const looking = { principal, ...(signal !== undefined && { signal }) };
  const read = async ({ type, id, version }: ReferenceText): Promise<Resource | undefined> => {
    try {
      const found = await readVisible({ type, id, ...(version !== undefined && { version }) }, looking, services);
      return found?.json === undefined ? undefined : await readStored(found.json, services);
    } catch (error) {
      // Who sees what cannot be decided now: the index is not current.
      if (error instanceof FhirError && error.status < 500) return undefined;
      throw error;
    }
  };
  return (reference) => {
    const written = together?.(reference);
    if (written !== undefined) return written;
    const named = services.own.readLocal(reference);
    if (named === undefined || !services.tables.resourceTypes.includes(named.type)) return undefined;
    const isItself = named.version === undefined && named.type === resource.resourceType && named.id === resource['id'];
    return isItself ? resource : read(named);
  };
}
