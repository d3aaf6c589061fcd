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
const [LESS, GREATER, SLASH, EQUALS] = [0x3c, 0x3e, 0x2f, 0x3d];

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

/** One pass over a narrative. */
class Scan {
  private at = 0;
  /** Names of the elements that are open. */
  private readonly open: string[] = [];
  /** Names of the attributes of the tag at hand. */
  private readonly attributeNames = new Set<string>();
  /** What prefixes mean here; '' is the default namespace. */
  private readonly spaces: Map<string, string | undefined>;
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
    this.spaces = new Map(isWithin ? [['', XHTML_NAMESPACE]] : []);
    this.tags = new Finder(text, '<');
    this.ampersands = new Finder(text, '&');
    this.sectionEnds = new Finder(text, ']]>');
  }

  div(): XhtmlDiv {
    this.stepOverSurroundings();
    if (this.text.charCodeAt(this.at) !== LESS) this.fail('expected a "div" element');
    for (;;) {
      this.markup();
      if (this.open.length === 0) break;
      const next = this.tags.from(this.at);
      if (next === this.text.length) this.fail(`the element "${clip(this.open.at(-1) ?? '')}" is not closed`, next);
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
    else if (text.startsWith('<?', this.at)) this.fail('processing instructions are not allowed');
    else if (!text.startsWith('<!', this.at)) this.startTag();
    else if (text.startsWith('<!--', this.at)) this.comment();
    else if (text.startsWith('<![CDATA[', this.at) && this.open.length > 0) {
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
    const name = this.name(start + 1);
    const isRoot = this.open.length === 0;
    if (isRoot) this.nameEnd = this.at;
    if (this.open.length >= MAX_XHTML_DEPTH) this.fail(`elements may be nested ${MAX_XHTML_DEPTH} deep`, start);
    this.open.push(name);
    this.attributeNames.clear();
    for (;;) {
      const isApart = this.stepOverSpace();
      const isEmpty = this.text.startsWith('/>', this.at);
      if (isEmpty || this.text.charCodeAt(this.at) === GREATER) {
        this.checkElement(name, start, isRoot);
        this.at += isEmpty ? 2 : 1;
        if (isEmpty) this.close();
        return;
      }
      if (this.at === this.text.length) this.fail(`the tag "${clip(name)}" is not closed`, start);
      if (!isApart) this.fail('white space has to be before an attribute, or this is no character of a name');
      this.attribute(isRoot);
    }
  }

  private attribute(isRoot: boolean): void {
    const { text, at: start } = this;
    const name = this.name(start);
    if (this.attributeNames.has(name)) this.fail(`the attribute "${clip(name)}" appears twice`, start);
    this.attributeNames.add(name);
    this.stepOverSpace();
    if (text.charCodeAt(this.at) !== EQUALS) this.fail(`the attribute "${clip(name)}" needs a value`, start);
    this.at++;
    this.stepOverSpace();
    const quote = text.charAt(this.at);
    if (quote !== '"' && quote !== "'") this.fail('the value of an attribute has to be quoted');
    const from = this.at + 1;
    const to = text.indexOf(quote, from);
    if (to < 0) this.fail(`the value of "${clip(name)}" is not closed`);
    const less = this.tags.from(from);
    if (less < to) this.fail('the value of an attribute has &lt; for "<"', less);
    this.checkReferences(from, to);
    this.at = to + 1;
    const [prefix, local] = splitName(name);
    if (name === 'xmlns' || prefix === 'xmlns') {
      this.declare(prefix === '' ? '' : local, text.slice(from, to), start, isRoot);
    } else if (prefix !== '' && prefix !== 'xml') {
      this.fail(`a narrative has no attributes of other namespaces, such as "${clip(name)}"`, start);
    }
  }

  private declare(prefix: string, uri: string, at: number, isRoot: boolean): void {
    const isReserved = prefix === 'xml' || prefix === 'xmlns' || XML_NAMESPACES.has(uri);
    if (isReserved || (prefix !== '' && uri === '')) this.fail('this namespace cannot be declared', at);
    this.outer.push({ depth: this.open.length, prefix, uri: this.spaces.get(prefix) });
    this.spaces.set(prefix, uri);
    if (isRoot && prefix === '') this.isDeclared = true;
  }

  /** Its name and namespace, once its attributes have been read. */
  private checkElement(name: string, start: number, isRoot: boolean): void {
    const [prefix, local] = splitName(name);
    if (isRoot && local !== 'div') this.fail(`expected a "div", not "${clip(name)}"`, start);
    if (isRoot && prefix !== '') this.isDeclared = true;
    const uri = this.spaces.get(prefix);
    if (uri === XHTML_NAMESPACE) return;
    if (isRoot && uri === undefined && prefix === '') this.fail(`the div needs xmlns="${XHTML_NAMESPACE}"`, start);
    const of = uri === undefined || uri === '' ? 'no namespace' : clip(uri);
    this.fail(`a narrative has elements of ${XHTML_NAMESPACE} only; "${clip(name)}" is of ${of}`, start);
  }

  private endTag(): void {
    const start = this.at;
    const name = this.name(start + 2);
    const opened = this.open.at(-1);
    if (opened === undefined) this.fail('expected a "div" element', start);
    if (opened !== name) this.fail(`expected "</${clip(opened)}>", not "</${clip(name)}>"`, start);
    this.stepOverSpace();
    if (this.text.charCodeAt(this.at) !== GREATER) this.fail('expected ">"');
    this.at++;
    this.close();
  }

  private close(): void {
    while (this.outer.at(-1)?.depth === this.open.length) {
      const { prefix, uri } = this.outer.pop()!;
      this.spaces.set(prefix, uri);
    }
    this.open.pop();
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
  private name(from: number): string {
    QUALIFIED.lastIndex = from;
    const name = QUALIFIED.exec(this.text)?.[0];
    if (name === undefined) this.fail('expected a name; "<" in text has to be written as "&lt;"', from);
    this.at = QUALIFIED.lastIndex;
    return name;
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

  private fail(text: string, at: number = this.at): never {
    throw new XhtmlFault(text, at);
  }
}

function splitName(name: string): readonly [prefix: string, local: string] {
  const colon = name.indexOf(':');
  return colon < 0 ? ['', name] : [name.slice(0, colon), name.slice(colon + 1)];
}
