import type { XmlElement, XmlNode } from '../../../fhir/xml/xml-tree.js';
import { touch } from '../../../patch/xml/xml-edit.js';
import type { XmlOperation } from '../../../patch/xml/xml-operation.js';
import type { XmlStep } from '../../../patch/xml/xml-selector.js';
import { childSpot, NOTHING, rootSpot, spotTarget, UNKNOWN, type Spot } from './link-spot.js';
import { findWithRest, pushLink, type Link, type LinkFinder } from './links.js';
import { takeXmlVersionRequest } from './version-request.js';

const XHTML: Spot = { place: 'xhtml' };
/** Elements of a narrative with a URL, and the attributes that have it. */
const LINKING: ReadonlySet<string> = new Set(['a', 'img']);
const LEADING: ReadonlySet<string> = new Set(['href', 'src']);

/**
 * Links in the content of an operation of an XML Patch. Nodes with a link are marked as changed.
 *
 * @param type of the resource that is patched
 */
export function findXmlLinks(operation: XmlOperation, type: string, finder: LinkFinder): readonly Link[] {
  if (operation.op === 'remove' || type === 'Bundle') return [];
  const { element, selector } = operation;
  const out: Link[] = [];
  const last = selector.steps.at(-1);
  const above = place(selector.steps.slice(0, -1), type, finder);
  const at = last?.kind === 'element' || last?.kind === 'id' ? place(selector.steps, type, finder) : above;
  if (operation.op === 'add' && operation.type !== undefined) {
    if (operation.type.kind === 'attribute') text(element, operation.type.name.local, at, finder, out);
  } else if (last?.kind === 'attribute') text(element, last.name.local, above, finder, out);
  else walk(element.children, operation.op === 'replace' || isBeside(operation) ? above.spot : at.spot, finder, out);
  return out;
}

function isBeside(operation: XmlOperation): boolean {
  return operation.op === 'add' && (operation.pos === 'before' || operation.pos === 'after');
}

/** An element that a selector leads to. */
interface Placed {
  readonly spot: Spot;
  readonly name: string;
}

function place(steps: readonly XmlStep[], type: string, finder: LinkFinder): Placed {
  // The document node may have a resource of any type as its root.
  let at: Placed = { spot: { place: 'resource' }, name: '' };
  steps.forEach((step, i) => {
    const name = step.kind === 'element' ? step.name?.local : undefined;
    if (i === 0 && step.kind === 'element') at = { spot: rootSpot(type, finder), name: type };
    else at = { spot: name === undefined ? anyChild(at.spot) : child(at.spot, name, finder), name: name ?? '' };
  });
  return at;
}

function anyChild({ place: own }: Spot): Spot {
  return own === 'xhtml' ? XHTML : UNKNOWN;
}

function child(spot: Spot, name: string, finder: LinkFinder): Spot {
  const { place: own } = spot;
  if (own === 'xhtml') return XHTML;
  // Only types begin with a capital.
  if (own === 'resource' || (own === 'unknown' && /^[A-Z]/.test(name))) return rootSpot(name, finder);
  if (own === 'unknown' && name === 'div') return XHTML;
  return childSpot(spot, name);
}

function walk(nodes: readonly XmlNode[], spot: Spot, finder: LinkFinder, out: Link[]): void {
  // A copy, because the extension that asks for a version is removed.
  for (const node of [...nodes]) {
    if (node.kind !== 'element') continue;
    const name = node.name.local;
    const own = child(spot, name, finder);
    if (own === NOTHING) continue;
    for (const attribute of node.attributes) {
      if (attribute.prefix !== '') continue;
      const isVersioned =
        own.place === 'reference' && attribute.local === 'value' && takeXmlVersionRequest(node.parent?.children ?? []);
      const to = target(attribute, 'value', attribute.local, own, name, finder);
      const before = out.length;
      pushLink(out, { holder: attribute, key: 'value', text: attribute.value, to }, isVersioned, finder);
      if (out.length > before) touch(node);
    }
    walk(node.children, own, finder, out);
  }
}

/** Links in the text of an operation that becomes the value of an attribute. */
function text(operation: XmlElement, attribute: string, { spot, name }: Placed, finder: LinkFinder, out: Link[]): void {
  for (const node of operation.children) {
    if (node.kind !== 'text') continue;
    const to = target(node, 'text', attribute, spot, name, finder);
    if (to === undefined) continue;
    out.push({ holder: node, key: 'text', text: node.text, to });
    touch(operation);
  }
}

/** Adds the link in the value of an attribute, if it is one. @param holder has the value under `key` */
function target(
  holder: object,
  key: 'value' | 'text',
  attribute: string,
  spot: Spot,
  name: string,
  finder: LinkFinder,
): Link['to'] | undefined {
  const value = (holder as Record<string, string>)[key] ?? '';
  if (spot.place !== 'xhtml') {
    return attribute === 'value' ? spotTarget(holder, key, value, spot, name, finder) : undefined;
  }
  const leads = LEADING.has(attribute) && (LINKING.has(name) || name === '');
  return leads ? findWithRest(value.trim(), finder) : undefined;
}
