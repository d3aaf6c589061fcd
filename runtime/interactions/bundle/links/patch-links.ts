import type { SentPatch } from '../../../patch/sent-patch.js';
import { findFhirPathPatchLinks } from './fhirpath-patch-links.js';
import { findJsonPatchLinks } from './json-patch-links.js';
import type { Link, LinkFinder } from './links.js';
import { attemptOrIgnore } from '../../../fhir/attempt.js';

/**
 * Links in the values of a patch, not in its paths. A value has the links that it would have in a resource of the type; if
 * the patch does not determine the type of an element, the rules of `link-spot.ts` apply.
 *
 * @param type of the resource that is patched
 */
export async function findPatchLinks(patch: SentPatch, type: string, finder: LinkFinder): Promise<readonly Link[]> {
  switch (patch.format) {
    case 'json':
      return findJsonPatchLinks(patch.patch, type, finder);
    case 'fhirpath':
      return findFhirPathPatchLinks(patch.parameters, type, finder);
    case 'xml':
      return findXmlPatchLinks(patch, type, finder);
  }
}

/** Links in the tree of an XML Patch. The last one prints the tree, with the replaced links, as the text of the patch. */
async function findXmlPatchLinks(
  patch: SentPatch & { readonly format: 'xml' },
  type: string,
  finder: LinkFinder,
): Promise<readonly Link[]> {
  const [{ checkXmlPatchSize }, { readTree }, { writeTree }, { readXmlOperations }, { findXmlLinks }, limits] =
    await Promise.all([
      import('../../../patch/apply/xml-patch-size.js'),
      import('../../../format/xml/read-tree.js'),
      import('../../../format/xml/write-tree.js'),
      import('../../../patch/xml/xml-operation.js'),
      import('./xml-patch-links.js'),
      import('../../../patch/patch-limits.js'),
    ]);
  const read = () => {
    checkXmlPatchSize('', patch.text);
    const tree = readTree(patch.text);
    return { tree, operations: readXmlOperations(tree, limits.MAX_PATCH_OPERATIONS) };
  };
  const sent = attemptOrIgnore(read);
  const links = sent?.operations.flatMap((operation) => findXmlLinks(operation, type, finder)) ?? [];
  if (sent === undefined || links.length === 0) return [];
  const print = (): string => writeTree(sent.tree);
  return [...links, { holder: patch, key: 'text', text: patch.text, to: { print } }];
}
