import { neededOn } from '../auth/access/needed-scopes.js';
import { constraintsMissed, scopeMissing } from '../auth/access/refuse.js';
import { isWithinReach } from '../auth/access/visible.js';
import type { FhirError } from '../fhir/errors.js';
import { isObject, type Resource } from '../fhir/resource.js';
import { isVisible } from '../core/access/visibility.js';
import type { Call } from '../core/call.js';
import { readStored } from '../core/read-stored.js';
import type { Services } from '../core/services.js';
import { composePut } from '../core/write/compose-change.js';
import { liveVersion } from '../core/write/preconditions.js';
import type { Target, WriteView } from '../core/write/write-plan.js';
import type { Put, ResourceKey } from '../store/store.js';
import { elementsAt, hasCode, textOf } from './elements.js';
import { findKnown, isConditional, isElsewhere, nameOf } from './known.js';
import { refusal } from './refusal.js';
import type { SharingCode } from './mhd.js';

const REFERENCE = 'DocumentReference';
const RELATIONSHIPS = 'http://hl7.org/fhir/document-relationship-type';

/** A document of this server that the published one is related to. */
interface Related extends ResourceKey {
  /** It is replaced, so that it is not current any more. */
  readonly isReplaced: boolean;
  readonly at: string;
}

/** The documents of this server that a publication is related to. */
export interface RelatedDocuments {
  /** For `commit`. */
  readonly keys: readonly string[];
  /** Finds the documents that are replaced. @throws FhirError `related-document-unknown` */
  find(view: WriteView): Promise<readonly Target[]>;
  /** The changes that make documents superseded. @param reference the new one. @throws FhirError `publication-invalid`, `scope-missing` */
  supersede(targets: readonly Target[], reference: Resource): Promise<readonly Put[]>;
}

/**
 * The documents that `relatesTo` names. All have to be there; one that is replaced becomes superseded, which the token has to allow.
 *
 * @throws FhirError `related-document-unknown`, `scope-missing`
 */
export function openRelated(resource: Resource, call: Call, services: Services): RelatedDocuments {
  const named = elementsAt(resource, ['relatesTo']).flatMap((each) => relatedBy(each, call, services));
  // Each is looked up once, however often it is named.
  const related = [...new Map(named.map((each) => [`${each.id} ${each.isReplaced}`, each])).values()];
  const { access, scope } = call.principal;
  const replaced = new Map(related.filter(({ isReplaced }) => isReplaced).map((each) => [each.id, each]));
  const needed = neededOn(REFERENCE, 'u');
  if (replaced.size > 0 && access.on(REFERENCE, 'u') === 'nothing') throw scopeMissing(needed, access);
  return {
    keys: [...replaced.keys()].map((id) => `${REFERENCE}/${id}`),
    async find(view) {
      const targets = new Map<string, Target>();
      for (const { id, isReplaced, at } of related) {
        const live = isReplaced
          ? await findReplaced(id, view, call, services)
          : await findKnown({ type: REFERENCE, id }, view, call, services);
        if (live === undefined) throw unresolved(`There is no ${REFERENCE}/${id}`, at);
        if (isReplaced) targets.set(id, { id, current: live });
      }
      return [...targets.values()];
    },
    async supersede(targets, reference) {
      const patient = textOf(reference['subject'], 'reference');
      const changes: Put[] = [];
      for (const { id, current } of targets) {
        const at = replaced.get(id)?.at ?? `${REFERENCE}.relatesTo`;
        const before = await contentOf(current, services);
        const theirs = textOf(before['subject'], 'reference');
        const isSame =
          patient !== undefined &&
          theirs !== undefined &&
          nameOf(patient, services.own) === nameOf(theirs, services.own);
        if (!isSame) throw refused('XDSPatientIdDoesNotMatch', `${REFERENCE}/${id} is not about the same patient`, at);
        if (before['status'] !== 'current')
          throw refused('XDSRegistryDeprecatedDocumentError', `${REFERENCE}/${id} is not current`, at);
        const change = await composePut({ ...before, status: 'superseded' }, id, current, services, { before });
        if (change === undefined) continue;
        const next = { id, lastUpdated: Date.now(), entries: change.entries };
        if (!isWithinReach(access.on(REFERENCE, 'u'), () => next))
          throw constraintsMissed('What is to be superseded', needed, scope);
        changes.push(change);
      }
      return changes;
    },
  };
}

/** @throws FhirError for what cannot be found or replaced */
function relatedBy(
  { element, at }: ReturnType<typeof elementsAt>[number],
  { together }: Call,
  { own }: Services,
): readonly Related[] {
  const { code, target } = isObject(element) ? element : {};
  const isReplaced = hasCode(code, RELATIONSHIPS, 'replaces');
  const reference = textOf(target, 'reference');
  if (reference === undefined) throw unresolved(`${at}.target needs a reference`, `${at}.target`);
  const place = `${at}.target.reference`;
  const inBundle = together?.(reference);
  const local = inBundle === undefined ? own.readLocal(reference) : undefined;
  if (local?.type === REFERENCE) return [{ ...local, isReplaced, at: place }];
  const isBelieved =
    inBundle?.resourceType === REFERENCE ||
    (together !== undefined && isConditional(reference, REFERENCE, own)) ||
    (inBundle === undefined && isElsewhere(reference, own));
  if (!isBelieved) throw unresolved(`${place} has to refer to a ${REFERENCE}`, place);
  if (isReplaced)
    throw unresolved(`${place}: only a ${REFERENCE} that this server has, by its id, can be replaced`, place);
  return [];
}

/** What a token may change is as good as absent where it may not. */
async function findReplaced(id: string, view: WriteView, call: Call, services: Services): Promise<Target['current']> {
  const live = liveVersion(await view.read(REFERENCE, id));
  return live !== undefined && (await isVisible(live, 'u', call, services)) ? live : undefined;
}

/** A transaction may have kept no body of a version. */
async function contentOf(current: Target['current'], services: Services): Promise<Resource> {
  const { type = '', id = '', version = 0, json = '' } = current ?? {};
  const whole = json === '' ? (await services.store.readVersion(type, id, version))?.json : json;
  if (whole === undefined) throw new Error(`version ${version} of ${type}/${id} is missing`);
  return await readStored(whole, services);
}

function refused(sharing: SharingCode, text: string, expression: string): FhirError {
  return refusal('publication-invalid', sharing, text, expression);
}

function unresolved(text: string, expression: string): FhirError {
  return refusal('related-document-unknown', 'UnresolvedReferenceException', text, expression);
}
