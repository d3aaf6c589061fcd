import type { Issue } from '../../fhir/errors.js';
import { nearest } from '../../fhir/nearest.js';
import type { JsonObject, JsonValue, Resource } from '../../fhir/resource.js';
import { MAX_XHTML_DEPTH, XHTML_NAMESPACE } from '../../fhir/xml/xhtml.js';
import { XMLNS_NAMESPACE } from '../../fhir/xml/xml-tree.js';
import type { ElementIndex, Property, TypeProperties } from './element-index.js';
import { FHIR_NAMESPACE } from './escape.js';
import { NarrativeReader } from './narrative-reader.js';
import { XmlRefusal, type XmlParser, type XmlTag } from './open-parser.js';
import { Places } from './places.js';
import { parsePrimitive } from './primitive-text.js';
import { XmlError, xmlIssue } from './xml-error.js';
import { clip } from '../../fhir/quote.js';

const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

/** An element that is open, and what has been read of it. */
class Frame {
  readonly object: JsonObject = {};
  /** Whether it has anything: attributes, a value or children. */
  hasContent = false;
  value: JsonValue | undefined;
  /** The child that came last, and how many of it in a row. */
  last: Property | undefined;
  /** Of the children so far that whose place is the last. */
  furthest: Property | undefined;
  run = 0;
  seen: Set<Property> | undefined;
  /** Lists of primitives in which a value is missing. */
  gaps: Set<string> | undefined;
  saidOfText = false;

  constructor(
    readonly parent: Frame | undefined,
    /** What it is of its parent; undefined for the resource in an element of type Resource, and for the outermost. */
    readonly property: Property | undefined,
    /** Its place in the list; -1 where there is none. */
    readonly index: number,
    /** What it may hold: of a primitive, what every element may; undefined for an element that holds a resource. */
    readonly type: TypeProperties | undefined,
    /** Depth of its object in JSON. */
    readonly depth: number,
    /** Where its start tag ends. */
    readonly end: number,
  ) {}
}

/** Builds the JSON of a resource from the tags of its XML, and collects what is wrong. */
export class ResourceBuilder {
  private readonly issues: Issue[] = [];
  private readonly places: Places;
  private frame: Frame | undefined;
  private root: JsonObject | undefined;
  /** Elements open below one that is not read any further. */
  private skipped = 0;
  private narrative: NarrativeReader | undefined;
  /** Where the last tag ended. */
  private mark = 0;

  constructor(
    private readonly source: string,
    private readonly index: ElementIndex,
    private readonly parser: XmlParser,
    private readonly maxDepth: number,
    private readonly maxIssues: number,
    private readonly anyOrder: boolean,
  ) {
    this.places = new Places(source);
  }

  /** The resource, once the document has ended. Throws `XmlError` with all issues if there are any. */
  result(): Resource {
    const [first, ...rest] = this.issues;
    if (first !== undefined) throw new XmlError([first, ...rest]);
    return this.root as Resource;
  }

  /** What to throw where the document ends too early: the issues so far, and this one. */
  failure(last: Issue): XmlError {
    const [first = last, ...rest] = [...this.issues, last];
    return new XmlError([first, ...rest]);
  }

  /** Whether the parser is within the `div` of a narrative. */
  get isInNarrative(): boolean {
    return this.narrative !== undefined;
  }

  /** Takes a start tag. */
  open(tag: XmlTag): void {
    this.mark = this.parser.position;
    if (this.narrative !== undefined) {
      if (this.narrative.depth >= MAX_XHTML_DEPTH) {
        const text = `elements are nested too deeply (${MAX_XHTML_DEPTH} levels in a narrative)`;
        throw new XmlRefusal('depth', text, this.tagStart());
      }
      const fault = this.narrative.open(tag);
      if (fault !== undefined) this.report(fault, this.pathTo(this.frame!, this.narrative.property, -1));
    } else if (this.skipped > 0) {
      this.skip();
    } else if (this.frame === undefined) {
      this.openResource(tag, undefined);
    } else if (this.frame.type === undefined) {
      this.openInner(tag, this.frame);
    } else {
      this.openChild(tag, this.frame, this.frame.type);
    }
  }

  /** Takes an end tag, which the parser has matched with its start tag. */
  close(): void {
    this.mark = this.parser.position;
    const frame = this.frame;
    if (this.narrative !== undefined) {
      const div = this.narrative.close(this.source, this.parser.position);
      if (div === undefined) return;
      this.put(frame!, this.narrative.property, div, undefined);
      this.narrative = undefined;
    } else if (this.skipped > 0) {
      this.skipped--;
    } else if (frame !== undefined) {
      this.frame = frame.parent;
      this.leave(frame);
    }
  }

  /** Takes text between tags. */
  text(text: string): void {
    const frame = this.frame;
    if (this.narrative !== undefined || this.skipped > 0 || frame === undefined || frame.saidOfText) return;
    if (!/[^ \t\r\n]/.test(text)) return;
    frame.saidOfText = true;
    frame.hasContent = true;
    const at = this.mark + this.source.slice(this.mark).search(/[^ \t\r\n]/);
    this.report('there is text where only elements may be; values are in attributes', this.path(frame), at);
  }

  private openResource(tag: XmlTag, holder: Frame | undefined): void {
    const where = holder === undefined ? undefined : this.path(holder);
    if (tag.uri !== FHIR_NAMESPACE) {
      this.report(`a resource is in the namespace ${FHIR_NAMESPACE}, "${clip(tag.name)}" in ${space(tag)}`, where);
      this.skip();
    } else if (!this.index.isResourceType(tag.local)) {
      const text = `${this.here()}: there is no resource type "${clip(tag.local)}"`;
      this.add(xmlIssue('notResource', text, where));
      this.skip();
    } else {
      const frame = this.enter(
        holder,
        undefined,
        -1,
        this.index.of(tag.local),
        (holder?.depth ?? 0) + (holder ? 0 : 1),
      );
      frame.hasContent = true; // a resource may be empty
      frame.object['resourceType'] = tag.local;
      this.takeAttributes(tag, frame, undefined);
    }
  }

  /** The resource in an element such as `contained`. */
  private openInner(tag: XmlTag, holder: Frame): void {
    if (holder.value !== undefined) {
      this.report('there may be only one resource in one element', this.path(holder));
      this.skip();
      return;
    }
    holder.hasContent = true;
    this.openResource(tag, holder);
  }

  private openChild(tag: XmlTag, frame: Frame, type: TypeProperties): void {
    frame.hasContent = true;
    const property = type.byName.get(tag.local);
    const wanted = property?.kind === 'xhtml' ? XHTML_NAMESPACE : FHIR_NAMESPACE;
    if (property === undefined || property.attribute || tag.uri !== wanted) {
      this.report(unknownElement(tag, type, property, wanted), below(this.path(frame), tag.local));
      this.skip();
      return;
    }
    const isFirst = frame.last !== property;
    frame.run = isFirst ? 0 : frame.run + 1;
    frame.last = property;
    frame.seen ??= new Set();
    if (frame.seen.has(property) && (isFirst || !property.list)) {
      const rule = property.list ? 'elements of one name have to be together' : 'the element may appear only once';
      this.report(`"${property.name}": ${rule}`, this.pathTo(frame, property, -1));
      this.skip();
      return;
    }
    frame.seen.add(property);
    this.checkOrder(frame, property);
    const depth = frame.depth + (property.list ? 2 : 1);
    const index = property.list ? frame.run : -1;
    if (property.kind === 'xhtml') {
      this.narrative = new NarrativeReader(property, this.tagStart());
      this.open(tag);
    } else if (property.kind === 'primitive') {
      this.checkDepth(depth - 1);
      this.takeAttributes(
        tag,
        this.enter(frame, property, index, this.index.of('Element'), depth, depth - 1),
        property,
      );
    } else {
      const inner = property.kind === 'object' ? this.index.of(property.type) : undefined;
      this.takeAttributes(tag, this.enter(frame, property, index, inner, depth), undefined);
    }
  }

  /** Elements come in the order of their definition. https://hl7.org/fhir/R5/xml.html */
  private checkOrder(frame: Frame, property: Property): void {
    const { furthest } = frame;
    if (furthest === undefined || property.order >= furthest.order) {
      frame.furthest = property;
    } else if (!this.anyOrder && frame.run === 0) {
      const text = `"${property.name}" has to be before "${furthest.name}": in XML elements have an order`;
      this.report(text, this.pathTo(frame, property, -1));
    }
  }

  private enter(
    parent: Frame | undefined,
    property: Property | undefined,
    index: number,
    type: TypeProperties | undefined,
    depth: number,
    checked = depth,
  ): Frame {
    this.checkDepth(checked);
    return (this.frame = new Frame(parent, property, index, type, depth, this.parser.position));
  }

  private takeAttributes(tag: XmlTag, frame: Frame, primitive: Property | undefined): void {
    for (const name in tag.attributes) {
      const { value, uri, local } = tag.attributes[name]!;
      if (uri === XMLNS_NAMESPACE) continue;
      // Tools name the schema there; it says nothing about the resource.
      if (uri === SCHEMA_INSTANCE && frame.parent === undefined && /schemaLocation$/i.test(local)) continue;
      this.takeAttribute(frame, primitive, name, uri, value);
    }
  }

  private takeAttribute(frame: Frame, primitive: Property | undefined, name: string, uri: string, value: string): void {
    const property = uri === '' ? frame.type?.byName.get(name) : undefined;
    const isValue = primitive !== undefined && uri === '' && name === 'value';
    frame.hasContent = true;
    if (!isValue && !property?.attribute) {
      const owner = primitive?.type ?? frame.type?.name ?? frame.property?.type ?? 'it';
      const place = uri === '' ? below(this.path(frame), name) : this.path(frame);
      this.report(`${owner} has no attribute "${clip(name)}"`, place, this.tagStart());
      return;
    }
    const row = isValue ? primitive.primitive! : property!.primitive!;
    const parsed = value === '' ? undefined : parsePrimitive(row, value);
    if (parsed === undefined) {
      const what = value === '' ? 'is empty; leave it out' : `is no ${row.name}: "${clip(value)}"`;
      this.report(`the attribute "${name}" ${what}`, isValue ? this.path(frame) : this.pathTo(frame, property!, -1));
    } else if (isValue) {
      frame.value = parsed;
    } else {
      this.checkDepth(frame.depth);
      frame.object[name] = parsed;
    }
  }

  private leave(frame: Frame): void {
    if (!frame.hasContent) {
      const at = this.source.lastIndexOf('<', frame.end - 1);
      this.report('an element needs a value or children', this.path(frame), at);
      return;
    }
    for (const name of frame.gaps ?? []) {
      if ((frame.object[name] as JsonValue[]).every((value) => value === null)) delete frame.object[name];
    }
    const { parent, property } = frame;
    if (parent === undefined) this.root = frame.object;
    else if (property === undefined) parent.value = frame.object;
    else if (property.kind !== 'primitive') this.put(parent, property, frame.value ?? frame.object, undefined);
    else this.put(parent, property, frame.value, isEmpty(frame.object) ? undefined : frame.object);
  }

  /** Puts a value, and of a primitive the id and extensions, where JSON has it. */
  private put(parent: Frame, property: Property, value: JsonValue | undefined, extra: JsonObject | undefined): void {
    const { name, list } = property;
    const { object } = parent;
    const sibling = `_${name}`;
    if (!list) {
      if (value !== undefined) object[name] = value;
      if (extra !== undefined) object[sibling] = extra;
      return;
    }
    const values = (object[name] ??= []) as JsonValue[];
    const extras = object[sibling] as JsonValue[] | undefined;
    values.push(value ?? null);
    if (value === undefined) (parent.gaps ??= new Set()).add(name);
    if (extras !== undefined) extras.push(extra ?? null);
    else if (extra !== undefined) object[sibling] = [...Array<null>(values.length - 1).fill(null), extra];
  }

  private skip(): void {
    this.skipped++;
    this.checkDepth((this.frame?.depth ?? 0) + this.skipped);
  }

  private checkDepth(depth: number): void {
    if (depth <= this.maxDepth) return;
    throw new XmlRefusal('depth', `elements are nested too deeply (${this.maxDepth} levels in JSON)`, this.tagStart());
  }

  /** FHIRPath of an element: names without the types of choices, and places in lists. */
  private path(frame: Frame): string {
    if (frame.property !== undefined) return this.pathTo(frame.parent!, frame.property, frame.index);
    return frame.parent === undefined ? frame.type!.name : this.path(frame.parent);
  }

  private pathTo(frame: Frame, property: Property, index: number): string {
    return `${this.path(frame)}.${property.row.name}${index < 0 ? '' : `[${index}]`}`;
  }

  /** Where the tag that was read last begins; neither its name nor its attributes can have a "<". */
  private tagStart(): number {
    return this.source.lastIndexOf('<', this.parser.position - 1);
  }

  private here(): string {
    return this.places.of(this.tagStart());
  }

  private report(text: string, expression: string | undefined, at: number = this.tagStart()): void {
    this.add(xmlIssue('content', `${this.places.of(at)}: ${text}`, expression));
  }

  private add(issue: Issue): void {
    this.issues.push(issue);
    if (this.issues.length >= this.maxIssues) this.result();
  }
}

/** Expression of something that is unknown: its name where that is short and plain, as the validator has it for JSON. */
function below(path: string, name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name) ? `${path}.${name}` : path;
}

function unknownElement(tag: XmlTag, type: TypeProperties, property: Property | undefined, wanted: string): string {
  const name = clip(tag.name);
  if (tag.uri !== wanted) return `"${name}" has to be in the namespace ${wanted}, not in ${space(tag)}`;
  if (property !== undefined) return `"${name}" is an attribute of ${type.name}, not an element`;
  const near = [...type.byName.values()].filter(
    (other) =>
      !other.attribute && (other.row.name === tag.local || other.name.toLowerCase() === tag.local.toLowerCase()),
  );
  const names = near.slice(0, 4).map((other) => `"${other.name}"`);
  if (names.length === 0) {
    const elements = [...type.byName.values()].filter(({ attribute }) => !attribute);
    const meant = nearest(
      tag.local.slice(0, 64),
      elements.map((other) => other.name),
    );
    if (meant !== undefined) names.push(`"${meant}"`);
  }
  const hint = names.length === 0 ? '' : `; did you mean ${names.join(', ')}${near.length > 4 ? ', …' : ''}`;
  return `${type.name} has no element "${name}"${hint}`;
}

function space(tag: XmlTag): string {
  return tag.uri === '' ? 'none' : clip(tag.uri);
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}
