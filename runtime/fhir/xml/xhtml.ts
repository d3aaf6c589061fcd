import { isXmlCharacter, unwritableAt, unwritableCharacter } from './xml-characters.js';
import { clip } from '../quote.js';

/** The namespace of narratives. https://hl7.org/fhir/R5/narrative.html */
export const XHTML_NAMESPACE = 'http://www.w3.org/1999/xhtml';

/** How deep elements of a narrative may be nested, its div included. */
export const MAX_XHTML_DEPTH = 100;

/** The first thing that is wrong with a narrative. */
export class XhtmlFault extends Error {
  constructor(
    text: string,
    /** Where in the narrative, in UTF-16 code units from 0. */
    readonly at: number,
  ) {
    super(text);
  }
}

/** Facts about a narrative's div that writing it into a document needs. */
export interface XhtmlDiv {
  /** Where the name of the div's start tag ends. */
  readonly nameEnd: number;
  /** Whether the div says by itself that it is XHTML. */
  readonly isDeclared: boolean;
}

/**
 * Checks the text of a narrative: one well-formed `div` in the namespace of XHTML, as are all elements within; no
 * entities but XML's own, no DOCTYPE, no processing instructions, no character that XML cannot hold, and at most
 * `MAX_XHTML_DEPTH` elements within each other. White space and comments may be around it. Which elements and
 * attributes it uses is not asked. What passes can be put into an XML document as it is. Time grows with the length only.
 * https://hl7.org/fhir/R5/narrative.html#xhtml
 *
 * @param isWithin around it, XHTML is the default namespace already
 * @throws XhtmlFault
 */
export function checkXhtml(text: string, isWithin = false): XhtmlDiv {
  const bad = unwritableAt(text);
  if (bad >= 0) throw new XhtmlFault(`XML cannot hold the character ${unwritableCharacter(text)}`, bad);
  return new Scan(text, isWithin).div();
}

/** Whether a value is the text of a narrative that passes `checkXhtml`. */
export function isXhtml(value: unknown): boolean {
  return typeof value === 'string' && faultOfXhtml(value) === undefined;
}

/**
 * Returns the fault that `checkXhtml` finds in a text, with its place (from 1, columns in UTF-16 code units); undefined: it
 * finds none.
 */
export function faultOfXhtml(text: string): string | undefined {
  try {
    checkXhtml(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof XhtmlFault)) throw error;
    const before = text.slice(0, error.at);
    const line = before.split('\n').length;
    return `line ${line}, column ${error.at - before.lastIndexOf('\n')}: ${error.message}`;
  }
}

const XML_NAMESPACES: ReadonlySet<string> = new Set([
  'http://www.w3.org/XML/1998/namespace',
  'http://www.w3.org/2000/xmlns/',
]);

// Pairs of surrogates stand for the astral characters, of which those below U+F0000 may be in names.
const START =
  'A-Za-z_\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f' +
  '\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\ud800-\\udb7f\\udc00-\\udfff';
const NAME = `[${START}][${START}0-9.\\-\\xb7\\u0300-\\u036f\\u203f\\u2040]{0,999}`;
/** With at most one colon. https://www.w3.org/TR/xml-names/#ns-qualnames */
// eslint-disable-next-line no-misleading-character-class -- in UTF-16 code units
const QUALIFIED = new RegExp(`${NAME}(?::${NAME})?`, 'y');
const REFERENCE = /&(?:amp|lt|gt|quot|apos|#0{0,50}([0-9]{1,7})|#x0{0,50}([0-9A-Fa-f]{1,6}));/y;
/** Anything that means to be a reference, for messages. */
const LIKE_REFERENCE = /&[#\w]{1,32};/y;

const [TAB, LINE_FEED, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [LESS, GREATER, SLASH, EQUALS, COLON, LETTER_X] = [0x3c, 0x3e, 0x2f, 0x3d, 0x3a, 0x78];
const [QUOTE, APOSTROPHE] = [0x22, 0x27];

/** What an ASCII character is in a name: 1 where it may come first, 2 where it may follow, 0 where it may not be. */
const NAME_CLASS = new Uint8Array(128).map((_, code) => {
  const character = String.fromCharCode(code);
  return /[A-Za-z_]/.test(character) ? 1 : /[0-9.-]/.test(character) ? 2 : 0;
});

/** Attributes of a tag that are compared one by one; where there are more, there is a set of them. */
const FEW_ATTRIBUTES = 8;

/** Places of a character or a few, found as they are come to, so that each part of the text is searched once. */
class Finder {
  private found = -1;

  constructor(
    private readonly text: string,
    private readonly what: string,
  ) {}

  /** The first place from here on; the end of the text where there is none. Must never be asked for an earlier one. */
  from(at: number): number {
    if (this.found < at) {
      const next = this.text.indexOf(this.what, at);
      this.found = next < 0 ? this.text.length : next;
    }
    return this.found;
  }
}

/** One pass over a narrative. Names are places in its text, because cutting them out would take longer than all else. */
class Scan {
  private at = 0;
  /** How many elements are open, and where their names begin and end; what lies beyond is left over. */
  private depth = 0;
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];
  /** Of the name that was read last; -1: it has none. */
  private colon = -1;
  /** How many attributes the tag at hand has, and where their names begin and end, of the first few. */
  private count = 0;
  private readonly attributeStarts: number[] = [];
  private readonly attributeEnds: number[] = [];
  private attributeNames: Set<string> | undefined;
  /** What prefixes mean here; '' is the default namespace. */
  private readonly spaces = new Map<string, string | undefined>();
  /** The same of the default namespace: whether it is that of XHTML. */
  private isInXhtml: boolean;
  /** What they meant before, and how many elements were open when that changed. */
  private readonly outer: { readonly depth: number; readonly prefix: string; readonly uri: string | undefined }[] = [];
  private readonly tags: Finder;
  private readonly ampersands: Finder;
  private readonly sectionEnds: Finder;
  private nameEnd = -1;
  private isDeclared = false;

  constructor(
    private readonly text: string,
    isWithin: boolean,
  ) {
    this.isInXhtml = isWithin;
    if (isWithin) this.spaces.set('', XHTML_NAMESPACE);
    this.tags = new Finder(text, '<');
    this.ampersands = new Finder(text, '&');
    this.sectionEnds = new Finder(text, ']]>');
  }

  div(): XhtmlDiv {
    this.stepOverSurroundings();
    if (this.text.charCodeAt(this.at) !== LESS) this.fail('expected a "div" element');
    for (;;) {
      this.markup();
      if (this.depth === 0) break;
      const next = this.tags.from(this.at);
      if (next === this.text.length) this.fail(`the element "${this.openName()}" is not closed`, next);
      this.checkReferences(this.at, next);
      const end = this.sectionEnds.from(this.at);
      if (end < next) this.fail('text has "]]&gt;" for "]]>"', end);
      this.at = next;
    }
    this.stepOverSurroundings();
    if (this.at < this.text.length) this.fail('nothing may follow the div');
    return { nameEnd: this.nameEnd, isDeclared: this.isDeclared };
  }

  /** White space and comments. */
  private stepOverSurroundings(): void {
    this.stepOverSpace();
    while (this.text.startsWith('<!--', this.at)) {
      this.comment();
      this.stepOverSpace();
    }
  }

  /** What begins with "<". */
  private markup(): void {
    const { text } = this;
    const next = text.charCodeAt(this.at + 1);
    if (next === SLASH) this.endTag();
    else if (NAME_CLASS[next] === 1) this.startTag();
    else if (text.startsWith('<?', this.at)) this.fail('processing instructions are not allowed');
    else if (!text.startsWith('<!', this.at)) this.startTag();
    else if (text.startsWith('<!--', this.at)) this.comment();
    else if (text.startsWith('<![CDATA[', this.at) && this.depth > 0) {
      this.at = this.endOf(']]>', this.at + '<![CDATA['.length, 'the CDATA section');
    } else this.fail('only elements, text, comments and CDATA sections are allowed');
  }

  private comment(): void {
    const end = this.endOf('--', this.at + '<!--'.length, 'the comment');
    if (this.text.charCodeAt(end) !== GREATER) this.fail('a comment has no "--" within', end - 2);
    this.at = end + 1;
  }

  private startTag(): void {
    const start = this.at;
    this.name(start + 1);
    const { colon } = this;
    const isRoot = this.depth === 0;
    if (isRoot) this.nameEnd = this.at;
    if (this.depth >= MAX_XHTML_DEPTH) {
      this.fail(`elements may be nested ${MAX_XHTML_DEPTH} deep`, start);
    }
    this.starts[this.depth] = start + 1;
    this.ends[this.depth] = this.at;
    this.depth++;
    this.count = 0;
    this.attributeNames = undefined;
    for (;;) {
      const isApart = this.stepOverSpace();
      const next = this.text.charCodeAt(this.at);
      if (next === GREATER) {
        this.checkElement(colon, start, isRoot);
        this.at++;
        return;
      }
      if (next === SLASH && this.text.charCodeAt(this.at + 1) === GREATER) {
        this.checkElement(colon, start, isRoot);
        this.at += 2;
        this.close();
        return;
      }
      if (this.at === this.text.length) this.fail(`the tag "${this.openName()}" is not closed`, start);
      if (!isApart) this.fail('white space has to be before an attribute, or this is no character of a name');
      this.attribute(isRoot);
    }
  }

  private attribute(isRoot: boolean): void {
    const { text, at: start } = this;
    this.name(start);
    const { at: end, colon } = this;
    this.checkNew(start, end);
    this.stepOverSpace();
    if (text.charCodeAt(this.at) !== EQUALS) this.fail(`the attribute "${this.clip(start, end)}" needs a value`, start);
    this.at++;
    this.stepOverSpace();
    const quote = text.charCodeAt(this.at);
    if (quote !== QUOTE && quote !== APOSTROPHE) this.fail('the value of an attribute has to be quoted');
    const from = this.at + 1;
    const to = text.indexOf(quote === QUOTE ? '"' : "'", from);
    if (to < 0) this.fail(`the value of "${this.clip(start, end)}" is not closed`);
    const less = this.tags.from(from);
    if (less < to) this.fail('the value of an attribute has &lt; for "<"', less);
    this.checkReferences(from, to);
    this.at = to + 1;
    if (colon < 0 && (text.charCodeAt(start) !== LETTER_X || end - start !== 'xmlns'.length)) return;
    const name = text.slice(start, end);
    if (name === 'xmlns') this.declare('', text.slice(from, to), start, isRoot);
    else if (name.startsWith('xmlns:')) this.declare(text.slice(colon + 1, end), text.slice(from, to), start, isRoot);
    else if (colon >= 0 && !name.startsWith('xml:')) {
      this.fail(`a narrative has no attributes of other namespaces, such as "${this.clip(start, end)}"`, start);
    }
  }

  /** That the tag has no attribute of this name yet. */
  private checkNew(start: number, end: number): void {
    const { text, attributeStarts, attributeEnds, count } = this;
    let isKnown = false;
    if (count < FEW_ATTRIBUTES) {
      for (let i = 0; i < count && !isKnown; i++) {
        isKnown = this.isSame(attributeStarts[i]!, attributeEnds[i]!, start, end);
      }
      attributeStarts[count] = start;
      attributeEnds[count] = end;
    } else {
      const known = (this.attributeNames ??= new Set(attributeStarts.map((at, i) => text.slice(at, attributeEnds[i]))));
      const name = text.slice(start, end);
      isKnown = known.has(name);
      known.add(name);
    }
    this.count++;
    if (isKnown) this.fail(`the attribute "${this.clip(start, end)}" appears twice`, start);
  }

  private declare(prefix: string, uri: string, at: number, isRoot: boolean): void {
    const isReserved = prefix === 'xml' || prefix === 'xmlns' || XML_NAMESPACES.has(uri);
    if (isReserved || (prefix !== '' && uri === '')) this.fail('this namespace cannot be declared', at);
    this.outer.push({ depth: this.depth, prefix, uri: this.spaces.get(prefix) });
    this.setSpace(prefix, uri);
    if (isRoot && prefix === '') this.isDeclared = true;
  }

  private setSpace(prefix: string, uri: string | undefined): void {
    this.spaces.set(prefix, uri);
    if (prefix === '') this.isInXhtml = uri === XHTML_NAMESPACE;
  }

  /** Its name and namespace, once its attributes have been read. */
  private checkElement(colon: number, start: number, isRoot: boolean): void {
    if (!isRoot && colon < 0 && this.isInXhtml) return;
    const name = this.text.slice(this.starts[this.depth - 1], this.ends[this.depth - 1]);
    const prefix = colon < 0 ? '' : this.text.slice(start + 1, colon);
    if (isRoot && name.slice(colon < 0 ? 0 : prefix.length + 1) !== 'div') {
      this.fail(`expected a "div", not "${this.openName()}"`, start);
    }
    if (isRoot && colon >= 0) this.isDeclared = true;
    const uri = this.spaces.get(prefix);
    if (uri === XHTML_NAMESPACE) return;
    if (isRoot && uri === undefined && colon < 0) this.fail(`the div needs xmlns="${XHTML_NAMESPACE}"`, start);
    const of = uri === undefined || uri === '' ? 'no namespace' : clip(uri);
    this.fail(`a narrative has elements of ${XHTML_NAMESPACE} only; "${this.openName()}" is of ${of}`, start);
  }

  private endTag(): void {
    const start = this.at;
    this.name(start + 2);
    if (this.depth === 0) this.fail('expected a "div" element', start);
    if (!this.isSame(this.starts[this.depth - 1]!, this.ends[this.depth - 1]!, start + 2, this.at)) {
      this.fail(`expected "</${this.openName()}>", not "</${this.clip(start + 2, this.at)}>"`, start);
    }
    this.stepOverSpace();
    if (this.text.charCodeAt(this.at) !== GREATER) this.fail('expected ">"');
    this.at++;
    this.close();
  }

  private close(): void {
    while (this.outer.length > 0 && this.outer[this.outer.length - 1]!.depth === this.depth) {
      const { prefix, uri } = this.outer.pop()!;
      this.setSpace(prefix, uri);
    }
    this.depth--;
  }

  private checkReferences(from: number, to: number): void {
    for (let at = this.ampersands.from(from); at < to; at = this.ampersands.from(at + 1)) {
      REFERENCE.lastIndex = at;
      const [, decimal, hex] = REFERENCE.exec(this.text) ?? this.failAtReference(at);
      const code = decimal ?? hex;
      if (code !== undefined && !isXmlCharacter(Number.parseInt(code, decimal === undefined ? 16 : 10))) {
        this.fail(`XML cannot hold the character ${this.text.slice(at, REFERENCE.lastIndex)}`, at);
      }
    }
  }

  private failAtReference(at: number): never {
    LIKE_REFERENCE.lastIndex = at;
    const name = LIKE_REFERENCE.exec(this.text)?.[0];
    if (name === undefined) return this.fail('"&" has to be written as "&amp;"', at);
    return this.fail(`XML does not know "${name}", only &amp; &lt; &gt; &quot; &apos; and numbers such as &#160;`, at);
  }

  /** Steps over the name that begins here. */
  private name(from: number): void {
    const { text } = this;
    let at = from;
    let code = text.charCodeAt(at);
    if (NAME_CLASS[code] === 1) {
      do code = text.charCodeAt(++at);
      while (NAME_CLASS[code]! > 0);
      if (code < 128 && code !== COLON) {
        this.at = at;
        this.colon = -1;
        return;
      }
    }
    QUALIFIED.lastIndex = from;
    if (!QUALIFIED.test(text)) this.fail('expected a name; "<" in text has to be written as "&lt;"', from);
    this.at = QUALIFIED.lastIndex;
    const colon = text.slice(from, this.at).indexOf(':');
    this.colon = colon < 0 ? -1 : from + colon;
  }

  private isSame(start: number, end: number, otherStart: number, otherEnd: number): boolean {
    if (end - start !== otherEnd - otherStart) return false;
    const { text } = this;
    for (let i = start, j = otherStart; i < end; i++, j++) {
      if (text.charCodeAt(i) !== text.charCodeAt(j)) return false;
    }
    return true;
  }

  /** Behind the next one of these; `what` began where the scan is. */
  private endOf(mark: string, from: number, what: string): number {
    const at = this.text.indexOf(mark, from);
    if (at < 0) this.fail(`${what} is not closed`);
    return at + mark.length;
  }

  /** @returns whether there was any */
  private stepOverSpace(): boolean {
    const start = this.at;
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== SPACE && code !== LINE_FEED && code !== RETURN && code !== TAB) return this.at > start;
      this.at++;
    }
  }

  /** The name of the innermost element, for a message. */
  private openName(): string {
    return this.clip(this.starts[this.depth - 1]!, this.ends[this.depth - 1]!);
  }

  private clip(start: number, end: number): string {
    return clip(this.text.slice(start, end));
  }

  private fail(text: string, at: number = this.at): never {
    throw new XhtmlFault(text, at);
  }
}
