import { errorOutcome } from '../../fhir/operation-outcome.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { XhtmlFault } from '../../fhir/xml/xhtml.js';
import { unwritableCharacter } from '../../fhir/xml/xml-characters.js';
import {
  elementIndex,
  type ElementIndex,
  type FormatTables,
  type Property,
  type TypeProperties,
} from './element-index.js';
import { escapeAttribute, FHIR_NAMESPACE } from './escape.js';
import { primitiveText } from './primitive-text.js';
import { XmlError, xmlIssue } from './xml-error.js';
import { embedXhtml } from './xhtml.js';

/** How XML is laid out. */
export interface XmlLayout {
  /** Each element on a line of its own, indented by two spaces; else all on one line. */
  readonly pretty?: boolean;
}

/**
 * Writes a resource as XML, elements in the order of the rows. Narratives go out verbatim, once they have been seen to be
 * well-formed. https://hl7.org/fhir/R5/xml.html
 *
 * @throws FhirError `not-acceptable`, with FHIRPath, when the resource has no form in XML: a control character, a
 * narrative that is not well-formed, or a structure that the validator refuses (properties that its type does not have,
 * values of another kind). Nothing is left out or altered silently. Only in a Bundle that the server has put together of
 * what it found (a history, the result of a search, the answer to a batch or transaction: it has no id) an OperationOutcome stands for such a resource, so
 * that one of them does not keep all others from being read.
 */
export function writeXml(resource: Resource, tables: FormatTables, layout: XmlLayout = {}): string {
  return new XmlWriter(elementIndex(tables), layout.pretty ?? false).document(resource);
}

/**
 * Writes a Bundle as `writeXml` does, entry by entry.
 *
 * @param bundle without its entries
 */
export function writeXmlBundle(
  bundle: Resource,
  entries: Iterable<JsonValue>,
  tables: FormatTables,
  layout: XmlLayout = {},
): Generator<string> {
  return new XmlWriter(elementIndex(tables), layout.pretty ?? false).bundle(bundle, entries);
}

/** Steps of `Bundle.entry[0].resource`. */
const RESULT_DEPTH = 3;

/** Names of JSON that XML says otherwise, or not at all. */
const NO_ELEMENTS: ReadonlySet<string> = new Set(['resourceType', 'resourceDefinition']);

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

class XmlWriter {
  private out = DECLARATION;
  /** FHIRPath of what is being written, in pieces. */
  private readonly path: string[] = [];
  /** Whether this is a Bundle of results. */
  private isResults = false;

  constructor(
    private readonly index: ElementIndex,
    private readonly pretty: boolean,
  ) {}

  document(resource: Resource): string {
    this.path.push(String(resource.resourceType));
    this.isResults = isResults(resource);
    this.resource(resource, '\n', ` xmlns="${FHIR_NAMESPACE}"`);
    return this.pretty ? `${this.out}\n` : this.out;
  }

  *bundle(bundle: Resource, entries: Iterable<JsonValue>): Generator<string> {
    const name = String(bundle.resourceType);
    const type = this.index.of(name);
    const list = type.byName.get('entry')!;
    const properties = this.propertiesOf(bundle, type);
    this.path.push(name);
    this.isResults = isResults(bundle);
    this.line('\n', `<${name} xmlns="${FHIR_NAMESPACE}">`);
    for (const each of properties) if (each.order < list.order) this.property(bundle, each, '\n  ');
    let n = 0;
    for (const entry of entries) {
      this.value(list, entry, undefined, `${list.row.name}[${n++}]`, '\n  ');
      yield this.taken();
    }
    for (const each of properties) if (each.order > list.order) this.property(bundle, each, '\n  ');
    this.line('\n', `</${name}>`);
    yield this.pretty ? `${this.out}\n` : this.out;
  }

  private taken(): string {
    const text = this.out;
    this.out = '';
    return text;
  }

  private resource(resource: JsonValue, lineEnd: string, namespace: string): void {
    const name = isObject(resource) ? resource['resourceType'] : undefined;
    if (!isObject(resource) || typeof name !== 'string' || !this.index.isResourceType(name)) {
      return this.fail('it is no resource of a type that is known');
    }
    this.element(name, namespace, resource, this.index.of(name), lineEnd);
  }

  /** An element with the children that its object has. `lineEnd` is the line feed and the spaces before its tags. */
  private element(name: string, attributes: string, object: JsonObject, type: TypeProperties, lineEnd: string): void {
    const properties = this.propertiesOf(object, type);
    let start = `<${name}${attributes}`;
    for (const property of properties) {
      if (property.attribute) start += ` ${property.name}="${this.attributeText(object, property)}"`;
    }
    if (properties.every(({ attribute }) => attribute)) return this.line(lineEnd, `${start}/>`);
    this.line(lineEnd, `${start}>`);
    const inner = `${lineEnd}  `;
    for (const property of properties) {
      if (!property.attribute) this.property(object, property, inner);
    }
    this.line(lineEnd, `</${name}>`);
  }

  /** The properties that the object has, in the order of XML; a value and its extensions count once. */
  private propertiesOf(object: JsonObject, type: TypeProperties): readonly Property[] {
    const found: Property[] = [];
    let isSorted = true;
    for (const key of Object.keys(object)) {
      if (object[key] === undefined || (type.isResource && NO_ELEMENTS.has(key))) continue;
      const isSibling = key.startsWith('_');
      if (isSibling && object[key.slice(1)] !== undefined) continue;
      const property = type.byName.get(isSibling ? key.slice(1) : key);
      if (property === undefined || (isSibling && property.kind !== 'primitive')) {
        return this.fail(`${type.name} has no property "${key}"`);
      }
      if (found.length > 0 && found.at(-1)!.order > property.order) isSorted = false;
      found.push(property);
    }
    return isSorted ? found : found.sort((a, b) => a.order - b.order);
  }

  private property(object: JsonObject, property: Property, lineEnd: string): void {
    const value = object[property.name];
    const extra = property.kind === 'primitive' ? object[`_${property.name}`] : undefined;
    if (!property.list) {
      this.value(property, value, extra, property.row.name, lineEnd);
      return;
    }
    const values = value ?? [];
    const extras = extra ?? [];
    if (!Array.isArray(values) || !Array.isArray(extras)) {
      return this.fail(`"${property.name}" repeats and has to be an array`);
    }
    for (let i = 0; i < Math.max(values.length, extras.length); i++) {
      this.value(property, values[i] ?? undefined, extras[i] ?? undefined, `${property.row.name}[${i}]`, lineEnd);
    }
  }

  private value(
    property: Property,
    value: JsonValue | undefined,
    extra: JsonValue | undefined,
    step: string,
    lineEnd: string,
  ): void {
    const { name } = property;
    this.path.push(step);
    if (property.kind === 'primitive') {
      this.primitive(property, value, extra, lineEnd);
    } else if (property.kind === 'xhtml') {
      this.line(lineEnd, this.narrative(value));
    } else if (!isObject(value)) {
      this.fail('it has to be an object');
    } else if (property.kind === 'object') {
      this.element(name, '', value, this.index.of(property.type), lineEnd);
    } else {
      this.line(lineEnd, `<${name}>`);
      this.inner(value, `${lineEnd}  `);
      this.line(lineEnd, `</${name}>`);
    }
    this.path.pop();
  }

  /** A resource in an element. */
  private inner(value: JsonValue | undefined, lineEnd: string): void {
    const { length } = this.out;
    const depth = this.path.length;
    try {
      this.resource(value ?? null, lineEnd, '');
    } catch (error) {
      if (!this.isResults || depth !== RESULT_DEPTH || !(error instanceof XmlError)) throw error;
      this.out = this.out.slice(0, length);
      this.path.length = depth;
      this.resource(errorOutcome(error), lineEnd, '');
    }
  }

  private primitive(
    property: Property,
    value: JsonValue | undefined,
    extra: JsonValue | undefined,
    lineEnd: string,
  ): void {
    const attribute = value === undefined ? '' : ` value="${this.text(property, value)}"`;
    if (extra === undefined) {
      if (value === undefined) this.fail('it has neither value nor extension');
      this.line(lineEnd, `<${property.name}${attribute}/>`);
    } else {
      if (!isObject(extra)) return this.fail(`"_${property.name}" has to be an object`);
      this.element(property.name, attribute, extra, this.index.of('Element'), lineEnd);
    }
  }

  private attributeText(object: JsonObject, property: Property): string {
    this.path.push(property.row.name);
    if (object[`_${property.name}`] !== undefined) this.fail('an attribute has no extensions');
    const text = this.text(property, object[property.name] ?? null);
    this.path.pop();
    return text;
  }

  private text(property: Property, value: JsonValue): string {
    const text = primitiveText(property.primitive!, value);
    if (text === undefined) return this.fail(`it has to be a ${property.primitive!.json} (${property.type})`);
    return escapeAttribute(text) ?? this.fail(`XML cannot hold the character ${unwritableCharacter(text)}`);
  }

  private narrative(value: JsonValue | undefined): string {
    if (typeof value !== 'string') return this.fail('it has to be a string (xhtml)');
    try {
      return embedXhtml(value);
    } catch (error) {
      if (error instanceof XhtmlFault) return this.fail(`the narrative is not well-formed: ${error.message}`);
      throw error;
    }
  }

  private line(lineEnd: string, text: string): void {
    this.out += this.pretty ? lineEnd + text : text;
  }

  private fail(text: string): never {
    const path = this.path.join('.');
    throw new XmlError([xmlIssue('unwritable', `The resource cannot be written as XML: ${path}: ${text}`, path)]);
  }
}

const RESULTS = new Set(['history', 'searchset', 'batch-response', 'transaction-response']);

/** What is stored has an id; what is put together for one answer has none. */
function isResults({ resourceType, id, type }: Resource): boolean {
  return resourceType === 'Bundle' && id === undefined && RESULTS.has(String(type));
}
