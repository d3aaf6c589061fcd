import { withinReach } from '../../auth/scopes/reach.js';
import { checkConstraintIndexes, recordConstraints } from '../../core/access/constraint-index-status.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { storeView } from '../../core/store-view.js';
import type { FhirError } from '../../fhir/errors.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { TokenTest } from '../../search/query/query.js';
import { textOf } from '../elements.js';
import { findKnown, isElsewhere, knownReach } from '../known.js';
import { refusal } from '../refusal.js';
import type { DocumentSubject } from './document-header.js';

const PATIENT = 'Patient';

/** Identifiers of a patient that are looked up. */
const MOST_IDENTIFIERS = 20;

/**
 * Finds the patient that a document is about: the one that it refers to, and the only one with the identifiers that it gives; these have to
 * agree. To look is the server's act, so that no scope is needed; what the token does not show is not known to it.
 *
 * @returns a reference to the patient
 * @throws FhirError `patient-unknown`
 */
export async function findDocumentPatient(subject: DocumentSubject, call: Call, services: Services): Promise<string> {
  const { reference, isEnclosed, identifiers, at } = subject;
  if (subject.count > 1) throw unknown('The document is about several Patients; it has to be one', at);
  const view = storeView(services.store);
  const local = reference === undefined ? undefined : services.own.readLocal(reference);
  const found = new Set<string>();
  if (local?.type === PATIENT && (await findKnown(local, view, call, services)) !== undefined) found.add(local.id);
  for (const id of await findByIdentifiers(identifiers, call, services)) found.add(id);
  const [only, second] = found;
  if (second !== undefined) throw unknown('Several Patients are what the document says; it has to be one', at);
  if (only !== undefined) return `${PATIENT}/${only}`;
  const isBelieved = reference !== undefined && isEnclosed !== true && isElsewhere(reference, services.own);
  if (isBelieved && services.own.read(reference)?.type === PATIENT) return reference;
  throw unknown('The document names no Patient that is known here, by reference or identifier', at);
}

/** Ids of patients with one of some identifiers, two of them at most: of those that `findKnown` knows. */
async function findByIdentifiers(
  identifiers: readonly JsonObject[],
  call: Call,
  services: Services,
): Promise<readonly string[]> {
  const tests = identifiers.slice(0, MOST_IDENTIFIERS).flatMap((identifier): readonly TokenTest[] => {
    const [system, value] = [textOf(identifier, 'system'), textOf(identifier, 'value')];
    return value === undefined ? [] : [{ is: 'token', system: system ?? null, code: value }];
  });
  if (tests.length === 0) return [];
  const seen = recordConstraints(call.principal.access);
  const where = withinReach({ param: 'identifier', any: tests }, knownReach(seen, PATIENT));
  await checkConstraintIndexes(seen.constraints, services);
  const { found } = await storeView(services.store).match(PATIENT, where, 2);
  return found.map(({ id }) => id);
}

function unknown(text: string, at: string): FhirError {
  return refusal('patient-unknown', 'XDSUnknownPatientId', text, at);
}
