import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type Resource } from '../../fhir/resource.js';
import { objectsOf, textOf } from '../elements.js';
import { REPLACES, type DocumentHeader, type DocumentSubject } from './document-header.js';

/** Elements of an author or custodian that a DocumentReference has of them; without others, which may refer to what it does not contain. */
const KEPT_OF_PARTY = ['identifier', 'name'];

const PATIENT = 'Patient';

/** Types of authors that have a name of their own. */
const PARTIES: ReadonlySet<string> = new Set(['Practitioner', 'Organization', 'Patient', 'RelatedPerson']);

/**
 * Returns the header of a FHIR document: its Composition, and what that refers to in the Bundle. Undefined: it does not begin with a
 * Composition. https://hl7.org/fhir/R5/documents.html#content
 */
export function readCompositionHeader(bundle: Resource): DocumentHeader | undefined {
  const [first] = objectsOf(bundle, 'entry');
  const composition = first?.['resource'];
  if (!isObject(composition) || composition['resourceType'] !== 'Composition') return undefined;
  checkPublished(composition);
  const find = entriesBy(bundle, textOf(first, 'fullUrl'));
  const parties = (name: string): readonly JsonObject[] => {
    const named = [composition[name]].flat().filter(isObject);
    // Each once, however often it is named.
    const distinct = new Map(named.map((party) => [textOf(party, 'reference') ?? party, party]));
    return [...distinct.values()].flatMap((party) => partyOf(party, find));
  };
  const [custodian] = parties('custodian');
  const labels = [composition, bundle].flatMap(({ meta }) => objectsOf(meta, 'security'));
  const period = objectsOf(composition, 'event').find(({ period: of }) => isObject(of))?.['period'];
  const { identifier } = bundle;
  return {
    ...(isObject(identifier) && { identifier }),
    meta: bundle['meta'],
    subject: subjectOf(composition, find),
    authors: parties('author'),
    ...(custodian !== undefined && { custodian }),
    elements: {
      ...kept(composition, ['type', 'category']),
      ...(period !== undefined && { period }),
      ...(labels.length > 0 && { securityLabel: labels.map((label) => ({ coding: [label] })) }),
    },
    attachment: {
      ...kept(composition, ['title', 'language']),
      ...(typeof composition['date'] === 'string' && { creation: composition['date'] }),
    },
  };
}

/** @throws FhirError for what a DocumentReference made of the header would not say */
function checkPublished(composition: JsonObject): void {
  if (WITHDRAWN.has(String(composition['status'])))
    throw new FhirError('document-invalid', `A Composition that is ${String(composition['status'])} is not published`);
  if (objectsOf(composition, 'relatesTo').some(({ type }) => type === 'replaces'))
    throw new FhirError('document-invalid', REPLACES);
}

/** Statuses of documents that are withdrawn. */
const WITHDRAWN: ReadonlySet<string> = new Set(['entered-in-error', 'cancelled']);

/** An entry of a document, by a reference from its Composition. */
interface FoundEntry {
  readonly fullUrl: string;
  readonly resource: JsonObject;
}

/** Returns what finds entries by reference: as it is, or below the base of the Composition. https://hl7.org/fhir/R5/bundle.html#references */
function entriesBy(bundle: Resource, own: string | undefined): (reference: string) => FoundEntry | undefined {
  const entries = new Map<string, FoundEntry>();
  for (const { fullUrl, resource } of objectsOf(bundle, 'entry'))
    if (typeof fullUrl === 'string' && isObject(resource)) entries.set(fullUrl, { fullUrl, resource });
  const base = own === undefined ? undefined : /^(https?:.*\/)Composition\/[^/]+$/.exec(own)?.[1];
  return (reference) => entries.get(reference) ?? (base === undefined ? undefined : entries.get(`${base}${reference}`));
}

function subjectOf(composition: JsonObject, find: (reference: string) => FoundEntry | undefined): DocumentSubject {
  const at = 'Composition.subject';
  const subjects = [composition['subject']].flat().filter(isObject);
  const [subject] = subjects;
  const none = { count: subjects.length, identifiers: [], at };
  const type = textOf(subject, 'type');
  if (subject === undefined || (type !== undefined && type !== PATIENT)) return none;
  const reference = textOf(subject, 'reference');
  const logical = isObject(subject['identifier']) ? [subject['identifier']] : [];
  if (reference === undefined) return { ...none, identifiers: logical };
  const entry = find(reference);
  if (entry === undefined) return { ...none, reference, identifiers: logical };
  if (entry.resource['resourceType'] !== PATIENT) return none;
  const identifiers = [...logical, ...objectsOf(entry.resource, 'identifier')];
  return { ...none, reference: entry.fullUrl, isEnclosed: true, identifiers };
}

/** The resource that a party is, or a reference that only names it. */
function partyOf(party: JsonObject, find: (reference: string) => FoundEntry | undefined): readonly JsonObject[] {
  const resource = find(textOf(party, 'reference') ?? '')?.resource;
  const type = textOf(resource, 'resourceType');
  if (resource !== undefined && type !== undefined && PARTIES.has(type))
    return [{ resourceType: type, ...kept(resource, KEPT_OF_PARTY) }];
  const named = kept(party, ['identifier', 'display', 'type']);
  return Object.keys(named).length > 0 ? [named] : [];
}

function kept(resource: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => names.includes(name)));
}
