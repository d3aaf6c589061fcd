import { randomUUID } from 'node:crypto';

import { ANSWER_ROOM, openAnswerRoom } from '../../core/answer-room.js';
import { joinBundle, replyBundle, type Call, type Reply, type ReplyBundle } from '../../core/call.js';
import { createCallOf } from '../../core/create-call.js';
import { readStored } from '../../core/read-stored.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import { yieldUntil } from '../../fhir/yield-until.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { execute } from '../../interactions/execute.js';
import { readArguments, valueOf } from '../common/arguments.js';
import { followGraph, readVersion } from './graph.js';
import { readNamed, type NamedResource } from '../common/read-argument.js';

/** Resources that one document holds. */
const MOST = 1000;

/**
 * `Composition/[id]/$document`: a document Bundle of the Composition and of all resources of this server that it refers to,
 * with `graph` those that the graph leads to as well, with `persist` stored as a new Bundle. It has the security labels of its parts.
 * References to other servers stay references. https://hl7.org/fhir/R5/composition-operation-document.html
 *
 * @throws FhirError `not-found` for the Composition and for what it refers to, `scope-missing`, `too-costly`
 */
export async function document(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const graph = valueOf(found, 'graph');
  const focus = await readVersion(call, services);
  const room = openAnswerRoom(ANSWER_ROOM, 'The resources of the document are too large together');
  const composition = await readStored(focus.json ?? '{}', services);
  const resources = new Map<string, string>([[`Composition/${focus.id}`, room.take(focus.json ?? '{}')]]);
  const labels = [...labelsOf(composition)];
  const pace = yieldUntil(call.signal);
  await withinBudget(services.limits.queryTime, call.signal, async (signal) => {
    for (const [key, named] of referredBy(composition, services)) {
      signal?.throwIfAborted();
      if (resources.has(key)) continue;
      if (resources.size >= MOST) throw new FhirError('too-costly', `A document may have ${MOST} resources`);
      await pace();
      const part = await readPart(key, named, call, services);
      resources.set(key, room.take(writeJson(part)));
      for (const label of labelsOf(part)) labels.push(label);
    }
  });
  const more = graph === undefined ? [] : await followGraph(focus, String(graph), call, services);
  for (const { type, id, json = '{}' } of more) {
    if (resources.has(`${type}/${id}`)) continue;
    resources.set(`${type}/${id}`, room.take(json));
    for (const label of labelsOf(await readStored(json, services))) labels.push(label);
  }
  const bundle = bundleOf(resources, mergeLabels(labels), call.base);
  if (valueOf(found, 'persist') !== true) return replyBundle(bundle);
  return store(await readStored(joinBundle(bundle), services), call, services);
}

/** The resources of this server that a Composition refers to, in the order in which it does, each once. */
function referredBy(composition: Resource, { own: bases }: Services): ReadonlyMap<string, NamedResource> {
  const found = new Map<string, NamedResource>();
  const visit = (value: JsonValue): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isObject(value)) return;
    const { reference } = value;
    const named = typeof reference === 'string' ? bases.read(reference) : undefined;
    if (named !== undefined && named.base === undefined) {
      const { type, id, version } = named;
      const versionId = version === undefined ? undefined : String(version);
      found.set(`${type}/${id}`, { type, id, ...(versionId !== undefined && { versionId }) });
    }
    Object.values(value).forEach((each) => each !== undefined && visit(each));
  };
  const { contained: _contained, ...own } = composition;
  visit(own as JsonObject);
  return found;
}

/** A document has all that its Composition refers to, or there is none. */
async function readPart(key: string, named: NamedResource, call: Call, services: Services): Promise<Resource> {
  try {
    return (await readNamed(named, call, services)).resource;
  } catch (error) {
    if (!(error instanceof FhirError) || (error.code !== 'not-found' && error.code !== 'deleted')) throw error;
    throw new FhirError(error.code, `The Composition refers to ${key}, which does not exist; a document would lack it`);
  }
}

/** Levels of confidentiality, the lowest first. https://terminology.hl7.org/CodeSystem-v3-Confidentiality.html */
const CONFIDENTIALITY = 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality';
const LEVELS = ['U', 'L', 'M', 'N', 'R', 'V'];

/** The labels of all parts, each once; of the levels of confidentiality the highest. */
function mergeLabels(all: readonly JsonObject[]): readonly JsonObject[] {
  const labels = new Map<string, JsonObject>();
  let highest: JsonObject | undefined;
  for (const label of all) {
    const { system, code } = label;
    const level = system === CONFIDENTIALITY ? LEVELS.indexOf(String(code)) : -1;
    if (level < 0) labels.set(JSON.stringify([system ?? null, code ?? null]), label);
    else if (level > LEVELS.indexOf(String(highest?.['code']))) highest = label;
  }
  return [...(highest === undefined ? [] : [highest]), ...labels.values()];
}

function labelsOf({ meta }: Resource): readonly JsonObject[] {
  return isObject(meta) && Array.isArray(meta['security']) ? meta['security'].filter(isObject) : [];
}

/** https://hl7.org/fhir/R5/documents.html#content */
function bundleOf(resources: ReadonlyMap<string, string>, security: readonly JsonObject[], base: string): ReplyBundle {
  const meta = security.length > 0 ? `,"meta":${JSON.stringify({ security })}` : '';
  const identifier = JSON.stringify({ system: 'urn:ietf:rfc:3986', value: `urn:uuid:${randomUUID()}` });
  const head = `{"resourceType":"Bundle"${meta},"identifier":${identifier},"type":"document","timestamp":"${formatInstant(Date.now())}"`;
  const entries = [...resources].map(
    ([key, text]) => `{"fullUrl":${JSON.stringify(`${base}/${key}`)},"resource":${text}}`,
  );
  return { head: `${head},"entry":[`, entries, tail: ']}' };
}

/** Stored as a request of its own would; the token needs `c` on Bundle. */
function store(bundle: Resource, call: Call, services: Services): Promise<Reply> {
  return execute(createCallOf(call, bundle, { return: 'representation' }), services);
}
