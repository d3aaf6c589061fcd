import type { JsonValue, Resource } from '../../fhir/resource.js';
import type { FormatName } from '../../format/negotiate.js';
import type { SentPatch } from '../../patch/sent-patch.js';

/** Bodies of more bytes than this are parsed by worker threads, so that they do not block the event loop. */
export const LARGE_BODY = 256 * 1024;

/**
 * Work of a worker on a body after parsing it. `create` and `put`: validates a resource to be stored (without its id, or with
 * it) and extracts its index entries; `execute`: validates the entries of a Bundle; `structure`: validates the structure;
 * `judge`: finds all that is wrong with the resource, or with the one in the parameter `resource`; `extract`: extracts index
 * entries of a stored resource; `parse`: nothing.
 */
export type BodyPurpose = 'create' | 'put' | 'execute' | 'structure' | 'judge' | 'extract' | 'parse';

/** Work of a worker on a stored text. */
export type StoredPurpose = Extract<BodyPurpose, 'judge' | 'extract' | 'parse'>;

/** How a text is to be written anew. */
export interface TextForm {
  readonly format: FormatName;
  readonly pretty: boolean;
}

/** A parsed body. */
export interface TakenIn {
  /** `parsedBodyOf` returns what the worker found. A resource with faults has only `resourceType`, `id` and `meta`. */
  readonly body: JsonValue;
  /** To be called when the request no longer needs the body: admits the next one. */
  release(): void;
}

/** Works on large stored JSON texts in worker threads. */
export interface LargeTexts {
  /**
   * Resolves when there is capacity for a text of `size` characters. To be called before patching it.
   *
   * @returns a function that releases the capacity
   * @throws FhirError `server-busy` if too much is queued already
   */
  enter(size: number, signal: AbortSignal): Promise<() => void>;
  /** Parses a text. `parsedBodyOf` returns what else the worker found. @throws FhirError as `LargeBodies.read` */
  parse(json: string, depth: number, purpose: StoredPurpose): Promise<JsonValue>;
  /**
   * Parses a resource that came within another one, like the body of a create. `parsedBodyOf` returns what the worker found.
   *
   * @param bytes are transferred to the worker: the caller must not use them any more
   * @throws FhirError as `LargeBodies.read`
   */
  take(bytes: Uint8Array, format: FormatName): Promise<JsonValue>;
  /** Writes a resource in another form. @throws FhirError as its codec */
  write(json: string, depth: number, form: TextForm): Promise<string>;
  /**
   * Patches a resource and validates the result. `parsedBodyOf` returns what the worker found.
   *
   * @throws FhirError as `patchResource`
   */
  patch(json: string, patch: SentPatch): Promise<Resource>;
}

/** Parses bodies in worker threads. */
export interface LargeBodies extends LargeTexts {
  /**
   * Parses a body with the same result as for a small one.
   *
   * @param bytes are transferred to the worker: the caller must not use them any more
   * @param signal aborts when the client no longer waits for the answer
   * @throws FhirError for faults of the body, `server-busy`, `body-unread`
   */
  read(
    bytes: Buffer,
    how: { readonly format: FormatName; readonly purpose: BodyPurpose },
    signal: AbortSignal,
  ): Promise<TakenIn>;
}
