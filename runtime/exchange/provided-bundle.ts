import { BINARY, decodeData } from '../core/binary/binary-content.js';
import { FhirError, type Issue } from '../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { elementsAt, hasCode, objectsOf, textOf } from './elements.js';
import { EXTENSIONS, LIST_TYPES, PROVIDE_PROFILES } from './mhd.js';
import { REFERENCE_RULES } from './publish-rules.js';
import { brokenRules, fault, type ExchangeRule } from './rules.js';
import { faultsOfBytes, sha1 } from './sent-document.js';

/** How much metadata a Bundle has to bring. */
type Level = keyof typeof PROVIDE_PROFILES;

/** A kind of entry that a Bundle of documents may have. IHE MHD 5.1.0, 2:3.65.4.1.2 */
interface Part {
  readonly type: string;
  readonly methods: readonly string[];
  /** The kind of List. */
  readonly kind?: 'submissionset' | 'folder';
  readonly min?: 1;
  readonly max?: 1;
  /** Rules of every level, and those of all but the minimal one. */
  readonly rules?: readonly ExchangeRule[];
  readonly comprehensive?: readonly ExchangeRule[];
}

/** Rules that IHE.MHD.Minimal.SubmissionSet and IHE.MHD.Minimal.Folder have in common beyond the structure of the type. */
const LIST_RULES: readonly ExchangeRule[] = [
  { path: 'modifierExtension', max: 0 },
  { path: 'identifier', type: 'entryUUID', max: 1, prefix: 'urn:uuid:' },
  { path: 'mode', values: ['working'] },
  { path: 'subject', max: 1 },
  { path: 'note', max: 1 },
  ...['encounter', 'orderedBy', 'emptyReason', 'entry.flag', 'entry.deleted', 'entry.date'].map(none),
];

const PARTS: readonly Part[] = [
  {
    ...{ type: 'List', kind: 'submissionset', methods: ['POST'], min: 1, max: 1 },
    rules: [
      { path: 'extension', url: EXTENSIONS.sourceId, min: 1, max: 1 },
      { path: 'extension', url: EXTENSIONS.designationType, max: 1 },
      { path: 'status', values: ['current'] },
      { path: 'date', min: 1 },
      { path: 'identifier', type: 'uniqueId', max: 1, prefix: 'urn:oid:' },
      ...LIST_RULES,
    ],
    comprehensive: [
      { path: 'subject', min: 1, code: 'XDSUnknownPatientId' },
      { path: 'extension', url: EXTENSIONS.designationType, min: 1 },
    ],
  },
  {
    ...{ type: 'DocumentReference', methods: ['POST'] },
    rules: [
      ...REFERENCE_RULES,
      { path: 'identifier', type: 'uniqueId', min: 1, max: 1 },
      { path: 'identifier', type: 'entryUUID', max: 1, prefix: 'urn:uuid:' },
      { path: 'status', min: 1, values: ['current', 'superseded'] },
      { path: 'content.attachment.url', min: 1, code: 'XDSMissingDocument' },
      { path: 'content.attachment.data', max: 0 },
    ],
    comprehensive: [
      ...['type', 'category', 'securityLabel', 'facilityType', 'practiceSetting'].map(needed),
      ...['content.attachment.language', 'content.attachment.creation', 'content.profile'].map(needed),
      { path: 'subject', min: 1, code: 'XDSUnknownPatientId' },
      { path: 'extension', url: EXTENSIONS.sourcePatient, min: 1, max: 1 },
    ],
  },
  { type: 'DocumentReference', methods: ['PATCH'] },
  {
    ...{ type: 'List', kind: 'folder', methods: ['POST', 'PUT'] },
    rules: [none('source'), { path: 'identifier', type: 'uniqueId', max: 1 }, ...LIST_RULES],
  },
  { type: BINARY, methods: ['POST'] },
  { type: 'Bundle', methods: ['POST'], rules: [{ path: 'type', min: 1, values: ['document'] }] },
  { type: 'Patient', methods: ['GET', 'POST', 'PUT'], max: 1 },
];

function needed(path: string): ExchangeRule {
  return { path, min: 1 };
}

function none(path: string): ExchangeRule {
  return { path, max: 0 };
}

/** Elements that may name an entry by its `fullUrl`. */
const NAMING = ['content.attachment.url', 'subject.reference', 'relatesTo.target.reference', 'entry.item.reference'];

/** The level that a Bundle claims; undefined: it does not claim to provide documents, and is a transaction like any other. */
export function levelProvided({ meta }: Resource): Level | undefined {
  const profiles = isObject(meta) && Array.isArray(meta['profile']) ? meta['profile'] : [];
  const claimed = profiles.map((each) => String(each).split('|', 1)[0]);
  return (Object.keys(PROVIDE_PROFILES) as Level[]).find((level) => claimed.includes(PROVIDE_PROFILES[level]));
}

/** An entry, and where it is. */
interface ProvidedEntry {
  readonly fullUrl: string | undefined;
  readonly method: string;
  /** Of the request. */
  readonly type: string;
  readonly resource: Resource | undefined;
  readonly at: string;
}

/**
 * Checks the entries of a transaction that provides documents, before any of them is executed. IHE MHD 5.1.0, 2:3.65.4.1
 *
 * @throws FhirError with an issue for each rule that is broken
 */
export function checkProvided(entries: readonly JsonValue[], level: Level): void {
  const all = entries.map(readEntry);
  const parts = new Map(all.map((entry) => [entry, PARTS.find((part) => isOf(entry, part))]));
  const issues = [
    ...all.flatMap((entry) => faultsOfEntry(entry, parts.get(entry), level)),
    ...PARTS.flatMap((part) => faultsOfCount(part, all.filter((entry) => parts.get(entry) === part))), // prettier-ignore
    ...faultsOfNames(all),
    ...faultsOfDocuments(all),
  ];
  const [first, ...others] = issues;
  if (first !== undefined) throw FhirError.of([first, ...others]);
}

function readEntry(value: JsonValue, index: number): ProvidedEntry {
  const { fullUrl, request, resource } = isObject(value) ? value : {};
  const url = textOf(request, 'url') ?? '';
  return {
    fullUrl: typeof fullUrl === 'string' ? fullUrl : undefined,
    method: textOf(request, 'method') ?? '',
    type: /^[A-Za-z]*/.exec(url)![0],
    resource: isObject(resource) ? (resource as Resource) : undefined,
    at: `Bundle.entry[${index}]`,
  };
}

function isOf({ type, method, resource }: ProvidedEntry, part: Part): boolean {
  if (type !== part.type || !part.methods.includes(method)) return false;
  return part.kind === undefined || hasCode(resource?.['code'], LIST_TYPES, part.kind);
}

function faultsOfEntry(
  { resource, method, type, at }: ProvidedEntry,
  part: Part | undefined,
  level: Level,
): readonly Issue[] {
  if (part === undefined) return [fault(at, `${method} of ${type} is no part of a Bundle that provides documents`)];
  if (method === 'PATCH') return supersedes(resource) ? [] : [fault(`${at}.resource`, 'has to set DocumentReference.status to superseded, and nothing else')]; // prettier-ignore
  if (resource === undefined) return [];
  const { rules = [], comprehensive = [] } = part;
  const broken = brokenRules(resource, level === 'minimal' ? rules : [...rules, ...comprehensive]);
  const elsewhere = level === 'comprehensive' ? faultsOfContained(resource) : [];
  return [...broken, ...elsewhere].map((issue) => within(at, issue));
}

/** Whether a patch does what the profile has it do. */
function supersedes(patch: Resource | undefined): boolean {
  const [operation, ...others] = objectsOf(patch, 'parameter');
  if (operation === undefined || others.length > 0) return false;
  const parts = objectsOf(operation, 'part');
  const valueOf = (name: string): JsonValue | undefined => {
    const part = parts.find((each) => each['name'] === name);
    return part && Object.entries(part).find(([element]) => element.startsWith('value'))?.[1];
  };
  return (
    ['replace', 'add'].includes(String(valueOf('type'))) &&
    valueOf('value') === 'superseded' &&
    /^DocumentReference(?:\.status)?$/.test(String(valueOf('path')))
  );
}

/** Elements that name persons within their resource in a Bundle that contains its metadata: author, attester, source of the submission set. */
const CONTAINED = ['author', 'attester.party', 'source'];

function faultsOfContained(resource: Resource): readonly Issue[] {
  const patients = elementsAt(resource, ['extension']).flatMap(({ element, at }) =>
    isObject(element) && element['url'] === EXTENSIONS.sourcePatient
      ? [{ element: element['valueReference'] ?? {}, at: `${at}.valueReference` }]
      : [],
  );
  return [...CONTAINED.flatMap((path) => elementsAt(resource, path.split('.'))), ...patients].flatMap(
    ({ element, at }) => {
      const reference = textOf(element, 'reference');
      if (reference === undefined || reference.startsWith('#')) return [];
      return [fault(`${at}.reference`, 'has to be contained; the UnContained profile lets it be elsewhere')];
    },
  );
}

function faultsOfCount({ type, kind, min, max }: Part, found: readonly ProvidedEntry[]): Issue[] {
  const what = kind === undefined ? type : `${type} of kind ${kind}`;
  if (min !== undefined && found.length < min)
    return [fault('Bundle.entry', `a Bundle that provides documents needs a ${what}`)];
  return (max === undefined ? [] : found.slice(max)).map(({ at }) => fault(at, `only one ${what} may be there`));
}

/** What is named by a URN has to be in the Bundle. */
function faultsOfNames(all: readonly ProvidedEntry[]): readonly Issue[] {
  const names = new Set(all.flatMap(({ fullUrl }) => fullUrl ?? []));
  return all.flatMap(({ resource, at }) =>
    NAMING.flatMap((path) =>
      resource === undefined
        ? []
        : elementsAt(resource, path.split('.')).flatMap(({ element, at: place }): Issue[] => {
            const isLost = typeof element === 'string' && /^urn:(?:uuid|oid):/.test(element) && !names.has(element);
            if (!isLost) return [];
            return [within(at, fault(place, 'no entry of the Bundle has this fullUrl', 'UnresolvedReferenceException'))]; // prettier-ignore
          }),
    ),
  );
}

/** Hash and size of documents that are in the Bundle as bytes; of those elsewhere they are believed. */
function faultsOfDocuments(all: readonly ProvidedEntry[]): readonly Issue[] {
  const byName = new Map(all.map((entry) => [entry.fullUrl, entry.resource]));
  return all.flatMap(({ resource, at }) => {
    if (resource === undefined) return [];
    return elementsAt(resource, ['content', 'attachment']).flatMap(({ element, at: place }) => {
      const document = byName.get(textOf(element, 'url'));
      if (document?.resourceType !== BINARY || !isObject(element)) return [];
      return faultsOfDocument(element, document, place).map((issue) => within(at, issue));
    });
  });
}

function faultsOfDocument(attachment: JsonObject, { data }: Resource, at: string): readonly Issue[] {
  try {
    const bytes = decodeData(data) ?? Buffer.alloc(0);
    const hash = attachment['hash'] === undefined ? '' : sha1(bytes);
    return faultsOfBytes(attachment, { size: bytes.length, hash }, at);
  } catch {
    // The creation of the Binary says so.
    return [];
  }
}

/** An issue of the resource of an entry, where that is in the Bundle. */
function within(at: string, issue: Issue): Issue {
  const { expression = '' } = issue;
  const place = `${at}.resource${expression.slice(/[.[]|$/.exec(expression)!.index)}`;
  return { ...issue, expression: place, text: issue.text.replace(expression, () => place) };
}
