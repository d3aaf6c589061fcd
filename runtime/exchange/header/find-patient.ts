import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { storeView } from '../../core/store-view.js';
import type { FhirError } from '../../fhir/errors.js';
import { textOf } from '../elements.js';
import { findKnown, isElsewhere } from '../known.js';
import { refusal } from '../refusal.js';
import type { DocumentSubject } from './document-header.js';

const PATIENT = 'Patient';

/** Identifiers of a patient that are looked up, and patients with one of them that are looked at. */
const [MOST_IDENTIFIERS, MOST_FOUND] = [20, 20];

/**
 * Finds the patient that a document is about: the one that it refers to, or the only one with one of the identifiers that it gives. To look
 * is the server's act, so that no scope is needed; what the token does not show is not known to it.
 *
 * @returns a reference to the patient
 * @throws FhirError `patient-unknown`
 */
export async function findDocumentPatient(subject: DocumentSubject, call: Call, services: Services): Promise<string> {
  const { reference, isEnclosed, identifiers, at } = subject;
  const view = storeView(services.store);
  const local = reference === undefined ? undefined : services.own.readLocal(reference);
  if (local?.type === PATIENT && (await findKnown(local, view, call, services)) !== undefined)
    return `${PATIENT}/${local.id}`;
  for (const identifier of identifiers.slice(0, MOST_IDENTIFIERS)) {
    const [system, value] = [textOf(identifier, 'system'), textOf(identifier, 'value')];
    if (value === undefined) continue;
    const where = { param: 'identifier', any: [{ is: 'token', system: system ?? null, code: value }] } as const;
    const known: string[] = [];
    for (const { id } of (await view.match(PATIENT, where, MOST_FOUND)).found)
      if ((await findKnown({ type: PATIENT, id }, view, call, services)) !== undefined) known.push(id);
    if (known.length > 1) throw unknown(`Several Patients have the identifier ${value}; it has to be one`, at);
    if (known.length === 1) return `${PATIENT}/${known[0]}`;
  }
  const isBelieved = reference !== undefined && isEnclosed !== true && isElsewhere(reference, services.own);
  if (isBelieved && services.own.read(reference)?.type === PATIENT) return reference;
  throw unknown('The document names no Patient that is known here, by reference or identifier', at);
}

function unknown(text: string, at: string): FhirError {
  return refusal('patient-unknown', 'XDSUnknownPatientId', text, at);
}
