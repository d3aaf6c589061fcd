import { randomUUID } from 'node:crypto';

import { FhirError } from '../fhir/errors.js';
import { newId } from '../fhir/id.js';
import { isObject, type JsonObject, type Resource } from '../fhir/resource.js';
import { BINARY, blobKey, once, storeContent, type Pointer } from '../core/binary/binary-content.js';
import { composeBinary } from '../core/binary/binary-store.js';
import type { Call } from '../core/call.js';
import type { Services } from '../core/services.js';
import { composePut } from '../core/write/compose-change.js';
import { parsedBodyOf } from '../core/write/parsed-bodies.js';
import type { Decided, Target, WritePlan, WritePlanner } from '../core/write/write-plan.js';
import type { Change } from '../store/store.js';
import { checkPublishRules, isPublication } from './publish-rules.js';
import { withLabelsOf } from './labels.js';
import { openRelated } from './related.js';
import { inElement, readSentDocument, type SentDocument } from './sent-document.js';
import { openSubject, type FoundSubject } from './subject.js';
import { storedReference, submissionSetOf, withAbsoluteUrls } from './take-apart.js';

/**
 * Makes of a planner of creates one that publishes documents: a DocumentReference that brings its document is taken apart, and stored together
 * with the document and a SubmissionSet, or not at all. What is written beside the DocumentReference is the server's act, so that no scope on
 * its types is needed. IHE MHD 5.1.0, 2:3.105 (Simplified Publish)
 */
export function withPublish(planner: WritePlanner): WritePlanner {
  return (call, services) => {
    const { body } = call;
    const isPublished = services.exchange.documents && isObject(body) && isPublication(body as Resource);
    // Of a large body with faults there is only the head.
    const isWhole = isPublished && (parsedBodyOf(body as Resource)?.faults ?? []).length === 0;
    if (isWhole) return planPublication(call, body as Resource, planner, services);
    return call.isProvided === true ? planProvided(call, planner, services) : planner(call, services);
  };
}

/** Documents of a transaction that provides them have absolute URLs, so that a client that reads the DocumentReference elsewhere finds them. */
async function planProvided(call: Call, planner: WritePlanner, services: Services): Promise<WritePlan> {
  const plan = await planner(call, services);
  return {
    ...plan,
    decide: (writeTarget, content) => plan.decide(writeTarget, content && withAbsoluteUrls(content, call.base)),
  };
}

async function planPublication(
  call: Call,
  sent: Resource,
  planner: WritePlanner,
  services: Services,
): Promise<WritePlan> {
  checkPublishRules(sent);
  const related = openRelated(sent, call, services);
  const patient = await openSubject(sent, call, services);
  const document = await readSentDocument(sent, call, services);
  const held = holdDocument(document, sent, services);
  const placement = { url: `${call.base}/${held.type}/${held.id}`, uniqueId: `urn:uuid:${randomUUID()}` };
  const inner = await planner({ ...call, body: storedReference(sent, document, placement) }, services);
  let subject: FoundSubject | undefined;
  let missing: FhirError | undefined;
  return {
    ...inner,
    keys: [...inner.keys, ...patient.keys, ...related.keys],
    async resolveTarget(view) {
      const target = await inner.resolveTarget(view);
      if (target.exists === true) return target;
      subject = missing = undefined;
      try {
        subject = await patient.find(view);
        const targets = [...target.targets, ...(await related.find(view))];
        return { ...target, targets, preconditions: [...target.preconditions, ...subject.preconditions] };
      } catch (error) {
        if (!(error instanceof FhirError)) throw error;
        // What the token may not write is refused as such, whatever is stored.
        missing = error;
        return target;
      }
    },
    async decide(writeTarget, content = sent): Promise<Decided> {
      const [own, ...replaced] = writeTarget.targets;
      const reference = storedReference(content, document, placement, subject?.reference);
      const decided = await inner.decide({ ...writeTarget, targets: own === undefined ? [] : [own] }, reference);
      if (writeTarget.exists === true || own === undefined) return decided;
      if (missing !== undefined) throw missing;
      const superseded = await related.supersede(replaced, reference);
      const submissionSet = withLabelsOf(submissionSetOf(reference, own.id, sourceOf(call, services)), sent);
      const list = await composePut(submissionSet, newId(), undefined, services);
      const added = [await held.compose(), list].filter((change) => change !== undefined);
      return { ...decided, changes: [...decided.changes.map(withFound), ...added, ...superseded] };
    },
    drop: held.drop,
  };
}

/** Elements of a DocumentReference whose targets a publication has looked up for its client. */
const FOUND = /^DocumentReference\.(?:subject|relatesTo\[\d+\]\.target)$/;

/** A change whose targets that were found are not hidden, whatever the token shows of their types. */
function withFound(change: Change): Change {
  if (change.targets === undefined) return change;
  const targets = change.targets.map(({ isHidden, ...target }) =>
    isHidden === undefined || FOUND.test(target.expression) ? target : { ...target, isHidden },
  );
  return { ...change, targets };
}

/** The document while it is not yet written. */
interface HeldDocument extends Pick<Target, 'id'> {
  readonly type: string;
  compose(): Promise<Change | undefined>;
  /** Deletes its blob. A failure is ignored: the sweep deletes the blob later. */
  drop(): Promise<void>;
}

/** @param sent the DocumentReference, whose labels the document has too */
function holdDocument({ contentType, bytes, bundle }: SentDocument, sent: Resource, services: Services): HeldDocument {
  const { store, limits } = services;
  const id = newId();
  if (bundle !== undefined) {
    const content = withLabelsOf(bundle, sent);
    const compose = () => inElement(() => composePut(content, id, undefined, services));
    return { type: bundle.resourceType, id, compose, drop: () => Promise.resolve() };
  }
  let pointer: Pointer | undefined;
  return {
    ...{ type: BINARY, id },
    async compose() {
      pointer ??= await storeContent(store.blobs, id, once(bytes), limits.body);
      const resource = withLabelsOf({ resourceType: BINARY, contentType }, sent);
      return composeBinary(resource, pointer, id, undefined, services);
    },
    async drop() {
      if (pointer !== undefined) await store.blobs.delete(blobKey(id, pointer.name)).catch(() => {});
    },
  };
}

/** Returns the source of a publication: the configured one, or the client as its authorization server knows it. */
function sourceOf({ principal: { clientId }, base }: Call, { exchange, authorization }: Services): JsonObject {
  const { sourceId } = exchange;
  if (sourceId !== undefined) return { value: sourceId };
  return { system: authorization?.issuer ?? base, value: clientId === '' ? 'anonymous' : clientId };
}
