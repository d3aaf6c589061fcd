import type { JsonValue } from '../fhir/resource.js';

/** Notes whom the resources are about that an answer is made of and does not show as they are. */
export interface ReadNotes {
  /** @param content parsed, or its JSON text */
  about(type: string, id: string | undefined, content: JsonValue | undefined): void;
  /** A value of the answer, which may be a reference. */
  value(text: string): void;
}
