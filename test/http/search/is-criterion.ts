import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { controlParameters } from '../../../runtime/interactions/capabilities/describe-search.js';

const CONTROLS = new Set(
  (['type', 'system'] as const).flatMap((kind) =>
    controlParameters(kind, { ...DEFAULT_SERVICES, subset: (resource) => resource }).map(([name]) => name),
  ),
);

/** Whether a parameter of a CapabilityStatement is a criterion: http/openapi/parameters.ts tries the others. */
export function isCriterion({ name }: { readonly name: string }): boolean {
  return !CONTROLS.has(name);
}
