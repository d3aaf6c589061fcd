import { FhirError } from '../../../fhir/errors.js';
import { DEFAULT_LIMITS } from '../../../fhir/limits.js';
import type { JsonValue } from '../../../fhir/resource.js';
import { checkDepth, CopyBudget } from './json-copy.js';
import { JsonDraft } from './json-draft.js';
import { testEqual } from './json-equal.js';
import { readOperations, type JsonOperation } from './json-operation.js';
import { isWithin, printPointer } from './json-pointer.js';
import { inOperation, PatchFault } from '../patch-fault.js';
import { MAX_PATCH_OPERATIONS } from '../patch-limits.js';

/** Bounds on what a JSON Patch may ask for. */
export interface JsonPatchLimits {
  readonly maxOperations?: number;
  /** What all `copy` operations together may add, in characters. */
  readonly maxCopied?: number;
  /** Objects and arrays within each other. */
  readonly maxDepth?: number;
}

/**
 * Applies a JSON Patch, whole or not at all. Neither tree is changed, but the result may share parts with both. Whether
 * it is still a resource is for others to see.
 * https://www.rfc-editor.org/rfc/rfc6902, https://hl7.org/fhir/R5/http.html#patch
 *
 * @throws FhirError that names the operation, by its index from 0, and the path: `patch-invalid` (a patch that RFC 6902
 * does not allow), `patch-target` (a path that leads nowhere, or where nothing can be), `patch-test-failed`,
 * `json-forbidden-key`, `patch-too-large`, `resource-too-large`
 */
export function applyJsonPatch(document: JsonValue, patch: JsonValue, limits: JsonPatchLimits = {}): JsonValue {
  const { maxOperations = MAX_PATCH_OPERATIONS, maxDepth = DEFAULT_LIMITS.nesting } = limits;
  const operations = readOperations(patch, maxOperations, maxDepth);
  const draft = new JsonDraft(document);
  const budget = new CopyBudget(limits.maxCopied ?? DEFAULT_LIMITS.resource, maxDepth);
  operations.forEach((operation, index) => {
    inOperation(index, operation.name, () => apply(draft, operation, budget));
  });
  try {
    checkDepth(draft.document, maxDepth);
  } catch (error) {
    throw error instanceof PatchFault ? new FhirError(error.code, `What the patch makes: ${error.message}`) : error;
  }
  return draft.document;
}

function apply(draft: JsonDraft, operation: JsonOperation, budget: CopyBudget): void {
  const { path } = operation;
  switch (operation.op) {
    case 'add':
      draft.add(path, operation.value);
      break;
    case 'replace':
      draft.replace(path, operation.value);
      break;
    case 'remove':
      draft.remove(path);
      break;
    case 'copy':
      draft.add(path, budget.copy(draft.get(operation.from)));
      break;
    case 'move':
      if (isWithin(operation.from, path)) {
        throw new PatchFault('patch-target', `${printPointer(operation.from)} cannot be moved into itself`);
      }
      move(draft, operation);
      break;
    case 'test':
      if (!testEqual(draft.get(path), operation.value)) {
        throw new PatchFault('patch-test-failed', 'the value is another one');
      }
      break;
  }
}

function move(draft: JsonDraft, { from, path }: JsonOperation & { readonly op: 'move' | 'copy' }): void {
  if (from.length === 0) draft.get(path);
  else draft.add(path, draft.remove(from));
}
