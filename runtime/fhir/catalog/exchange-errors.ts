/**
 * The ways in which the publication of a document can fail, a part of the error catalogue. The keys are stable; an issue has the code of
 * IHE's document sharing beside ours.
 */
export const EXCHANGE_ERRORS = {
  'publication-invalid': { status: 422, issue: 'business-rule', text: 'The document cannot be published as it is' },
  'document-invalid': { status: 422, issue: 'invalid', text: 'The document is not what its media type says' },
  'patient-unknown': { status: 422, issue: 'not-found', text: 'The patient of the document is not known here' },
  'patient-required': { status: 400, issue: 'required', text: 'A search for clinical data has to name its patient' },
  'related-document-unknown': { status: 422, issue: 'not-found', text: 'A related document is not known here' },
} as const;
