import { isObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { jsonMembers } from '../core/write/compose-change.js';
import { BINARY } from '../core/binary/binary-content.js';
import { bringsDocument } from '../exchange/publish-rules.js';
import { faultsAround } from '../interactions/bundle/entry-faults.js';
import { envelopeOf, openBundle } from '../interactions/bundle/envelope.js';
import type { LinkFinder } from '../interactions/bundle/links/links.js';
import { namesMadeWellFormed } from '../interactions/bundle/links/well-formed.js';
import type { BodyPurpose } from '../core/write/large-bodies.js';
import type { Judgement, ParsedBody, ParsedContent } from '../core/write/parsed-bodies.js';
import type { Services } from '../core/services.js';
import { extractContained } from '../indexing/contained.js';
import { jsonBytes } from '../indexing/entry-bytes.js';
import type { Fault } from '../validate/fault.js';
import { fitWords } from '../indexing/text/fit-words.js';
import { locateFaults } from '../validate/locate-faults.js';

/** Services and limits that a body is checked with. */
export interface BodyServices {
  readonly validate: Services['validate'];
  readonly rules: Services['rules'];
  readonly validation: Services['validation'];
  readonly extract: Services['extract'];
  readonly plans: LinkFinder['plans'];
  /** Entries that a Bundle may have, and bytes that a resource may have. */
  readonly limits: { readonly entries: number; readonly resource: number };
}

/** A body, and what was found out about it. */
export interface BodyParser {
  readonly tree: JsonValue;
  /** Of the whole. */
  readonly prepared?: ParsedBody;
  /** Of the resources in its entries, by their place; of one with faults there is no more than its head. */
  readonly entries?: ReadonlyMap<number, readonly Fault[]>;
  /** Judgement on the body, or on the resource in its parameter at a place. */
  readonly judged?: { readonly at: number | undefined; readonly judgement: Judgement };
}

/**
 * Finds out about a body what would take long later.
 *
 * @param text the JSON that the tree was read from; undefined: it came in another form
 * @throws FhirError where a Bundle cannot be executed
 */
export function takeIn(
  tree: JsonValue,
  text: string | undefined,
  purpose: BodyPurpose,
  services: BodyServices,
): BodyParser {
  if (purpose === 'execute') return takeBundle(tree, text, services);
  if (purpose === 'parse' || !isResource(tree)) return { tree };
  if (purpose === 'judge') return { tree, judged: judge(tree, text, services) };
  // The content of a Binary goes another way.
  if (purpose === 'extract') return tree.resourceType === BINARY ? { tree } : takeRight(tree, services);
  if (purpose === 'structure') {
    if (isWithoutParameters(tree)) return { tree };
    const wrong = locateFaults(services.validate(tree), () => text);
    return { tree: wrong.length > 0 ? headOf(tree) : tree, prepared: { faults: wrong } };
  }
  const faults = locateFaults(faultsOfWritten(purpose === 'create' ? withoutId(tree) : tree, services), () => text);
  if (faults.length > 0) return { tree: headOf(tree), prepared: { faults } };
  // The content of a Binary goes another way.
  return tree.resourceType === BINARY ? { tree, prepared: { faults } } : takeRight(tree, services);
}

/** An empty list of parameters is small, and legal as a patch. */
function isWithoutParameters({ parameter }: Resource): boolean {
  return Array.isArray(parameter) && parameter.length === 0;
}

/** All that is wrong with the subject of `$validate`. */
function judge(
  tree: Resource,
  text: string | undefined,
  { validate, rules }: BodyServices,
): NonNullable<BodyParser['judged']> {
  const parameters = tree.resourceType === 'Parameters' && Array.isArray(tree['parameter']) ? tree['parameter'] : [];
  const at = parameters.findIndex((each) => isObject(each) && each['name'] === 'resource');
  const wrapped = isObject(parameters[at]) ? parameters[at]['resource'] : undefined;
  const subject = isObject(wrapped) ? (wrapped as Resource) : tree;
  const way = subject === tree ? [] : ['parameter', at, 'resource'];
  const found = rules.thorough(subject);
  const judgement = {
    ...found,
    faults: locateFaults(found.faults, () => text, way),
    structure: locateFaults(validate(subject), () => text, way),
  };
  return { at: subject === tree ? undefined : at, judgement };
}

/** What refuses a write of a resource; see `validateWritten`. */
function faultsOfWritten(resource: Resource, { validate, rules, validation }: BodyServices): readonly Fault[] {
  if (validation === 'off') return [];
  const faults = validate(resource);
  return faults.length > 0 || validation !== 'full' ? faults : rules.errors(resource);
}

/** Finds out about a resource that is known to be right. */
export function takeRight(tree: Resource, services: Pick<BodyServices, 'extract' | 'limits'>): BodyParser {
  const content = contentOf(tree, services);
  // The document of a DocumentReference may be taken out of it before it is stored.
  const isCut = content.entryBytes === Infinity && !bringsDocument(tree);
  return { tree: isCut ? headOf(tree) : tree, prepared: { faults: [], content } };
}

function takeBundle(tree: JsonValue, text: string | undefined, services: BodyServices): BodyParser {
  const opened = openBundle(tree, services.limits.entries);
  const { bundle, type } = opened;
  const found = services.validate(envelopeOf(opened));
  const grave = found.length > 0 && type === 'batch' ? faultsAround(opened, services.validate) : found;
  if (grave.length > 0) {
    const faults = locateFaults(grave, () => text);
    return { tree: { resourceType: bundle.resourceType, type, entry: [] }, prepared: { faults } };
  }
  const entries = new Map<number, readonly Fault[]>();
  const makeWellFormed = type === 'transaction' ? namesMadeWellFormed(opened.entries, services.plans) : undefined;
  for (const [index, entry] of opened.entries.entries()) {
    const resource = isObject(entry) ? entry['resource'] : undefined;
    const method = isObject(entry) ? methodOf(entry['request']) : undefined;
    if (method === undefined || !isObject(entry) || !isResource(resource)) continue;
    // A patch is validated by structure alone; that in a Binary is no resource.
    const isPatch = method === 'PATCH';
    if (isPatch && (resource.resourceType === BINARY || isWithoutParameters(resource))) continue;
    if (!isPatch) makeWellFormed?.(resource);
    const faults = isPatch
      ? services.validate(resource)
      : faultsOfWritten(method === 'POST' ? withoutId(resource) : resource, services);
    entries.set(index, faults);
    if (faults.length > 0) entry['resource'] = headOf(resource);
  }
  // What is wrong with single entries of a batch is for their answers, and found again by who writes these.
  return found.length > 0 ? { tree, entries } : { tree, prepared: { faults: [] }, entries };
}

/** The method of an entry that stores its resource, or patches by it; one that hands it to an operation has its own ways. */
function methodOf(request: JsonValue | undefined): 'POST' | 'PUT' | 'PATCH' | undefined {
  if (!isObject(request) || typeof request['url'] !== 'string' || request['url'].includes('$')) return undefined;
  const { method } = request;
  return method === 'POST' || method === 'PUT' || method === 'PATCH' ? method : undefined;
}

/** What is kept of what is too large anyway. */
const TOO_LARGE: ParsedContent = { members: '', entries: [], contained: [], isCut: false, entryBytes: Infinity };

function contentOf(resource: Resource, { extract, limits }: Pick<BodyServices, 'extract' | 'limits'>): ParsedContent {
  const { id: _id, meta: _meta, ...rest } = resource;
  const { resourceType: _type, ...others } = rest;
  const text = jsonMembers(others);
  const bytes = Buffer.byteLength(text);
  const entries = bytes > limits.resource ? [] : fitWords(extract(rest as Resource), rest, text.length);
  const entryBytes = bytes > limits.resource ? Infinity : jsonBytes(entries);
  if (bytes + entryBytes > limits.resource) return TOO_LARGE;
  return { members: text, entries, entryBytes, ...extractContained(rest, extract, limits.resource) };
}

function isResource(tree: JsonValue | undefined): tree is Resource {
  return isObject(tree) && typeof tree['resourceType'] === 'string';
}

/** An id in the body of a create is ignored, so it need not be a right one either. */
function withoutId({ id: _id, ...rest }: Resource): Resource {
  return rest as Resource;
}

/** What is asked of a resource before its faults are reported. */
function headOf({ resourceType, id, meta }: Resource): Resource {
  return { resourceType, ...(id === undefined ? {} : { id }), ...(meta === undefined ? {} : { meta }) };
}
