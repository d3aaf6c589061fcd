import { FhirError } from '../../fhir/errors.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';
import type { XmlElement, XmlParent } from '../../fhir/xml/xml-tree.js';
import { readTree } from '../../format/xml/read-tree.js';
import { URI_SYSTEM } from '../mhd.js';
import { REPLACES, type DocumentHeader } from './document-header.js';

/** URLs of code systems that FHIR knows by another name than their OID. https://terminology.hl7.org/external_terminologies.html */
const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ['2.16.840.1.113883.6.1', 'http://loinc.org'],
  ['2.16.840.1.113883.6.96', 'http://snomed.info/sct'],
  ['2.16.840.1.113883.5.25', 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality'],
]);

/** Characters of a header that are read: the main thread reads it. */
export const MOST_OF_HEADER = 500_000;

/** Tags of a header that are read. */
const MOST_TAGS = 20_000;

/**
 * Returns the header of a CDA document, whose body is not looked at. Undefined: the XML is no ClinicalDocument, or has a header of more than
 * 500,000 characters. HL7 Clinical Document Architecture R2, 4.2
 *
 * @throws FhirError `xml-syntax`, `xml-forbidden`, `xml-depth`
 */
export function readCdaHeader(text: string): DocumentHeader | undefined {
  const head = withoutBody(text);
  if (head.length > MOST_OF_HEADER || head.split('<', MOST_TAGS).length === MOST_TAGS) return undefined;
  const [root] = elementsIn(readTree(head));
  if (root === undefined || root.name.local !== 'ClinicalDocument' || !isOfCda(root)) return undefined;
  const at = (...path: readonly string[]): readonly XmlElement[] => descend(root, path);
  if (at('relatedDocument').some((each) => attribute(each, 'typeCode') === 'RPLC'))
    throw new FhirError('document-invalid', REPLACES);
  const [identifier] = at('id').flatMap(identifierOf);
  const [type] = at('code').flatMap(conceptOf);
  const labels = at('confidentialityCode').flatMap(labelOf);
  const period = periodOf(at('documentationOf', 'serviceEvent', 'effectiveTime')[0]);
  const [title] = at('title').map(textIn);
  const creation = at('effectiveTime').flatMap((each) => dateTimeOf(attribute(each, 'value')) ?? [])[0];
  const language = at('languageCode').flatMap((each) => attribute(each, 'code') ?? [])[0];
  const [custodian] = at('custodian', 'assignedCustodian', 'representedCustodianOrganization').map(organizationOf);
  return {
    ...(identifier !== undefined && { identifier }),
    subject: {
      count: at('recordTarget').length,
      identifiers: at('recordTarget', 'patientRole', 'id').flatMap(identifierOf),
      at: 'ClinicalDocument/recordTarget/patientRole/id',
    },
    authors: at('author', 'assignedAuthor').map(authorOf),
    ...(custodian !== undefined && { custodian }),
    elements: {
      ...(type !== undefined && { type }),
      ...(period !== undefined && { period }),
      ...(labels.length > 0 && { securityLabel: labels }),
    },
    attachment: {
      ...(title !== undefined && title !== '' && { title }),
      ...(creation !== undefined && { creation }),
      ...(language !== undefined && { language }),
    },
  };
}

/** Where a comment, a CDATA section or the body begins, and the ends of the first two. */
const BEGINNING = /<!--|<!\[CDATA\[|<((?:[\w.-]{1,64}:)?)component[\s/>]/g;
const ENDS: Readonly<Record<string, string>> = { '<!--': '-->', '<![CDATA[': ']]>' };

/** The document up to its body, whose root element is closed there. */
function withoutBody(text: string): string {
  const beginning = new RegExp(BEGINNING);
  for (let found = beginning.exec(text); found !== null; found = beginning.exec(text)) {
    const end = ENDS[found[0]];
    if (end === undefined) return `${text.slice(0, found.index)}</${found[1] ?? ''}ClinicalDocument>`;
    const at = text.indexOf(end, beginning.lastIndex);
    if (at < 0) return text;
    beginning.lastIndex = at;
  }
  return text;
}

/** A person, or the organization where no person is named. */
function authorOf(author: XmlElement): Resource {
  const [person] = descend(author, ['assignedPerson']);
  const identifier = descend(author, ['id']).flatMap(identifierOf);
  if (person !== undefined) {
    const name = descend(person, ['name']).map(personNameOf);
    return { resourceType: 'Practitioner', ...(identifier.length > 0 && { identifier }), ...(name.length > 0 && { name }) }; // prettier-ignore
  }
  const [organization] = descend(author, ['representedOrganization']);
  if (organization !== undefined) return organizationOf(organization);
  return { resourceType: 'Practitioner', ...(identifier.length > 0 && { identifier }) };
}

function organizationOf(organization: XmlElement): Resource {
  const identifier = descend(organization, ['id']).flatMap(identifierOf);
  const [name] = descend(organization, ['name']).map(textIn);
  return {
    resourceType: 'Organization',
    ...(identifier.length > 0 && { identifier }),
    ...(name !== undefined && name !== '' && { name }),
  };
}

function personNameOf(name: XmlElement): JsonObject {
  const parts = (local: string): readonly string[] => descend(name, [local]).map(textIn).filter((part) => part !== ''); // prettier-ignore
  const [family] = parts('family');
  const [given, prefix, suffix] = [parts('given'), parts('prefix'), parts('suffix')];
  if (family === undefined && given.length === 0) return { text: textIn(name) };
  return {
    ...(family !== undefined && { family }),
    ...(given.length > 0 && { given: [...given] }),
    ...(prefix.length > 0 && { prefix: [...prefix] }),
    ...(suffix.length > 0 && { suffix: [...suffix] }),
  };
}

/** An instance identifier (II): an OID or UUID, alone or as the system of an extension. */
function identifierOf(id: XmlElement): readonly JsonObject[] {
  const [root, extension] = [attribute(id, 'root'), attribute(id, 'extension')];
  if (root === undefined) return [];
  return [extension === undefined ? { system: URI_SYSTEM, value: urnOf(root) } : { system: urnOf(root), value: extension }]; // prettier-ignore
}

function urnOf(root: string): string {
  return /^[0-9.]+$/.test(root) ? `urn:oid:${root}` : `urn:uuid:${root.toLowerCase()}`;
}

/** A label decides who may see the document, so that one that cannot be read is no reason to go on. */
function labelOf(code: XmlElement): readonly JsonObject[] {
  const labels = [code, ...descend(code, ['translation'])].flatMap(conceptOf);
  if (labels.length > 0 || (attribute(code, 'nullFlavor') !== undefined && attribute(code, 'code') === undefined))
    return labels;
  throw new FhirError('document-invalid', 'confidentialityCode needs a code and a codeSystem');
}

function conceptOf(code: XmlElement): readonly JsonObject[] {
  const [value, system, display] = ['code', 'codeSystem', 'displayName'].map((name) => attribute(code, name));
  if (value === undefined || /\s/.test(value) || system === undefined || !/^[\w.-]+$/.test(system)) return [];
  const url = SYSTEMS.get(system) ?? urnOf(system);
  return [{ coding: [{ system: url, code: value, ...(display !== undefined && { display }) }] }];
}

function periodOf(interval: XmlElement | undefined): JsonObject | undefined {
  if (interval === undefined) return undefined;
  const ends = ['low', 'high'].map((name) => dateTimeOf(attribute(descend(interval, [name])[0], 'value')));
  const [start, end] = ends;
  if (start === undefined && end === undefined) return undefined;
  return { ...(start !== undefined && { start }), ...(end !== undefined && { end }) };
}

/** A time as HL7 v3 writes it (TS). FHIR has no time of day without a zone, so that only the date of such a one is taken. */
function dateTimeOf(value: string | undefined): string | undefined {
  const parts = /^(\d{4})(\d{2})?(\d{2})?(?:(\d{2})(\d{2})(\d{2})?(\.\d+)?([+-]\d{2})(\d{2}))?/.exec(value ?? '');
  if (parts === null) return undefined;
  // An odd time is no reason to refuse the document.
  if (Number(parts[2] ?? 1) > 12 || Number(parts[3] ?? 1) > 31 || Number(parts[4] ?? 0) > 23) return undefined;
  const [, year = '', month, day, hour, minute, second = '00', fraction = '', zoneHour, zoneMinute] = parts;
  const date = [year, month, day].filter((part) => part !== undefined).join('-');
  if (day === undefined || hour === undefined) return date;
  return `${date}T${hour}:${minute}:${second}${fraction}${zoneHour}:${zoneMinute}`;
}

/** The namespace of CDA; elements of extensions have others. */
const CDA = 'urn:hl7-org:v3';

/** The elements of CDA at a path of local names. */
function descend(element: XmlElement, path: readonly string[]): readonly XmlElement[] {
  return path.reduce<readonly XmlElement[]>(
    (found, local) =>
      found.flatMap((each) => elementsIn(each).filter((child) => child.name.local === local && isOfCda(child))),
    [element],
  );
}

function isOfCda(element: XmlElement): boolean {
  for (let at: XmlParent | undefined = element; at?.kind === 'element'; at = at.parent) {
    const namespace = at.namespaces.get(element.name.prefix);
    if (namespace !== undefined) return namespace === CDA;
  }
  return false;
}

function elementsIn({ children }: XmlParent): readonly XmlElement[] {
  return children.filter((child) => child.kind === 'element');
}

/** The text in an element, without space around it. */
function textIn(element: XmlElement): string {
  const parts = element.children.map((child) => {
    if (child.kind === 'element') return textIn(child);
    return child.kind === 'text' ? child.text : '';
  });
  return parts.join(' ').replace(/\s+/g, ' ').trim();
}

function attribute(element: XmlElement | undefined, name: string): string | undefined {
  const found = element?.attributes.find(({ prefix, local }) => prefix === '' && local === name);
  return found === undefined || found.value === '' ? undefined : found.value;
}
