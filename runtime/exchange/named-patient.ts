import { FhirError } from '../fhir/errors.js';
import type { Actors } from '../core/actors.js';

/** Types of clinical data that a resource access provider gives of one patient at a time. HL7 Europe Health Data API, ResourceAccessProvider */
const CLINICAL: ReadonlySet<string> = new Set([
  'AllergyIntolerance',
  'Condition',
  'DiagnosticReport',
  'Encounter',
  'Immunization',
  'MedicationDispense',
  'MedicationRequest',
  'MedicationStatement',
  'Observation',
]);

const PATIENT = 'Patient';

/** A search: what it looks for, and where. */
interface PatientSearch {
  /** The types that it looks for. */
  readonly types: readonly string[];
  /** The compartment that it looks in; absent: in none. */
  readonly compartment: string | undefined;
  /** Its parameters, as they were sent. */
  readonly params: readonly { readonly name: string; readonly value: string }[];
}

/** Parameters that name a patient: not those that ask for others, or whether there is one. */
const NAMING = /^patient(?::Patient|:identifier)?(?:\.(?:_id|identifier))?$/;

/**
 * Checks that a search for clinical data names the patient: by `patient`, by the identifier of it, or by the compartment.
 *
 * @throws FhirError `patient-required`
 */
export function checkPatientNamed({ types, compartment, params }: PatientSearch, { needsPatient }: Actors): void {
  if (!needsPatient || compartment === PATIENT || params.some(({ name, value }) => value !== '' && NAMING.test(name)))
    return;
  const [first] = types.filter((type) => CLINICAL.has(type));
  if (first === undefined) return;
  const text = `A search for ${first} has to name its patient: patient=ID, or patient.identifier`;
  throw FhirError.of([{ code: 'patient-required', text, parameter: 'patient' }]);
}
