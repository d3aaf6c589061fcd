import { ITSELF } from '../../search-execution/parse/scope.js';
import type { Services } from '../../core/services.js';
import { isObject, type Resource } from '../../fhir/resource.js';
import type { IndexEntry } from '../../indexing/entry.js';
import type { Condition } from '../../search/query/query.js';

const PATIENT = 'Patient';

/** The types that the patient compartment has, Patient included. https://hl7.org/fhir/R5/compartmentdefinition-patient.html */
export function patientTypes({ compartments }: Pick<Services['tables'], 'compartments'>): readonly string[] {
  const members = compartments.find(({ type }) => type === PATIENT)?.members ?? {};
  return [...new Set([PATIENT, ...Object.keys(members)])];
}

/** Codes of the parameters by which resources of a type belong to a patient. */
function codesOf(type: string, { compartments }: Pick<Services['tables'], 'compartments'>): readonly string[] {
  const codes = compartments.find((each) => each.type === PATIENT)?.members[type] ?? [];
  return type === PATIENT && !codes.includes(ITSELF) ? [ITSELF, ...codes] : codes;
}

/** The condition on resources of a type to be in the compartment of one of these patients. */
export function compartmentOf(
  type: string,
  patients: readonly string[],
  tables: Pick<Services['tables'], 'compartments'>,
): Condition {
  const some = codesOf(type, tables).map((code): Condition => {
    if (code === ITSELF) return { ids: patients };
    return { param: code, any: patients.map((id) => ({ is: 'reference', types: [PATIENT], id })) };
  });
  return some.length === 1 ? some[0]! : { some };
}

/** Elements that the parameters of the same name look at: if one of them names a patient, the index need not be asked. */
const PLAIN = ['subject', 'patient'] as const;

/** Whether a resource is in the compartment of some patient. */
export function isOfSomePatient(
  resource: Resource,
  { extract, tables }: Pick<Services, 'extract' | 'tables'>,
): boolean {
  const { resourceType } = resource;
  if (resourceType === PATIENT) return true;
  const codes = codesOf(resourceType, tables);
  for (const name of PLAIN) {
    const element = resource[name];
    if (!codes.includes(name) || !isObject(element)) continue;
    const { reference } = element;
    if (typeof reference === 'string' && reference.startsWith(`${PATIENT}/`)) return true;
  }
  return extract(resource, 'words').some((entry) => codes.includes(entry.param) && namesPatient(entry));
}

/** Returns the ids of the patients in whose compartments a resource is. */
export function patientsOf(
  resource: Resource,
  { extract, tables }: Pick<Services, 'extract' | 'tables'>,
): ReadonlySet<string> {
  const codes = codesOf(resource.resourceType, tables);
  const ids = extract(resource, 'words').flatMap((entry) =>
    codes.includes(entry.param) && entry.kind === 'reference' && namesPatient(entry) ? [entry.id ?? ''] : [],
  );
  return new Set(resource.resourceType === PATIENT ? [String(resource.id), ...ids] : ids);
}

function namesPatient(entry: IndexEntry): boolean {
  return entry.kind === 'reference' && entry.type === PATIENT && entry.base === undefined;
}
