import { FhirError } from '../../fhir/errors.js';
import type { Limits } from '../../fhir/limits.js';
import { withMeta } from '../../fhir/meta.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { SentPatch } from '../../patch/sent-patch.js';
import { applyPatch } from '../../patch/apply/patchers.js';
import type { Services } from '../../core/services.js';
import { validatePatched } from './validate-patch.js';

/** The services needed to apply a patch. */
export interface PatchServices extends Pick<Services, 'validate' | 'rules' | 'validation' | 'patchers'> {
  readonly limits: Pick<Limits, 'nesting' | 'resource'>;
}

/**
 * Applies a patch to a copy of a resource and validates the result.
 *
 * @param change makes something else of the result before it is validated
 * @throws FhirError if the patch cannot be applied, changes the identity of the resource, or makes it invalid
 */
export async function patchResource(
  before: Resource,
  patch: SentPatch,
  services: PatchServices,
  change?: ((patched: Resource) => Promise<Resource>) | undefined,
): Promise<Resource> {
  const { patchers, limits } = services;
  const made = checkPatched(await applyPatch(before, patch, patchers, limits), before, patch.format === 'fhirpath');
  const patched = change === undefined ? made : await change(made);
  validatePatched(patched, patch, services);
  return patched;
}

/**
 * Checks that the patched value is still the same resource. A patch may remove `versionId` and `lastUpdated`, but not change
 * them. A FHIRPath Patch may say so, as the difference of two versions does, and has no effect on them.
 *
 * @param isDifference it is a FHIRPath Patch
 * @throws FhirError `not-a-resource`, `patch-identity`
 */
function checkPatched(value: JsonValue, before: Resource, isDifference: boolean): Resource {
  if (!isObject(value)) throw new FhirError('not-a-resource', 'What the patch makes is no resource');
  const type = before.resourceType;
  for (const name of ['resourceType', 'id']) {
    if (value[name] !== before[name]) throw changed(type, name);
  }
  const meta = isObject(value['meta']) ? value['meta'] : {};
  if (isDifference && meta === value['meta']) {
    const { versionId: _v, lastUpdated: _l, ...own } = meta;
    const { meta: _meta, ...rest } = value as Resource;
    return (Object.keys(own).length === 0 ? rest : withMeta(rest as Resource, String(rest.id), own)) as Resource;
  }
  for (const name of ['versionId', 'lastUpdated']) {
    const sent = meta[name];
    const own = isObject(before['meta']) ? before['meta'][name] : undefined;
    if (sent !== undefined && sent !== own) throw changed(type, `meta.${name}`);
  }
  return value as Resource;
}

function changed(type: string, path: string): FhirError {
  return new FhirError('patch-identity', `A patch may not change ${path}`, { expression: `${type}.${path}` });
}
