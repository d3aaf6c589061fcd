import { isObject, type JsonObject } from '../../../fhir/resource.js';
import type { XmlNode } from '../../../fhir/xml/xml-tree.js';
import { removeNode } from '../../../patch/xml/xml-edit.js';

/** https://hl7.org/fhir/extensions/StructureDefinition-resolve-as-version-specific.html */
const RESOLVE = 'http://hl7.org/fhir/StructureDefinition/resolve-as-version-specific';

/**
 * Whether a Reference asks the server to add the version that its target has after the transaction. The extension that asks
 * is removed, as the specification requires. https://hl7.org/fhir/R5/http.html#trules
 */
export function takeVersionRequest(reference: JsonObject): boolean {
  const { extension } = reference;
  if (!Array.isArray(extension)) return false;
  const others = extension.filter(
    (each) => !(isObject(each) && each['url'] === RESOLVE && each['valueBoolean'] === true),
  );
  if (others.length === extension.length) return false;
  if (others.length === 0) delete reference['extension'];
  else reference['extension'] = others;
  return true;
}

/** As `takeVersionRequest`, for a Reference in the content of an XML Patch. @param children of the Reference */
export function takeXmlVersionRequest(children: readonly XmlNode[]): boolean {
  const asking = children.filter(
    (node) =>
      node.kind === 'element' &&
      node.name.local === 'extension' &&
      node.attributes.some(({ local, value }) => local === 'url' && value === RESOLVE) &&
      node.children.some(
        (child) =>
          child.kind === 'element' &&
          child.name.local === 'valueBoolean' &&
          child.attributes.some(({ local, value }) => local === 'value' && value.trim() === 'true'),
      ),
  );
  for (const node of asking) removeNode(node);
  return asking.length > 0;
}
