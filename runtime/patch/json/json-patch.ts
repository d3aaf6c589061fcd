import { FhirError } from '../../fhir/errors.js';
import { DEFAULT_LIMITS } from '../../fhir/limits.js';
import type { JsonValue } from '../../fhir/resource.js';
import { checkDepth, CopyBudget } from './json-copy.js';
import { JsonDraft } from './json-draft.js';
import { testEqual } from './json-equal.js';
import { readOperations, type JsonOperation } from './json-operation.js';
import { END, isWithin, printPointer, type JsonPointer } from './json-pointer.js';
import { inOperation, PatchFault } from '../patch-fault.js';
import { MAX_PATCH_OPERATIONS } from '../patch-limits.js';

/** Bounds on what a JSON Patch may ask for. */
export interface JsonPatchLimits {
  readonly maxOperations?: number;
  /** What all `copy` operations together may add, in characters. */
  readonly maxCopied?: number;
  /** Objects and arrays within each other. */
  readonly maxDepth?: number;
  /** Whether lists are as FHIR has them, which knows no empty ones; absent: as RFC 6902 has them. */
  readonly hasFhirLists?: boolean;
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
  const { maxOperations = MAX_PATCH_OPERATIONS, maxDepth = DEFAULT_LIMITS.nesting, hasFhirLists = false } = limits;
  const operations = readOperations(patch, maxOperations, maxDepth);
  const draft = new JsonDraft(document);
  const budget = new CopyBudget(limits.maxCopied ?? DEFAULT_LIMITS.resource, maxDepth);
  operations.forEach((operation, index) => {
    inOperation(index, operation.name, () => apply(draft, operation, budget, hasFhirLists ? addTo : addAt));
  });
  if (hasFhirLists) draft.dropEmptied();
  try {
    checkDepth(draft.document, maxDepth);
  } catch (error) {
    throw error instanceof PatchFault ? new FhirError(error.code, `What the patch makes: ${error.message}`) : error;
  }
  return draft.document;
}

type Add = (draft: JsonDraft, path: JsonPointer, value: JsonValue) => void;

function apply(draft: JsonDraft, operation: JsonOperation, budget: CopyBudget, add: Add): void {
  const { path } = operation;
  switch (operation.op) {
    case 'add':
      add(draft, path, operation.value);
      break;
    case 'replace':
      draft.replace(path, operation.value);
      break;
    case 'remove':
      draft.remove(path);
      break;
    case 'copy':
      add(draft, path, budget.copy(draft.get(operation.from)));
      break;
    case 'move':
      if (isWithin(operation.from, path)) {
        throw new PatchFault('patch-target', `${printPointer(operation.from)} cannot be moved into itself`);
      }
      move(draft, operation, add);
      break;
    case 'test':
      if (!testEqual(valueAt(draft, path), operation.value)) {
        throw new PatchFault('patch-test-failed', 'the value is another one');
      }
      break;
  }
}

/** The value that a test looks at: where there is none, the test fails. */
function valueAt(draft: JsonDraft, path: JsonPointer): JsonValue {
  try {
    return draft.get(path);
  } catch (error) {
    throw error instanceof PatchFault ? new PatchFault('patch-test-failed', error.message) : error;
  }
}

const addAt: Add = (draft, path, value) => draft.add(path, value);

/** As RFC 6902 has it, but that the end of a list that a resource lacks is the first item of one: FHIR knows no empty lists. */
function addTo(draft: JsonDraft, path: JsonPointer, value: JsonValue): void {
  const list = path.slice(0, -1);
  if (path.at(-1) === END && list.length > 0 && !draft.has(list)) draft.add(list, [value]);
  else draft.add(path, value);
}

function move(draft: JsonDraft, { from, path }: JsonOperation & { readonly op: 'move' | 'copy' }, add: Add): void {
  if (from.length === 0) draft.get(path);
  else add(draft, path, draft.remove(from));
}
