/** The parameter of all that people read in a resource. https://hl7.org/fhir/R5/search.html#_content */
export const CONTENT = '_content';

/** The parameter of the narrative. https://hl7.org/fhir/R5/search.html#_text */
export const NARRATIVE = '_text';
