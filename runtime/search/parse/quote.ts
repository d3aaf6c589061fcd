import { FhirError } from '../../fhir/errors.js';

/** Quotes text of a client for a message: its first 64 characters as JSON. */
export function quote(text: string): string {
  return JSON.stringify(clip(text));
}

/** The first 64 characters. */
export function clip(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}

/** The error of a parameter that has a value that it cannot have. @param what continues `The parameter "x" …` */
export function invalid(name: string, what: string): FhirError {
  return new FhirError('parameter-invalid', `The parameter ${quote(name)} ${what}`);
}
