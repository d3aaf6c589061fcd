/** Something that validation found. https://hl7.org/fhir/R5/validation.html */
export interface ValidationIssue {
  readonly severity: 'error' | 'warning' | 'information';
  /** https://hl7.org/fhir/R5/valueset-issue-type.html */
  readonly issue: string;
  /** Key of the rule: `dom-3`, or what it is about: `binding`, `reference`, `cardinality`, `slicing`. */
  readonly key: string;
  readonly text: string;
  /** FHIRPath of the element, as in `Patient.contact[0]`. */
  readonly expression: string;
  /** Canonical URL of the profile; undefined: the base definition. */
  readonly profile?: string;
}
