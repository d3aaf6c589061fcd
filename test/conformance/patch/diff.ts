import type { Resource } from '../../../runtime/fhir/resource.js';
import { attempts, type DiffOptions } from '../../../runtime/patch/diff/diff.js';
import type { PatchModel } from '../../../runtime/patch/fhirpath/fhirpath-model.js';

/** A FHIRPath Patch that makes one version of a resource another, made without turns for others. */
export function diff(from: Resource, to: Resource, model: PatchModel, options: DiffOptions = {}): Resource {
  for (const patch of attempts(from, to, model, options)) if (patch !== undefined) return patch;
  throw new Error('no attempt was the last');
}
