import type { JsonObject } from '../fhir/resource.js';

const DCM = 'http://dicom.nema.org/resources/ontology/DCM';
const THO = 'http://terminology.hl7.org/CodeSystem';

function coding(system: string, code: string, display: string): JsonObject {
  return { system, code, display };
}

/** As CodeableConcept. */
export function concept(...codings: readonly JsonObject[]): JsonObject {
  return { coding: [...codings] };
}

/** Kinds of events. https://hl7.org/fhir/R5/auditevent-definitions.html#AuditEvent.category */
export const CATEGORIES = {
  rest: concept(coding(`${THO}/audit-event-type`, 'rest', 'Restful Operation')),
  authentication: concept(coding(DCM, '110114', 'User Authentication')),
  alert: concept(coding(DCM, '110113', 'Security Alert')),
} as const;

/** Code of requests that were refused before their interaction was known. */
export const UNKNOWN_CODE = concept(coding(DCM, '110126', 'Node Authentication'));

/** Get Access Token. https://profiles.ihe.net/ITI/IUA */
export const TOKEN_CODE = concept(coding('urn:ihe:event-type-code', 'ITI-71', 'Get Access Token'));

/** An interaction of the RESTful interface, searches as searches too. */
export function interactionCode(interaction: string): JsonObject {
  const system = 'http://hl7.org/fhir/restful-interaction';
  const own = coding(system, interaction, interaction);
  return interaction.startsWith('search-') ? concept(coding(system, 'search', 'search'), own) : concept(own);
}

/** Documents come in. */
export const IMPORT_CODE = concept(coding(DCM, '110107', 'Import'));

/** Data goes out. */
export const EXPORT_CODE = concept(coding(DCM, '110106', 'Export'));

/** A transaction of IHE. https://profiles.ihe.net/ITI */
export function transactionCode(transaction: string, name: string): JsonObject {
  return concept(coding('urn:ihe:event-type-code', transaction, name));
}

/** Parts that agents take. */
export const AGENTS = {
  application: concept(coding(DCM, '110150', 'Application')),
  destination: concept(coding(DCM, '110152', 'Destination Role ID')),
  source: concept(coding(DCM, '110153', 'Source Role ID')),
  custodian: concept(coding(`${THO}/provenance-participant-type`, 'custodian', 'Custodian')),
} as const;

/** Parts that entities take. */
export const ENTITIES = {
  patient: concept(coding(`${THO}/object-role`, '1', 'Patient')),
  resource: concept(coding(`${THO}/object-role`, '4', 'Domain Resource')),
  report: concept(coding(`${THO}/object-role`, '3', 'Report')),
  job: concept(coding(`${THO}/object-role`, '20', 'Job')),
  security: concept(coding(`${THO}/object-role`, '13', 'Security Resource')),
  query: concept(coding(`${THO}/object-role`, '24', 'Query')),
  request: concept(
    coding('https://profiles.ihe.net/ITI/BALP/CodeSystem/BasicAuditEntityType', 'XrequestId', 'X-Request-Id'),
  ),
} as const;

/** Type of the source that observed the event: an application server. */
export const SERVER_TYPE = concept(coding(`${THO}/security-source-type`, '4', 'Application Server'));

const OUTCOMES = {
  success: coding(`${THO}/audit-event-outcome`, '0', 'Success'),
  minor: coding(`${THO}/audit-event-outcome`, '4', 'Minor failure'),
  serious: coding(`${THO}/audit-event-outcome`, '8', 'Serious failure'),
} as const;

/** How it ended, by HTTP status, and why, if it failed. */
export function outcomeOf(status: number, detail: string | undefined): JsonObject {
  if (status < 400) return { code: OUTCOMES.success };
  const code = status < 500 ? OUTCOMES.minor : OUTCOMES.serious;
  return { code, ...(detail !== undefined && { detail: [{ text: detail }] }) };
}
