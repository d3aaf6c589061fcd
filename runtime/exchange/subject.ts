import { isObject, type JsonObject, type Resource } from '../fhir/resource.js';
import type { FhirError } from '../fhir/errors.js';
import { checkedView } from '../core/access/checked-view.js';
import type { Call } from '../core/call.js';
import { matchCriteria, readCriteria } from '../search-execution/criteria.js';
import type { Services } from '../core/services.js';
import type { WriteTarget, WriteView } from '../core/write/write-plan.js';
import { escapeValue } from '../search/parse/parse-value.js';
import { textOf } from './elements.js';
import { findKnown, isConditional, isElsewhere } from './known.js';
import { refusal } from './refusal.js';

const PATIENT = 'Patient';
const SUBJECT = 'DocumentReference.subject';

/** The patient of a document, found. */
export interface FoundSubject {
  /** Absent: that which was sent. */
  readonly reference?: string;
  readonly preconditions: WriteTarget['preconditions'];
}

/** Finds the patient of a document. */
export interface SubjectFinder {
  /** For `commit`. */
  readonly keys: readonly string[];
  /** @throws FhirError `patient-unknown` */
  find(view: WriteView): Promise<FoundSubject>;
}

const AS_SENT: FoundSubject = { preconditions: [] };

/**
 * The finder of the patient that a document is about. A literal reference has to lead to a patient of this server, of the same Bundle, or of
 * another server, which is believed; a logical one to exactly one patient that the token shows.
 *
 * @throws FhirError `patient-unknown`, `scope-missing`
 */
export async function openSubject(resource: Resource, call: Call, services: Services): Promise<SubjectFinder> {
  const subject = isObject(resource['subject']) ? resource['subject'] : {};
  const reference = textOf(subject, 'reference');
  return reference === undefined
    ? byIdentifier(subject['identifier'] as JsonObject | undefined, call, services)
    : byReference(reference, call, services);
}

function byReference(reference: string, call: Call, services: Services): SubjectFinder {
  const { together } = call;
  const inBundle = together?.(reference);
  // A conditional reference is resolved by the transaction, or refused there.
  const isResolved =
    inBundle?.resourceType === PATIENT || (together !== undefined && isConditional(reference, PATIENT, services.own));
  if (isResolved) return { keys: [], find: () => Promise.resolve(AS_SENT) };
  const local = inBundle === undefined ? services.own.readLocal(reference) : undefined;
  const isBelieved = inBundle === undefined && isElsewhere(reference, services.own);
  if (isBelieved && services.own.read(reference)?.type === PATIENT)
    return { keys: [], find: () => Promise.resolve(AS_SENT) };
  if (local?.type !== PATIENT) throw unknown(`${SUBJECT} has to refer to a ${PATIENT}`, 'reference');
  return {
    keys: [`${PATIENT}/${local.id}`],
    async find(view) {
      if ((await findKnown(local, view, call, services)) !== undefined) return AS_SENT;
      throw unknown(`There is no ${PATIENT}/${local.id}, so that no client would find the document`, 'reference');
    },
  };
}

async function byIdentifier(
  identifier: JsonObject | undefined,
  call: Call,
  services: Services,
): Promise<SubjectFinder> {
  const [system, value] = [textOf(identifier, 'system'), textOf(identifier, 'value')];
  if (value === undefined || value === '')
    throw unknown(`${SUBJECT} needs a reference to a ${PATIENT}, or an identifier with a value`);
  const params = new URLSearchParams({ identifier: `${escapeValue(system ?? '')}|${escapeValue(value)}` });
  const criteria = await readCriteria(PATIENT, params, call, services);
  return {
    keys: [criteria.key],
    async find(view) {
      const { found, preconditions } = await matchCriteria(criteria, checkedView(view, call, services), 2);
      const [only, second] = found;
      if (only === undefined) throw unknown(`No ${PATIENT} has the identifier`, 'identifier');
      if (second !== undefined) throw unknown(`Several Patients have the identifier; it has to be one`, 'identifier');
      return { reference: `${PATIENT}/${only.id}`, preconditions };
    },
  };
}

function unknown(text: string, element?: 'reference' | 'identifier'): FhirError {
  return refusal(
    'patient-unknown',
    'XDSUnknownPatientId',
    text,
    element === undefined ? SUBJECT : `${SUBJECT}.${element}`,
  );
}
