import { FhirError } from '../fhir/errors.js';
import { HTML_TYPE } from './html.js';
import { memoize, memoizeWeak } from '../fhir/memory/memoize.js';
import { quote } from '../fhir/quote.js';

/** A form that resources are written in. https://hl7.org/fhir/R5/formats.html */
export type FormatName = 'json' | 'xml';

/** Media type of FHIR resources in JSON. https://hl7.org/fhir/R5/http.html#mime-type */
export const JSON_TYPE = 'application/fhir+json';

/** The media type of each format. */
export const MEDIA_TYPES: Readonly<Record<FormatName, string>> = { json: JSON_TYPE, xml: 'application/fhir+xml' };

/** Form in which an answer is written: a format, or a page for people. Request bodies are never read as pages. */
export type AnswerFormat = FormatName | 'html';

/** Names for pages. */
export const PAGE_NAMES: readonly string[] = ['text/html', 'html'];

/** Hint of a refusal that pages are served, too. */
export const PAGE_HINT = `${PAGE_NAMES[0]} is a page for people`;

/** Names for the formats: media types, their aliases, and the short forms of `_format`. */
const FORMATS: Readonly<Record<string, AnswerFormat>> = {
  'application/fhir+json': 'json',
  'application/json': 'json',
  'text/json': 'json',
  'application/json+fhir': 'json',
  json: 'json',
  'application/fhir+xml': 'xml',
  'application/xml': 'xml',
  'text/xml': 'xml',
  'application/xml+fhir': 'xml',
  xml: 'xml',
  ...Object.fromEntries(PAGE_NAMES.map((name) => [name, 'html' as const])),
};

/** Whether a media type, or a word, is a name of a format. */
export function isFormatName(name: string): boolean {
  return Object.hasOwn(FORMATS, name);
}

/** Release of FHIR as media types name it: `4.3`. https://hl7.org/fhir/R5/http.html#version-parameter */
export type Release = string;

const R5: Release = '5.0';

/** Returns the release that a version of FHIR belongs to: `4.3` for `4.3.0`. */
export function releaseOf(fhirVersion: string): Release {
  return fhirVersion.split('.').slice(0, 2).join('.');
}

/** The form of an answer. */
export interface Negotiated {
  readonly format: AnswerFormat;
  /** The whole header. A client that asks for a generic type (`application/json`) gets its name back. */
  readonly contentType: string;
}

/** A media type, its name and those of its parameters in lower case. */
export interface MediaType {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** How much a client likes a format, and by which name. */
interface Offer {
  readonly format: AnswerFormat;
  readonly name: string;
  readonly q: number;
  /** 2: the type itself was named, 1: `application/*`, 0: everything. */
  readonly exactness: number;
  readonly versioned: boolean;
}

/**
 * The form of the answer. `_format` counts before `Accept`; among equals the one that was named first. A page is for who names
 * HTML, as browsers do.
 * https://hl7.org/fhir/R5/http.html#parameters
 *
 * @param served formats that can be written, the favourite first
 * @param release of FHIR that is served
 * @throws FhirError `not-acceptable`
 */
export function negotiate(
  accept: string | undefined,
  format: string | undefined,
  served: readonly FormatName[],
  release: Release = R5,
): Negotiated {
  if (format !== undefined || accept === undefined) return judgeAll(accept, format, served, release);
  return release === R5 ? negotiated(served)(accept) : judgeAll(accept, format, served, release);
}

/** Texts that are remembered at most, and their greatest length: clients send few different ones. */
const MOST_KNOWN = 64;
const LONGEST_KNOWN = 200;

/** What `Accept` came to, by what can be written. */
const negotiated = memoizeWeak((served: readonly FormatName[]) =>
  remembering((text) => judgeAll(text, undefined, served, R5)),
);

function judgeAll(
  accept: string | undefined,
  format: string | undefined,
  served: readonly FormatName[],
  release: Release,
): Negotiated {
  const wanted = format === undefined ? accept : unspace(format);
  if (wanted === undefined || wanted.trim() === '') return described(served[0] ?? 'json', release);
  const ranges = splitList(wanted).map(parseMediaType);
  let best: Offer | undefined;
  const offered: readonly AnswerFormat[] = wanted.includes('html') ? [...served, 'html'] : served;
  for (const each of offered) {
    const offer = judge(each, ranges, release);
    if (offer === undefined || offer.q === 0) continue;
    const better =
      best === undefined || offer.q > best.q || (offer.q === best.q && offer.exactness > best.exactness) || false;
    if (better) best = offer;
    else if (best !== undefined && offer.q === best.q && offer.exactness === 2 && best.exactness === 2) {
      if (position(ranges, offer) < position(ranges, best)) best = offer;
    }
  }
  if (best === undefined) {
    const types = served.map((each) => MEDIA_TYPES[each]).join(' or ');
    const isOther = ranges.some(
      ({ name, parameters }) => FORMATS[name] !== undefined && !isServedVersion(parameters, release),
    );
    const which = isOther ? ` of FHIR ${release} (fhirVersion=${release})` : '';
    throw new FhirError('not-acceptable', `The server answers ${types}${which}, not ${quote(wanted)}; ${PAGE_HINT}`);
  }
  return described(best.format, release, format === undefined ? best : undefined);
}

/** The first of some media types that a client names in `Accept`; undefined: it names none. */
export function namedType(accept: string | undefined, types: readonly string[]): string | undefined {
  const ranges = splitList(accept ?? '').map(parseMediaType);
  return types.find((type) => ranges.some(({ name, parameters }) => name === type && quality(parameters) > 0));
}

/** The one of some media types that a client likes best in `Accept`, among equals the first; undefined: it names none. */
export function likedType(accept: string, types: readonly string[]): string | undefined {
  const ranges = splitList(accept).map(parseMediaType);
  const [best] = ranges
    .filter(({ name, parameters }) => types.includes(name) && quality(parameters) > 0)
    .sort((a, b) => quality(b.parameters) - quality(a.parameters));
  return best?.name;
}

/** Whether a client takes a form of resources, by its name. */
export function namesFormat(accept: string): boolean {
  return namedType(accept, Object.keys(FORMATS)) !== undefined;
}

/** Whether a client takes a content of this type, by the most exact of its ranges. https://www.rfc-editor.org/rfc/rfc9110#name-accept */
export function admits(accept: string | undefined, contentType: string): boolean {
  const ranges = splitList(accept ?? '').map(parseMediaType);
  const { name } = parseMediaType(contentType);
  const names = [name, name.replace(/\/.*/, '/*'), '*/*'];
  const range = names.flatMap((each) => ranges.find((one) => one.name === each) ?? [])[0];
  return ranges.length === 0 || (range !== undefined && quality(range.parameters) > 0);
}

/** Whether a client likes a page best, as browsers do that show one. */
export function wantsPage(accept: string | undefined): boolean {
  try {
    return accept?.includes('html') === true && negotiate(accept, undefined, ['json', 'xml']).format === 'html';
  } catch {
    return false;
  }
}

/** What the most exact of the ranges says on a format, as RFC 9110 has it. */
function judge(format: AnswerFormat, ranges: readonly MediaType[], release: Release): Offer | undefined {
  let best: Offer | undefined;
  for (const { name, parameters } of ranges) {
    const isNamed = FORMATS[name] === format && isServedVersion(parameters, release);
    if (format === 'html' && !isNamed) continue;
    const exactness = isNamed
      ? 2
      : name === 'application/*' || name === 'text/*'
        ? 1
        : /^\*(\/\*)?$/.test(name)
          ? 0
          : -1;
    if (exactness < 0) continue;
    const q = quality(parameters);
    if (best === undefined || exactness > best.exactness || (exactness === best.exactness && q > best.q)) {
      best = { format, name, q, exactness, versioned: parameters.has('fhirversion') };
    }
  }
  return best;
}

function position(ranges: readonly MediaType[], { name }: Offer): number {
  return ranges.findIndex((range) => range.name === name);
}

function described(format: AnswerFormat, release: Release, offer?: Offer): Negotiated {
  if (format === 'html') return { format, contentType: HTML_TYPE };
  const isGeneric = offer?.exactness === 2 && /^(application|text)\/(json|xml)$/.test(offer.name);
  const type = isGeneric ? offer.name : MEDIA_TYPES[format];
  const version = offer?.exactness === 2 && offer.versioned ? `; fhirVersion=${release}` : '';
  return { format, contentType: `${type}; charset=utf-8${version}` };
}

/**
 * The FHIR format that a reader of a Binary asks for, or undefined where the content itself is wanted: only a type of
 * FHIR's own says so in `Accept` (`application/json` may be the content's), and no other may be liked better.
 * https://hl7.org/fhir/R5/binary.html#rest
 */
export function asksForResource(accept: string | undefined, format: string | undefined): boolean {
  if (format !== undefined) return FORMATS[parseMediaType(unspace(format)).name] !== undefined;
  if (accept === undefined) return false;
  let fhir = 0;
  let others = 0;
  for (const { name, parameters } of splitList(accept).map(parseMediaType)) {
    if (FORMATS[name] !== undefined && name.includes('fhir')) fhir = Math.max(fhir, quality(parameters));
    else others = Math.max(others, quality(parameters));
  }
  return fhir > 0 && fhir >= others;
}

/** Whether a body of this type is content of a Binary, and no FHIR resource. */
export function isForeign(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const { name } = parseMediaType(contentType);
  return !(FORMATS[name] !== undefined && name.includes('fhir'));
}

/**
 * The format of a body: UTF-8 of the release that is served. https://hl7.org/fhir/R5/http.html#version-parameter
 *
 * @param read formats that can be read
 * @param others types that are read besides, for the message
 * @param release of FHIR that is served
 * @throws FhirError `unsupported-media-type`
 */
export function bodyFormat(
  contentType: string | undefined,
  read: readonly FormatName[],
  others: readonly string[] = [],
  release: Release = R5,
): FormatName {
  const refusal = (why: (types: string) => string): FhirError => {
    const types = [...read.map((each) => MEDIA_TYPES[each]), ...others];
    return new FhirError('unsupported-media-type', why(types.join(' or ')), { headers: { Accept: types.join(', ') } });
  };
  if (contentType === undefined) throw refusal((types) => `The request has no Content-Type; send ${types}`);
  const { name } = parseMediaType(contentType);
  const format = name.includes('/') ? FORMATS[name] : undefined;
  if (format === undefined || format === 'html' || !read.includes(format))
    throw refusal((types) => `The server reads ${types}, not ${quote(contentType)}`);
  const why = whyUnread(contentType, release);
  if (why !== undefined) throw refusal(() => why);
  return format;
}

/** Why a body of this type is not read, by its parameters: only UTF-8 is, and of the release that is served. */
export function whyUnread(contentType: string, release: Release = R5): string | undefined {
  const { parameters } = parseMediaType(contentType);
  if (!isServedVersion(parameters, release)) return `The server reads FHIR ${release} only, not ${quote(contentType)}`;
  const charset = parameters.get('charset')?.toLowerCase() ?? 'utf-8';
  return charset === 'utf-8' || charset === 'utf8' ? undefined : `The server reads UTF-8 only, not ${quote(charset)}`;
}

function isServedVersion(parameters: ReadonlyMap<string, string>, release: Release): boolean {
  const version = parameters.get('fhirversion');
  return version === undefined || version === release || version === `${release}.0`;
}

function quality(parameters: ReadonlyMap<string, string>): number {
  const q = Number(parameters.get('q') ?? '1');
  return q >= 0 && q <= 1 ? q : 0;
}

/** A "+" in a query stands for a space: `_format=application/fhir+json` arrives without it. */
function unspace(format: string): string {
  return format.replace(/^(application\/(?:fhir|json|xml)) /, '$1+');
}

/** Reads one media type; whether there can be such is not asked. RFC 9110, 8.3.1 */
export const parseMediaType = remembering(readMediaType);

function readMediaType(text: string): MediaType {
  const [name = '', ...rest] = text.split(';');
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const [key = '', value = ''] = parameter.split('=', 2);
    parameters.set(key.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1'));
  }
  return { name: name.trim().toLowerCase(), parameters };
}

function splitList(header: string): string[] {
  return header.split(',').filter((part) => part.trim() !== '');
}

/** The same function, which remembers what it made of short texts. */
function remembering<T>(read: (text: string) => T): (text: string) => T {
  const known = memoize(read, MOST_KNOWN);
  return (text) => (text.length > LONGEST_KNOWN ? read(text) : known(text));
}
