import type { XmlDocument } from '../../fhir/xml/xml-tree.js';
import { inOperation } from '../patch-fault.js';
import { MAX_PATCH_OPERATIONS, MAX_PATCH_WORK } from '../patch-limits.js';
import { add } from './xml-add.js';
import { WorkBudget } from './xml-fault.js';
import { locate } from './xml-locate.js';
import { readXmlOperations } from './xml-operation.js';
import { remove } from './xml-remove.js';
import { replace } from './xml-replace.js';

/** Bounds on what an XML Patch may ask for. */
export interface XmlPatchLimits {
  readonly maxOperations?: number;
  /** Nodes and characters looked at. */
  readonly maxWork?: number;
}

/**
 * Applies an XML Patch to a document. Both trees are used up: the document becomes the result, with nodes of the patch
 * in it, and is worth nothing where the patch fails. Whether the result is a resource is for others to see.
 * https://www.rfc-editor.org/rfc/rfc5261, https://hl7.org/fhir/R5/http.html#patch
 *
 * @throws FhirError that names the operation, by its index from 0, and its selector: `patch-invalid`, `patch-target`,
 * each with the condition of RFC 5261 as its detail, or `patch-too-large`
 */
export function patchTree(document: XmlDocument, patch: XmlDocument, limits: XmlPatchLimits = {}): void {
  const operations = readXmlOperations(patch, limits.maxOperations ?? MAX_PATCH_OPERATIONS);
  const work = new WorkBudget(limits.maxWork ?? MAX_PATCH_WORK);
  operations.forEach((operation, index) => {
    inOperation(index, operation.name, () => {
      const target = locate(document, operation.selector, operation.scope, work);
      if (operation.op === 'add') add(operation, target, work);
      else if (operation.op === 'replace') replace(operation, target, work);
      else remove(operation, target, work);
    });
  });
}
