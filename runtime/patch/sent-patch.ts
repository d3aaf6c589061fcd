import type { JsonValue, Resource } from '../fhir/resource.js';

/** A patch as a client sends it. https://hl7.org/fhir/R5/http.html#patch */
export type SentPatch =
  /** RFC 6902. */
  | { readonly format: 'json'; readonly patch: JsonValue }
  /** RFC 5261. */
  | { readonly format: 'xml'; readonly text: string }
  /** https://hl7.org/fhir/R5/fhirpatch.html */
  | { readonly format: 'fhirpath'; readonly parameters: Resource };
