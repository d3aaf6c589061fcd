const MHD = 'https://profiles.ihe.net/ITI/MHD';

/** Canonicals of the profiles. IHE Mobile access to Health Documents 5.1.0 (MHD), for R5. */
export const PROFILES = {
  simplifiedPublish: `${MHD}/StructureDefinition/IHE.MHD.SimplifiedPublish.DocumentReference`,
  minimalReference: `${MHD}/StructureDefinition/IHE.MHD.Minimal.DocumentReference`,
  minimalSubmissionSet: `${MHD}/StructureDefinition/IHE.MHD.Minimal.SubmissionSet`,
} as const;

/** Canonicals of the profiles of Bundles that provide documents, by how much metadata they ask for. */
export const PROVIDE_PROFILES = {
  minimal: `${MHD}/StructureDefinition/IHE.MHD.Minimal.ProvideBundle`,
  unContained: `${MHD}/StructureDefinition/IHE.MHD.UnContained.Comprehensive.ProvideBundle`,
  comprehensive: `${MHD}/StructureDefinition/IHE.MHD.Comprehensive.ProvideBundle`,
} as const;

/** URLs of the extensions. */
export const EXTENSIONS = {
  sourceId: `${MHD}/StructureDefinition/ihe-sourceId`,
  designationType: `${MHD}/StructureDefinition/ihe-designationType`,
  sourcePatient: 'http://hl7.org/fhir/StructureDefinition/documentreference-sourcepatient',
} as const;

/** Code system of the types of identifiers: uniqueId, entryUUID. */
export const IDENTIFIER_TYPES = `${MHD}/CodeSystem/IHE.MHD.MHDIdentifierType`;

/** Code system of the kinds of List: submissionset, folder. */
export const LIST_TYPES = `${MHD}/CodeSystem/MHDlistTypes`;

/** System of identifiers that are URIs. */
export const URI_SYSTEM = 'urn:ietf:rfc:3986';

/** Error codes of document sharing. IHE ITI TF-3, 4.2.4.1 */
export type SharingCode =
  | 'InvalidDocumentContent'
  | 'UnresolvedReferenceException'
  | 'XDSMissingDocument'
  | 'XDSPatientIdDoesNotMatch'
  | 'XDSRegistryDeprecatedDocumentError'
  | 'XDSRegistryMetadataError'
  | 'XDSRepositoryMetadataError'
  | 'XDSUnknownPatientId';
