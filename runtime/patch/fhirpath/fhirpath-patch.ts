import { FhirError } from '../../fhir/errors.js';
import type { JsonValue, Resource } from '../../fhir/resource.js';
import { OPERATIONS } from './fhirpath-apply.js';
import { Budget } from './fhirpath-budget.js';
import { clip } from '../../fhir/quote.js';
import { MAX_SHOWN, PathFault } from '../../path/expression/path-fault.js';
import { createFinder, type Finder } from './fhirpath-find.js';
import type { PatchModel } from './fhirpath-model.js';
import { readOperation, type Operation } from './fhirpath-operation.js';
import { prune } from './fhirpath-prune.js';
import { MAX_PATCH_OPERATIONS } from '../patch-limits.js';

/** Bounds of what a patch may ask for. */
export interface FhirPathPatchLimits {
  readonly maxOperations?: number;
}

/**
 * Applies a FHIRPath Patch: each operation to what the one before it left, then takes away what was left empty. The
 * resource that is given stays as it is, and so do, to the text of its numbers, all parts that the patch does not
 * touch. Whether the result is valid is for the caller to see. https://hl7.org/fhir/R5/fhirpatch.html
 *
 * @param patch a Parameters resource, of which nothing is taken for granted
 * @throws FhirError `patch-invalid` where the patch cannot be read, `patch-target` where it does not go with the
 * resource; both name the operation by its position and the part of it that is at fault
 */
export async function applyFhirPathPatch(
  resource: Resource,
  patch: Resource,
  model: PatchModel,
  { maxOperations = MAX_PATCH_OPERATIONS }: FhirPathPatchLimits = {},
): Promise<Resource> {
  const parameters = readParameters(patch, maxOperations);
  const operations = parameters.map((parameter, i) => attempt(i, parameters, () => readOperation(parameter)));
  const budget = new Budget();
  const finder = createFinder(budget);
  const patched = operations.reduce(
    (current, operation, i) =>
      attempt(i, parameters, () => applyOne(current, operation, model, finder, budget), operation),
    resource,
  );
  return patched === resource ? resource : prune(patched);
}

function applyOne(
  resource: Resource,
  operation: Operation,
  model: PatchModel,
  finder: Finder,
  budget: Budget,
): Resource {
  const { find, findList } = finder(resource, model);
  return OPERATIONS[operation.type](operation, { resource, model, budget, find, findList });
}

function readParameters(patch: Resource, maxOperations: number): readonly JsonValue[] {
  if (patch.resourceType !== 'Parameters') {
    throw new FhirError('patch-invalid', `A FHIRPath Patch is a Parameters resource, not ${patch.resourceType}`);
  }
  const { parameter = [] } = patch;
  if (!Array.isArray(parameter)) {
    throw new FhirError('patch-invalid', 'The parameters of a patch are a list', {
      expression: 'Parameters.parameter',
    });
  }
  if (parameter.length <= maxOperations) return parameter;
  throw new FhirError('patch-too-large', `A patch has at most ${maxOperations} operations, not ${parameter.length}`);
}

/** Makes the fault of an operation a failure that tells where in the patch it is. */
function attempt<T>(i: number, parameters: readonly JsonValue[], work: () => T, operation?: Operation): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PathFault)) throw error;
    const what = operation === undefined ? '' : `, ${operation.type} ${clip(operation.path, MAX_SHOWN)}`;
    throw new FhirError(error.code, `Operation [${i}]${what}: ${error.message}`, {
      expression: `Parameters.parameter[${i}]${partOf(parameters[i], error.part)}`,
    });
  }
}

function partOf(parameter: JsonValue | undefined, name: string | undefined): string {
  const parts = (parameter as { readonly part?: unknown } | null | undefined)?.part;
  const index = Array.isArray(parts) && name !== undefined ? parts.findIndex((part) => nameOf(part) === name) : -1;
  return index < 0 ? '' : `.part[${index}]`;
}

function nameOf(part: unknown): unknown {
  return (part as { readonly name?: unknown } | null | undefined)?.name;
}
