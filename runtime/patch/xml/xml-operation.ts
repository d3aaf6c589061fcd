import {
  rootOf,
  xmlName,
  type XmlAttribute,
  type XmlDocument,
  type XmlElement,
  type XmlName,
} from '../../fhir/xml/xml-tree.js';
import { FhirError } from '../../fhir/errors.js';
import { inOperation } from '../patch-fault.js';
import { clip, quote } from '../../fhir/quote.js';
import { xmlFault } from './xml-fault.js';
import { elementUri, scopeIn, type XmlScope } from './xml-scope.js';
import { readSelector, type XmlSelector } from './xml-selector.js';

/** Where nodes are added: without, behind the children of the target. */
export type XmlPlace = 'before' | 'after' | 'prepend';
/** On which side of a node white space is removed with it. */
export type XmlSpace = 'before' | 'after' | 'both';

/** One operation of an XML Patch. https://www.rfc-editor.org/rfc/rfc5261#section-4 */
export type XmlOperation = {
  /** For messages. */
  readonly name: string;
  readonly selector: XmlSelector;
  /** The element that asks for it; its children are the content. */
  readonly element: XmlElement;
  /** What prefixes mean in it. */
  readonly scope: XmlScope;
} & (
  | { readonly op: 'add'; readonly pos: XmlPlace | undefined; readonly type: AddedType | undefined }
  | { readonly op: 'replace' }
  | { readonly op: 'remove'; readonly ws: XmlSpace | undefined }
);

/** Kinds of additions that are no nodes: an attribute, or the declaration of a namespace. */
export type AddedType =
  { readonly kind: 'attribute'; readonly name: XmlName } | { readonly kind: 'namespace'; readonly prefix: string };

const ROOTS: readonly string[] = ['diff', 'patch'];
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  add: ['sel', 'pos', 'type'],
  replace: ['sel'],
  remove: ['sel', 'ws'],
};

/**
 * Reads the operations of an XML Patch: the children `add`, `replace` and `remove` of its root, `diff` or as RFC 7351
 * has it `patch`, in its namespace or in none.
 *
 * @throws FhirError `patch-invalid`; `patch-too-large` for more than `maxOperations`
 */
export function readXmlOperations(patch: XmlDocument, maxOperations: number): readonly XmlOperation[] {
  const root = rootOf(patch);
  if (!ROOTS.includes(root.name.local)) {
    const text = `An XML Patch is a <diff> of <add>, <replace> and <remove>, this is a ${quote(xmlName(root.name))}`;
    throw FhirError.of([{ code: 'patch-invalid', text, detail: 'invalid-diff-format' }]);
  }
  if (root.children.some((node) => node.kind === 'text' && /[^ \t\r\n]/.test(node.text))) {
    const text = 'There is text between the operations of the patch';
    throw FhirError.of([{ code: 'patch-invalid', text, detail: 'invalid-diff-format' }]);
  }
  const elements = root.children.filter((node) => node.kind === 'element');
  if (elements.length > maxOperations) {
    const text = `The patch has ${elements.length} operations; ${maxOperations} are allowed`;
    throw new FhirError('patch-too-large', text);
  }
  const uri = elementUri(scopeIn(root), root.name);
  return elements.map((element, index) => {
    const sel = element.attributes.find(({ prefix, local }) => prefix === '' && local === 'sel')?.value;
    const name = `${clip(element.name.local, 40)} ${sel === undefined ? 'without "sel"' : quote(sel)}`;
    return inOperation(index, name, () => readOperation(element, name, uri));
  });
}

function readOperation(element: XmlElement, name: string, rootUri: string): XmlOperation {
  const op = element.name.local;
  const scope = scopeIn(element);
  const uri = elementUri(scope, element.name);
  const known = ATTRIBUTES[op];
  if (!Object.hasOwn(ATTRIBUTES, op) || known === undefined || (uri !== '' && uri !== rootUri)) {
    throw xmlFault('invalid-patch-directive', 'operations are add, replace and remove, in the namespace of the root');
  }
  const attributes = element.attributes.filter(({ prefix }) => prefix === '');
  const unknown = attributes.find(({ local }) => !known.includes(local));
  if (unknown !== undefined) {
    const text = `${op} has no attribute ${quote(unknown.local)}; it has ${known.join(', ')}`;
    throw xmlFault('invalid-patch-directive', text);
  }
  const sel = valueOf(attributes, 'sel');
  if (sel === undefined) throw xmlFault('invalid-attribute-value', 'it has no attribute "sel", which says where');
  const common = { name, selector: readSelector(sel), element, scope };
  if (op === 'replace') return { ...common, op };
  if (op === 'remove') return { ...common, op, ws: oneOf(attributes, 'ws', ['before', 'after', 'both']) };
  const type = valueOf(attributes, 'type');
  const pos = oneOf(attributes, 'pos', ['before', 'after', 'prepend']);
  if (pos !== undefined && type !== undefined) {
    throw xmlFault('invalid-patch-directive', '"pos" is for nodes; what "type" adds has no place');
  }
  return { ...common, op: 'add', pos, type: type === undefined ? undefined : readType(type) };
}

function valueOf(attributes: readonly XmlAttribute[], name: string): string | undefined {
  return attributes.find(({ local }) => local === name)?.value;
}

function oneOf<T extends string>(
  attributes: readonly XmlAttribute[],
  name: string,
  values: readonly T[],
): T | undefined {
  const value = valueOf(attributes, name);
  if (value === undefined) return undefined;
  const found = values.find((each) => each === value);
  if (found !== undefined) return found;
  throw xmlFault('invalid-attribute-value', `"${name}" is one of ${values.join(', ')}, not ${quote(value)}`);
}

function readType(text: string): AddedType {
  const [step, ...others] = readSelector(text).steps;
  if (others.length === 0 && !text.includes('/') && step?.kind === 'attribute')
    return { kind: 'attribute', name: step.name };
  if (others.length === 0 && !text.includes('/') && step?.kind === 'namespace')
    return { kind: 'namespace', prefix: step.prefix };
  throw xmlFault('invalid-attribute-value', `"type" is @name or namespace::prefix, not ${quote(text)}`);
}
