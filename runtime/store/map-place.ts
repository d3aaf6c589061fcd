import { FhirError } from '../fhir/errors.js';

/** Place of an entry of the small maps, in a scan of all of them. */
export interface MapPlace {
  readonly map: string;
  readonly key: string;
}

/** The place as short text. */
export function writeMapPlace({ map, key }: MapPlace): string {
  return JSON.stringify([map, key]);
}

/** Reads the text again. @throws FhirError for text that is none */
export function readMapPlace(text: string): MapPlace {
  try {
    const [map, key] = JSON.parse(text) as unknown[];
    if (typeof map === 'string' && typeof key === 'string') return { map, key };
  } catch {
    // The error is thrown below.
  }
  throw new FhirError('parameter-invalid', 'This is no place in the maps');
}
