import { readTree } from '../../format/xml/read-tree.js';
import { writeTree } from '../../format/xml/write-tree.js';
import { patchTree, type XmlPatchLimits } from '../xml/xml-patch.js';

/**
 * Applies an XML Patch to the XML text of a resource. Text that the patch does not touch keeps every character.
 * https://hl7.org/fhir/R5/http.html#patch
 *
 * @throws FhirError as `patchTree`; as `readTree` for a patch that is not XML
 */
export function applyXmlPatch(resource: string, patch: string, limits?: XmlPatchLimits): string {
  const changes = readTree(patch);
  const document = readTree(resource);
  patchTree(document, changes, limits);
  return writeTree(document);
}
