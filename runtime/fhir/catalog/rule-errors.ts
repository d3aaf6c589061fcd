/**
 * The ways in which the content of a resource can break a rule while its structure is right, a part of the error catalogue.
 * The keys are stable. https://hl7.org/fhir/R5/validation.html
 */
export const RULE_ERRORS = {
  'invariant-broken': { status: 422, issue: 'invariant', text: 'A rule of the definitions is broken' },
  'code-not-in-value-set': { status: 422, issue: 'code-invalid', text: 'A code that its value set does not have' },
  'code-unknown': { status: 422, issue: 'code-invalid', text: 'A code that its code system does not have' },
  'display-wrong': { status: 422, issue: 'invalid', text: 'A display that is no name of the code' },
  'reference-invalid': { status: 422, issue: 'value', text: 'A reference to what its element cannot refer to' },
  'id-repeated': { status: 422, issue: 'invalid', text: 'Two elements of a resource have one id' },
  'url-invalid-in-content': { status: 422, issue: 'value', text: 'A URL that its scheme does not allow' },
  'bundle-inconsistent': { status: 422, issue: 'invalid', text: 'An entry and its fullUrl disagree' },
  'content-inconsistent': {
    status: 422,
    issue: 'value',
    text: 'Parts of the content contradict each other, or the definitions',
  },
  'rules-too-costly': { status: 422, issue: 'too-costly', text: 'The rules take too long to be checked' },
  'profile-broken': { status: 422, issue: 'invalid', text: 'A rule of a profile is broken' },
} as const;
